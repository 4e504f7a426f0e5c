"""`ingress-manager render`: the shell."""

import click

from ingress_manager.commands.printing.console import note, show, waiting
from ingress_manager.commands.printing.objects import printed
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.options import Source, output_option, source_options
from ingress_manager.commands.render.rendering import render as rendered_of

NO_SERVICE = 2


@click.command(short_help="Print the Ingresses that Services become.")
@source_options
@output_option
@click.option("--check", is_flag=True, help="Print only what is wrong, for pre-commit and CI.")
@click.option("--allow-empty", is_flag=True, help="End with 0, not 2, if there is no Service.")
@click.pass_context
def render(context: click.Context, source: Source, output: str, *, check: bool, allow_empty: bool) -> None:
    """Print the Ingresses and HTTPRoutes that Services become.

    `render` skips objects of other kinds. It tells each refusal on standard error, as
    `file:line: namespace/name: sentence`, and what has no effect because `ingress/http` lacks, and prints the rest.

    Exit status: 0 if all is fine, 1 if something is refused, has no effect or can't be read, 2 for wrong use or without
    any Service.

    \b
    Examples:
      ingress-manager render -f service.yaml
      kubectl kustomize overlays/production | ingress-manager render -f - --settings settings.yaml
      ingress-manager render --check manifests/*.yaml
      ingress-manager render --all-namespaces --output name
    """  # noqa: D301 - \b keeps click from joining lines
    manifests = source.read("services")
    policy = source.policy()
    if policy.pauses:
        note(f"The settings pause {policy.pauses}: nothing changes there until `paused` is false.")
        policy = policy.without_pause()
    with waiting(f"deciding over {len(manifests.items)} objects"):
        rendered = rendered_of(manifests.items, policy)
    if not check:
        for text in printed(rendered.objects, output):
            click.echo(text, nl=False)
    wrong = show(rendered.messages)
    is_empty = not wrong and not any(manifests.of_kind(SERVICES))
    if is_empty:
        note("There is no Service in what was read.")
    context.exit(1 if wrong else NO_SERVICE if is_empty and not allow_empty else 0)
