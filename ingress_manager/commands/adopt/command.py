"""`ingress-manager adopt`: the shell."""

from collections.abc import Iterable, Iterator, Sequence

import click

from ingress_manager.commands.adopt.adoption import Adoption, differs, lines
from ingress_manager.commands.adopt.adoption import adopt as adoptions_of
from ingress_manager.commands.plans.carrying_out import carry_out, plan_options, tell
from ingress_manager.commands.plans.plan import without_events
from ingress_manager.commands.printing.console import note, show
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.kinds import INGRESSES
from ingress_manager.commands.reading.names import named, read_named
from ingress_manager.commands.reading.options import CLUSTER, FILES, ONE_NAMESPACE, SETTINGS, Source, with_source
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed

RESOURCES = "services,ingresses"


@click.command(short_help="Make hand-written Ingresses ingress-manager's, in place.")
@click.argument("names", metavar="[NAMESPACE/]INGRESS...", nargs=-1, required=True)
@click.option(
    "--accept-changes",
    "accepted",
    metavar="FIELD",
    multiple=True,
    help="A field of the Ingress that may change, as it is named where the Ingress is refused; may be repeated.",
)
@plan_options
@with_source(*FILES, *ONE_NAMESPACE, *CLUSTER, *SETTINGS)
@click.pass_context
def adopt(  # noqa: PLR0913 - each is an option
    context: click.Context,
    source: Source,
    names: tuple[str, ...],
    accepted: tuple[str, ...],
    *,
    apply: bool,
    without_event: bool,
) -> None:
    """Print the commands that make hand-written Ingresses ingress-manager's, or run them.

    It finds the annotations with which the Service of the same name asks for exactly what the Ingress says. The Ingress
    stays: it is served all the time. What annotations can't say is named, and nothing is done to that Ingress, unless
    --accept-changes allows it.

    Exit status: 0 when all can be adopted, 1 when one can't, 2 for wrong use or when kubectl has failed.

    \b
    Examples:
      ingress-manager adopt team-a/shop
      ingress-manager adopt team-a/shop --apply
      ingress-manager adopt shop blog --namespace team-a --accept-changes spec.defaultBackend --apply
      kubectl get services,ingresses -A -o yaml > dump.yaml; ingress-manager adopt team-a/shop -f dump.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    if apply and source.files:
        raise click.UsageError("--apply works on the cluster, not on files")
    manifests, ingresses = read_named(source, INGRESSES, names, RESOURCES)
    policy = source.policy(guess=not apply)
    if not without_event:
        refuse_pause(policy, {item.namespace for item in ingresses}, apply=apply)
    wrong = show(manifests.unreadable)
    adoptions = list(adoptions_of(manifests, ingresses, policy, accepted))
    for field in sorted({*accepted}.difference(*(adoption.changes for adoption in adoptions))):
        note(f"--accept-changes {field} has no effect: this field would stay as it is.")
    for adoption in adoptions:
        wrong += tell(adoption)
        if without_event:
            adoption.steps = without_events(adoption.steps)
        if not apply or adoption.advice:
            for line in lines(adoption, source.kubectl.options):
                click.echo(line)
        elif adoption.steps:
            carry_out(source.kubectl, adoption)
    if apply:
        wrong += show(check(source, [adoption for adoption in adoptions if adoption.steps]))
    context.exit(1 if wrong else 0)


def refuse_pause(policy: Policy, namespaces: Iterable[str], *, apply: bool) -> None:
    """Say that no Event comes in a pause. Raises click.UsageError when it would be waited for now."""
    paused = [name for name in sorted(namespaces) if policy.paused_in(name)]
    if not paused:
        return
    sentence = f"the settings pause {listed(paused)}: end the pause first, or add --without-event"
    if apply:
        raise click.UsageError(sentence)
    note(sentence)


def check(source: Source, adopted: Sequence[Adoption]) -> Iterator[Message]:
    """Look at the Ingresses again. Yield what is wrong with one; print the names of the others."""
    namespaces = {adoption.item.namespace for adoption in adopted}
    now = {name: source.kubectl.get("ingresses", f"--namespace={name}") for name in namespaces}
    for adoption in adopted:
        item = adoption.item
        if found := differs(adoption, named(now[item.namespace], INGRESSES, item.label, None)):
            yield found
        else:
            click.echo(f"{item.label} is ingress-manager's.")
