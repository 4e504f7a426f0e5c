"""`ingress-manager adopt`: the shell."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import click

from ingress_manager.commands.adopt.adoption import adopt as adoptions_of
from ingress_manager.commands.adopt.needed import Need, entries, needed
from ingress_manager.commands.adopt.planned import Adoption
from ingress_manager.commands.plans.carrying_out import How, perform, plan_options
from ingress_manager.commands.printing.console import note
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.printing.words import comment
from ingress_manager.commands.reading import kinds
from ingress_manager.commands.reading.kinds import INGRESS, INGRESSES
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.reading.names import RESOURCES, read_named
from ingress_manager.commands.reading.options import ALL_OBJECTS, SETTINGS, Source, with_source
from ingress_manager.commands.view.managed import is_managed
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import cut, listed

LONGEST_CELL = 120
"""Characters of a reason in the table."""

NEEDED = (
    "The settings that these Ingresses need: put each entry in the place of the one of its name. "
    "`ingress-manager audit --settings FILE` tells what else changes."
)


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
    how: How,
    everything: bool,
) -> None:
    """Show the steps that make hand-written Ingresses ingress-manager's, or carry them out.

    `adopt` finds the annotations with which Services ask for exactly the same. An Ingress stays if it has the name of
    its Service, and is served all the time. Any other is replaced: each Service gets an Ingress of its own, and then
    the old one is deleted. An Ingress that annotations can't describe is refused, and stays as it is;
    --accept-changes accepts a difference.

    With --all, a table of all Ingresses comes first, and the limits that they need come last.

    Exit status: 0 if all can be adopted, 1 if one can't, 2 for wrong use or if kubectl has failed.

    \b
    Examples:
      ingress-manager adopt team-a/shop
      ingress-manager adopt team-a/shop --apply
      ingress-manager adopt shop blog --namespace team-a --accept-changes spec.defaultBackend --apply
      ingress-manager adopt --all --all-namespaces
      kubectl get services,ingresses -A -o yaml > dump.yaml; ingress-manager adopt --all -f dump.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    check(source, names, everything=everything, apply=how.apply)
    if everything:
        manifests = source.read(RESOURCES, "--show-managed-fields")
        ingresses = [item for item in manifests.items if is_ingress(item) and not is_managed(item)]
    else:
        manifests, ingresses = read_named(source, INGRESSES, names)
    policy = source.policy()
    if not how.without_event:
        refuse_pause(policy, {item.namespace for item in ingresses}, apply=how.apply)
    manifests.extend(of_gateway_api(source, policy, {item.namespace for item in ingresses}))

    def plan(policy: Policy) -> list[Adoption]:
        return list(adoptions_of(manifests, ingresses, policy, accepted))

    adoptions = plan(policy)
    if any(adoption.replaces for adoption in adoptions):
        manifests.items += elsewhere(source, manifests)
        adoptions = plan(policy)
    for field in sorted({*accepted}.difference(*(adoption.changes for adoption in adoptions))):
        note(f"--accept-changes {field} has no effect: this field would stay as it is.")
    needs = needed(adoptions, policy, plan) if everything else []
    for line in table(adoptions, needs) if everything else ():
        click.echo(line)
    wrong = perform(source.kubectl, adoptions, how)
    if any(needs):
        click.echo(f"{comment(NEEDED)}\n{as_yaml({'namespaces': entries(policy, adoptions, needs)})}", nl=False)
    context.exit(1 if wrong else 0)


def is_ingress(item: Item) -> bool:
    return item.kind == INGRESSES


def check(source: Source, names: Sequence[str], *, everything: bool, apply: bool) -> None:
    if apply and source.files:
        raise click.UsageError("--apply works on the cluster, not on files")
    if bool(names) == everything:
        raise click.UsageError("name Ingresses, or say --all")
    if source.all_namespaces and not everything:
        raise click.UsageError("--all-namespaces is for --all")


def of_gateway_api(source: Source, policy: Policy, namespaces: Iterable[str]) -> Manifests:
    """Return the HTTPRoutes and ListenerSets of the namespaces, where Services may get such. Raises KubectlFailed."""
    found = Manifests()
    given = [] if source.files else [kinds.RESOURCES[kind] for kind in sorted(policy.versions) if kind != INGRESS]
    where = ["--all-namespaces"] if source.all_namespaces else [f"--namespace={each}" for each in sorted(namespaces)]
    for resource, option in product(given, where):
        found.extend(source.kubectl.get_if_known(resource, option) or Manifests())
    return found


def elsewhere(source: Source, manifests: Manifests) -> list[Item]:
    """Return the Ingresses of other namespaces: they may get the requests of one that is replaced."""
    if source.files or source.all_namespaces:
        return []
    try:
        found = source.kubectl.get(kinds.RESOURCES[INGRESS], "--all-namespaces")
    except KubectlFailed as failed:
        note(f"what Ingresses of other namespaces answer is not known: {failed.message}")
        return []
    known = {item.full_name for item in manifests.of_kind(INGRESSES)}
    return [item for item in found.items if item.full_name not in known]


def table(adoptions: Sequence[Adoption], needs: Sequence[Sequence[Need]]) -> Iterator[str]:
    """Yield a line for each Ingress that says what becomes of it, and below it what is in the way; all are comments."""
    width = max((len(adoption.item.full_name) for adoption in adoptions), default=0)
    for adoption, lacking in zip(adoptions, needs, strict=True):
        yield comment(f"{adoption.item.full_name:{width}}  {adoption.summary}")
        # The whole sentences, with what can be done, follow.
        why = lacking or (message.sentence.partition("; ")[0] for message in adoption.messages)
        yield from (comment(f"  {cut(str(each), LONGEST_CELL)}") for each in dict.fromkeys(why))
        yield from (comment(f"  {key}: isn't copied, so that one made anew would lack it") for key in adoption.left)
    can, could = sum(bool(adoption.becomes) for adoption in adoptions), sum(map(bool, needs))
    by_settings = f", and {could} more with the settings at the end" if could else ""
    yield comment(f"{can} of {len(adoptions)} Ingresses can be adopted{by_settings}.")


def refuse_pause(policy: Policy, namespaces: Iterable[str], *, apply: bool) -> None:
    """Say that no Event comes in a pause. Raises click.UsageError when it would be waited for now."""
    paused = [name for name in sorted(namespaces) if policy.paused_in(name)]
    if not paused:
        return
    sentence = f"the settings pause {listed(paused)}: end the pause first, or add --without-event"
    if apply:
        raise click.UsageError(sentence)
    note(sentence)
