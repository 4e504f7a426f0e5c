"""`ingress-manager render`: print the objects that would be created for Services, without creating them."""

from collections.abc import Iterable

import click

from ingress_manager.commands.findings.traffic import denied_paths
from ingress_manager.commands.printing import as_yaml, show
from ingress_manager.commands.reading.options import ALL_OBJECTS, PATHS, SETTINGS_OR_DEFAULTS, Source, with_source
from ingress_manager.commands.snapshot.items import SERVICE, Item, Message, Unreadable, at, of_kind
from ingress_manager.commands.snapshot.objects import as_type
from ingress_manager.commands.terminal import note, waiting
from ingress_manager.core.annotations import without_effect
from ingress_manager.core.decide import Desired, decide, refusal_of
from ingress_manager.core.kubernetes import NOTHING_OBSERVED, Object, Service
from ingress_manager.core.settings import Settings


@click.command(short_help="Print the Ingresses that would be created for Services.")
@with_source(PATHS, *ALL_OBJECTS, SETTINGS_OR_DEFAULTS)
@click.option("--check", is_flag=True, help="Print only problems, for pre-commit and CI.")
@click.option("--allow-empty", is_flag=True, help="Exit with 0, not 2, if there is no Service.")
@click.pass_context
def render(context: click.Context, source: Source, *, check: bool, allow_empty: bool) -> None:
    """Print the Ingresses, HTTPRoutes and ListenerSets that would be created for Services.

    `render` ignores other kinds of objects. On standard error, it reports each refusal, and each annotation that has
    no effect because `ingress/http` is missing, as `file:line: namespace/name: message`.

    Exit status: 0 if there are no problems; 1 if a Service is refused, an annotation has no effect, or a file is
    invalid; 2 for a usage error, if a file can't be opened, if kubectl fails, or if there is no Service.

    \b
    Examples:
      ingress-manager render -f service.yaml
      kubectl kustomize overlays/production | ingress-manager render -f - --settings settings.yaml
      ingress-manager render --check manifests/*.yaml
      ingress-manager render --all-namespaces
    """  # noqa: D301 - \b keeps click from joining lines
    items = source.read("services")
    for item in of_kind(items, SERVICE, "JSON patch") if check else ():
        if not {"ports", "selector", "externalName"} & {*(at(item, "spec") or ())}:
            note(f"{item.file}:{item.line()}: not checked: an incomplete object, perhaps a Kustomize patch")
            items.remove(item)
    settings = source.read_settings()
    if settings.pauses:
        note(f"The settings pause {settings.pauses}: nothing changes there until `paused` is false.")
        settings = settings.without_pause()
    with waiting(f"evaluating {len(items)} objects"):
        objects, messages = rendered(items, settings)
    for obj in objects:
        for sentence in denied_paths(obj, {}):
            note(f"{obj['metadata']['namespace']}/{obj['metadata']['name']}: {sentence}")
    if not check:
        click.echo(as_yaml(*objects), nl=False)
    wrong = show(messages)
    is_empty = not wrong and not of_kind(items, SERVICE)
    if is_empty:
        note("There is no Service to render.")
    context.exit(1 if wrong else 2 if is_empty and not allow_empty else 0)


def rendered(items: Iterable[Item], settings: Settings) -> tuple[list[Object], list[Message]]:
    """Return the objects for Services, and messages about refusals, invalid Services, and annotations without effect.

    `settings` must not pause anything, because every paused Service would be refused.
    """
    objects, messages = list[Object](), list[Message]()
    for item in of_kind(items, SERVICE):
        try:
            service = as_type(item, Service)
        except Unreadable as unreadable:
            messages += unreadable.messages
            continue
        decision = decide(service, NOTHING_OBSERVED, settings)
        if isinstance(decision, Desired):
            objects += decision.objects.values()
        refused = refusal_of(decision)
        for problem in (*(refused.kept if refused else ()), *without_effect(item.annotations)):
            field = ("metadata", "annotations", problem.annotation) if problem.annotation else ()
            messages.append(Message(item, f"{problem.sentence} [{problem.reason}]", field=field))
        if refused and refused.more:
            messages.append(Message(item, f"and {refused.more} more"))
    return objects, messages
