"""`ingress-manager leaving`: the shell."""

import shutil
from collections.abc import Sequence

import click
import msgspec

from ingress_manager.commands.leaving.order import Estate
from ingress_manager.commands.leaving.report import FORMATS, Left, printed
from ingress_manager.commands.leaving.table import AtGateway, class_of, is_of_class_nginx, judge
from ingress_manager.commands.printing.console import note, painter, show, waiting
from ingress_manager.commands.printing.messages import counted
from ingress_manager.commands.reading.kinds import INGRESS, INGRESSES, RESOURCES
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.options import ALL_OBJECTS, Source, with_source
from ingress_manager.commands.view.typed import as_spec
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.text import listed

NOTHING_READ = 2

paint = painter(
    {
        AtGateway.OPEN: "red",
        AtGateway.REFUSED: "red",
        AtGateway.DIFFERS: "yellow",
        AtGateway.IGNORED: "green",
        AtGateway.ALIKE: "green",
        "head": "bold",
    }
)


@click.command(short_help="Tell what becomes of each Ingress without ingress-nginx.")
@click.argument("controller", type=click.Choice(["ingress-nginx"]), expose_value=False)
@with_source(*ALL_OBJECTS)
@click.option("-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="The format.")
@click.pass_context
def leaving(context: click.Context, source: Source, output: str) -> None:
    """Tell what becomes of each Ingress of the class nginx without ingress-nginx, whoever wrote it.

    A row says what the gateway with its component ingress-nginx does with the Ingress: "open" where it would answer a
    request that ingress-nginx keeps out, "refused" where it would not serve it; and how HTTPRoutes would say the same.
    Below the rows, it is said what differs, and what to do. Annotations stand without nginx.ingress.kubernetes.io/.

    Exit status: 0 if nothing is open or refused, 1 if something is or can't be read, 2 for wrong use, if kubectl has
    failed, or if there is no such Ingress.

    \b
    Examples:
      ingress-manager leaving ingress-nginx --all-namespaces
      helm template shop ./chart | ingress-manager leaving ingress-nginx -f -
      ingress-manager leaving ingress-nginx --all-namespaces -o json
    """  # noqa: D301 - \b keeps click from joining lines
    manifests = source.read(RESOURCES[INGRESS])
    wrong = 0
    found: list[tuple[Item, Object]] = []
    for item in manifests.of_kind(INGRESSES):
        spec = as_spec(item)
        if isinstance(spec, list):
            wrong += show(spec)
        else:
            metadata = {"namespace": item.namespace, "name": item.name, "annotations": item.annotations}
            found.append((item, {"metadata": metadata, "spec": msgspec.to_builtins(spec)}))
    estate = Estate([ingress for _, ingress in found])
    with waiting(f"judging {counted(len(found), 'Ingress')}"):
        left = [
            Left(item, judge(ingress, estate.near(ingress))) for item, ingress in found if is_of_class_nginx(ingress)
        ]
    if left or output == "json":
        for text in printed(left, output, shutil.get_terminal_size().columns, paint):
            click.echo(text, nl=False)
    elif not wrong:
        note("There is no Ingress of the class nginx in what was read.")
    say_what_is_not_told(source, [item.full_name for item, ingress in found if not class_of(ingress)])
    bad = any(each.gateway in {AtGateway.OPEN, AtGateway.REFUSED} for each in left)
    context.exit(1 if wrong or bad else 0 if left else NOTHING_READ)


def say_what_is_not_told(source: Source, without_class: Sequence[str]) -> None:
    if not (source.files or source.all_namespaces):
        note("What Ingresses of other namespaces answer for the same hosts isn't known: --all-namespaces reads them.")
    if without_class:
        note(
            "The gateway serves no Ingress without a class; ingress-nginx does with --watch-ingress-without-class. "
            f"Then give the class nginx to {listed(without_class)}."
        )
