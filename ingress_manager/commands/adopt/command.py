"""`ingress-manager adopt`: the shell."""

from collections.abc import Iterable, Iterator, Sequence

import click

from ingress_manager.commands.adopt.adoption import Adoption, lines
from ingress_manager.commands.adopt.adoption import adopt as adoptions_of
from ingress_manager.commands.plans.carrying_out import carry_out, plan_options, tell
from ingress_manager.commands.plans.plan import without_events
from ingress_manager.commands.printing.console import note, show
from ingress_manager.commands.printing.words import comment
from ingress_manager.commands.reading import kinds
from ingress_manager.commands.reading.kinds import INGRESSES
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.reading.names import RESOURCES, read_named
from ingress_manager.commands.reading.options import ALL_OBJECTS, SETTINGS, Source, with_source
from ingress_manager.commands.view.managed import is_managed
from ingress_manager.core.policy import HTTPROUTE, Policy
from ingress_manager.core.text import listed


@click.command(short_help="Make hand-written Ingresses ingress-manager's.")
@click.argument("names", metavar="[NAMESPACE/]INGRESS...", nargs=-1)
@click.option(
    "--all", "everything", is_flag=True, help="Adopt all Ingresses of the namespace, the files or the cluster."
)
@click.option(
    "--accept-changes",
    "accepted",
    metavar="FIELD",
    multiple=True,
    help="Accept that this field of the Ingress changes. The refusal names the field. Can be repeated.",
)
@plan_options
@with_source(*ALL_OBJECTS, *SETTINGS)
@click.pass_context
def adopt(  # noqa: PLR0913 - each is an option
    context: click.Context,
    source: Source,
    names: tuple[str, ...],
    accepted: tuple[str, ...],
    *,
    everything: bool,
    apply: bool,
    without_event: bool,
    seconds: int,
) -> None:
    """Show the steps that make hand-written Ingresses ingress-manager's, or carry them out.

    `adopt` finds the annotations with which Services ask for exactly the same. An Ingress stays if it has the name of
    its Service, and is served all the time. Any other is replaced: each Service gets an Ingress of its own, and then
    the old one is deleted. An Ingress that annotations can't describe is refused, and stays as it is;
    --accept-changes accepts a difference.

    With --all, a table of all Ingresses comes first.

    Exit status: 0 if all can be adopted, 1 if one can't, 2 for wrong use or if kubectl has failed.

    \b
    Examples:
      ingress-manager adopt team-a/shop
      ingress-manager adopt team-a/shop --apply
      ingress-manager adopt shop blog --namespace team-a --accept-changes spec.defaultBackend --apply
      ingress-manager adopt --all --all-namespaces
      kubectl get services,ingresses -A -o yaml > dump.yaml; ingress-manager adopt --all -f dump.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    check(source, names, everything=everything, apply=apply)
    if everything:
        manifests = source.read(RESOURCES, "--show-managed-fields")
        ingresses = [item for item in manifests.of_kind(INGRESSES) if not is_managed(item)]
    else:
        manifests, ingresses = read_named(source, INGRESSES, names)
    policy = source.policy(guess=False)
    if not without_event:
        refuse_pause(policy, {item.namespace for item in ingresses}, apply=apply)
    manifests.extend(httproutes(source, policy, {item.namespace for item in ingresses}))
    wrong = show(manifests.unreadable)
    adoptions = list(adoptions_of(manifests, ingresses, policy, accepted))
    if any(adoption.replaces for adoption in adoptions):
        manifests.items += elsewhere(source, manifests)
        adoptions = list(adoptions_of(manifests, ingresses, policy, accepted))
    for field in sorted({*accepted}.difference(*(adoption.changes for adoption in adoptions))):
        note(f"--accept-changes {field} has no effect: this field would stay as it is.")
    for line in table(adoptions) if everything else ():
        click.echo(line)
    for adoption in adoptions:
        wrong += tell(adoption)
        if without_event:
            adoption.steps = without_events(adoption.steps)
        if apply and adoption.steps:
            carry_out(source.kubectl, adoption.item.full_name, adoption.steps, seconds)
            click.echo(f"{adoption.item.full_name} is ingress-manager's: {', '.join(adoption.becomes)}.")
        else:
            for line in lines(adoption, source.kubectl.options):
                click.echo(line)
    context.exit(1 if wrong else 0)


def check(source: Source, names: Sequence[str], *, everything: bool, apply: bool) -> None:
    if apply and source.files:
        raise click.UsageError("--apply works on the cluster, not on files")
    if bool(names) == everything:
        raise click.UsageError("name Ingresses, or say --all")
    if source.all_namespaces and not everything:
        raise click.UsageError("--all-namespaces is for --all")


def httproutes(source: Source, policy: Policy, namespaces: Iterable[str]) -> Manifests:
    """Return the HTTPRoutes of the namespaces, where Services may be given some. Raises KubectlFailed."""
    found = Manifests()
    defaults = [policy.defaults, *(each.defaults for each in policy.namespaces.values() if each.defaults)]
    given = [*defaults, *policy.profiles.values()]
    if not source.files and any(HTTPROUTE in (each.outputs or ()) for each in given):
        where = [f"--namespace={each}" for each in sorted(namespaces)]
        for option in ["--all-namespaces"] if source.all_namespaces else where:
            found.extend(source.kubectl.get_if_known(kinds.RESOURCES[kinds.HTTPROUTE], option) or Manifests())
    return found


def elsewhere(source: Source, manifests: Manifests) -> list[Item]:
    """Return the Ingresses of other namespaces: they may get the requests of one that is replaced."""
    if source.files or source.all_namespaces:
        return []
    try:
        found = source.kubectl.get(kinds.RESOURCES[kinds.INGRESS], "--all-namespaces")
    except KubectlFailed as failed:
        note(f"what Ingresses of other namespaces answer is not known: {failed.message}")
        return []
    known = {item.full_name for item in manifests.of_kind(INGRESSES)}
    return [item for item in found.items if item.full_name not in known]


def table(adoptions: Sequence[Adoption]) -> Iterator[str]:
    """Yield a line for each Ingress that says what becomes of it; all of them are comments."""
    rows = [(adoption.item.full_name, adoption.summary) for adoption in adoptions]
    width = max((len(label) for label, _ in rows), default=0)
    yield from (comment(f"{label:{width}}  {summary}") for label, summary in rows)
    can = sum(bool(adoption.becomes) for adoption in adoptions)
    yield comment(f"{can} of {len(rows)} Ingresses can be adopted.")


def refuse_pause(policy: Policy, namespaces: Iterable[str], *, apply: bool) -> None:
    """Say that no Event comes in a pause. Raises click.UsageError when it would be waited for now."""
    paused = [name for name in sorted(namespaces) if policy.paused_in(name)]
    if not paused:
        return
    sentence = f"the settings pause {listed(paused)}: end the pause first, or add --without-event"
    if apply:
        raise click.UsageError(sentence)
    note(sentence)
