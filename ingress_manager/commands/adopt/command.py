"""`ingress-manager adopt`: the command line."""

from collections.abc import Iterator, Sequence

import click

from ingress_manager.commands.adopt.adoption import Adoption, adoptions_of
from ingress_manager.commands.adopt.needed import entries, find_needs
from ingress_manager.commands.plans.plan import apply_option, perform
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.reading.kubectl import MANAGED_RESOURCES, KubectlFailed
from ingress_manager.commands.reading.options import ALL_OBJECTS, SETTINGS_OR_DEFAULTS, Source, read_named, with_source
from ingress_manager.commands.snapshot.items import INGRESS, of_kind
from ingress_manager.commands.snapshot.managed import is_managed
from ingress_manager.commands.terminal import note
from ingress_manager.commands.text import comment
from ingress_manager.core.settings import Settings
from ingress_manager.core.text import cut, quoted
from ingress_manager.core.vocabulary import holds_code

NEEDED = (
    "To allow the adoptions that only limits prevent, add these entries to the settings, replacing entries with the "
    "same names. `ingress-manager audit --settings FILE` shows what else would change."
)
ACCEPT = "Accept that this field of an Ingress changes. `adopt` names the fields that would change. Can be repeated."
CODE = "The values of {} are code that the ingress controller runs with its own permissions, so review them first."


@click.command(short_help="Bring hand-written Ingresses under management.")
@click.argument("names", metavar="[NAMESPACE/]INGRESS...", nargs=-1)
@click.option("--all", "whole", is_flag=True, help="Adopt all Ingresses in the namespace, the files or the cluster.")
@click.option("--accept-changes", "fields", metavar="FIELD", multiple=True, help=ACCEPT)
@apply_option
@with_source(*ALL_OBJECTS, SETTINGS_OR_DEFAULTS)
@click.pass_context
def adopt(  # noqa: PLR0913 - each is an option
    context: click.Context, source: Source, names: tuple[str, ...], fields: tuple[str, ...], *, apply: bool, whole: bool
) -> None:
    """Show the steps that bring hand-written Ingresses under management, or carry them out.

    `adopt` finds Service annotations that reproduce the Ingresses exactly. An Ingress named after one of its Services
    stays, and is served throughout. Any other Ingress is replaced: each of its Services gets a new Ingress, and then
    the old one is deleted. If annotations can't reproduce an Ingress, `adopt` doesn't change it, and prints the
    reasons. Use --accept-changes to accept that a field changes.

    If only limits in the settings prevent an adoption, `adopt` also prints settings that would allow it. With --all, it
    first prints a table of all Ingresses.

    Exit status: 0 if all Ingresses can be adopted; 1 if some can't, or if a file is invalid; 2 for a usage error, if a
    file can't be opened, or if kubectl fails.

    \b
    Examples:
      ingress-manager adopt team-a/shop
      ingress-manager adopt team-a/shop --apply
      ingress-manager adopt shop blog --namespace team-a --accept-changes spec.defaultBackend --apply
      ingress-manager adopt --all --all-namespaces
      kubectl get services,ingresses -A -o yaml > dump.yaml; ingress-manager adopt --all -f dump.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    if apply and source.files:
        raise click.UsageError("--apply can't be used with files")
    if bool(names) == whole:
        raise click.UsageError("either name Ingresses or use --all")
    if whole:
        items = source.read_with_managers()
        ingresses = [item for item in of_kind(items, INGRESS) if not is_managed(item)]
    else:
        items, named = read_named(source, INGRESS, names)
        ingresses = [*{ingress.full_name: ingress for ingress in named}.values()]
    settings = source.read_settings()

    def plan(settings: Settings) -> list[Adoption]:
        return list(adoptions_of(items, ingresses, settings, fields))

    adoptions = plan(settings)
    if any(adoption.replaces for adoption in adoptions) and not (source.files or source.all_namespaces):
        # Ingresses in other namespaces may compete with the new ones.
        known = {item.full_name for item in of_kind(items, INGRESS)}
        try:
            others = source.kubectl.get(MANAGED_RESOURCES[INGRESS], "--all-namespaces")
            items += [item for item in others if item.full_name not in known]
            adoptions = plan(settings)
        except KubectlFailed as failed:
            note(f"Ingresses in other namespaces could not be read, so conflicts may be missed: {failed.message}")
    find_needs(adoptions, settings, plan, fields)
    if whole:
        click.echo("\n".join(table(adoptions)))
    wrong = perform(source.kubectl, adoptions, apply=apply)
    if needed := entries(settings, adoptions):
        copied = {need[1] for adoption in adoptions for need in adoption.needs if need[0] == "copyAnnotations"}
        sentences = [NEEDED, *(CODE.format(key) for key in sorted(filter(holds_code, copied)))]
        click.echo("\n".join(map(comment, sentences)) + f"\n{as_yaml({'namespaces': needed})}", nl=False)
    context.exit(1 if wrong else 0)


def table(adoptions: Sequence[Adoption]) -> Iterator[str]:
    """Yield a table as comment lines: each Ingress with its outcome and the reasons against adoption, then a total."""
    width = max((len(adoption.item.full_name) for adoption in adoptions), default=0)
    for adoption in adoptions:
        outcome = f"becomes {', '.join(adoption.becomes)}" if adoption.replaces else "stays and is adopted"
        outcome = "can't be adopted" if adoption.messages else outcome
        yield comment(f"{adoption.item.full_name:{width}}  {outcome}")
        # `perform` prints the messages again, with their remedies.
        needs = [f"limits.{': '.join([limit, name, *map(quoted, value)])}" for limit, name, *value in adoption.needs]
        why = needs or [message.sentence for message in adoption.messages]
        yield from (comment(f"  {cut(reason, 120)}") for reason in dict.fromkeys(why))
    can = sum(bool(adoption.becomes) for adoption in adoptions)
    could = sum(bool(adoption.needs) for adoption in adoptions)
    by_settings = f", and {could} more with the settings printed at the end" if could else ""
    yield comment(f"{can} of {len(adoptions)} Ingresses can be adopted{by_settings}.")
