"""`ingress-manager release`: stop managing a Service's objects, and leave them unchanged.

The objects are released before the annotations are removed from the Service. In the reverse order, Metacontroller would
delete the objects. The last step checks that they still exist.
"""

from collections.abc import Iterable
from dataclasses import replace

import click

from ingress_manager.commands.plans.deployers import about_service
from ingress_manager.commands.plans.plan import Plan, apply_option, perform
from ingress_manager.commands.plans.steps import MOVING, annotate, disown, intact, touch, unseen
from ingress_manager.commands.reading.kubectl import OF_GATEWAY_API
from ingress_manager.commands.reading.options import CLUSTER, ONE_NAMESPACE, SERVICES, Source, read_named, with_source
from ingress_manager.commands.snapshot.items import HTTPROUTE, INGRESS, LISTENERSET, SERVICE, Item, Message, of_kind
from ingress_manager.commands.snapshot.managed import copied_from, is_made_for
from ingress_manager.core.annotations import by_entrance, entrance_of, key_prefix, object_name, read_entrances

CHECK_AFTER = 5  # seconds before the plan checks that the objects exist: Metacontroller reacts within a second or so


@click.command(short_help="Stop managing Ingresses, and leave them as they are.")
@click.argument("names", metavar="[NAMESPACE/]SERVICE[.ENTRANCE]...", nargs=-1, required=True, shell_complete=SERVICES)
@click.option("--without-event", is_flag=True, help="Pause instead of waiting for an Event (see above).")
@apply_option
@with_source(ONE_NAMESPACE, *CLUSTER)
@click.pass_context
def release(
    context: click.Context, source: Source, names: tuple[str, ...], *, apply: bool, without_event: bool
) -> None:
    """Show or carry out the steps that stop managing the Ingresses of Services.

    The Ingresses, HTTPRoutes and ListenerSets stay unchanged, and are served throughout. The Service loses the
    ingress/… annotations and, once no entrance remains, those copied from it. SERVICE selects all entrances of a
    Service, SERVICE.ENTRANCE only one. Before annotations are removed, an Event on the Service must show that
    Metacontroller no longer manages the objects. A refused or paused Service gets no such Event: add --without-event.

    Exit status: 0 if all Services can be released, 1 if any can't, 2 for a usage error or if kubectl fails.

    \b
    Examples:
      ingress-manager release team-a/shop
      ingress-manager release shop blog --namespace team-a --apply
      ingress-manager release team-a/shop.internal
    """  # noqa: D301 - \b keeps click from joining lines
    # A Service's name can't contain a dot.
    wanted = [name.partition(".")[::2] for name in names]
    items, services = read_named(source, SERVICE, [service for service, _ in wanted])
    for namespace in sorted({item.namespace for item in services}):
        # An error ends the command: Metacontroller would delete HTTPRoutes that aren't released with their Service.
        for resource in OF_GATEWAY_API:
            items += source.kubectl.get_if_known(resource, f"--namespace={namespace}")
    plans = {
        (service.full_name, entrance): release_of(service, items, entrance or None, events=not without_event)
        for service, (_, entrance) in zip(services, wanted, strict=True)
    }
    context.exit(1 if perform(source.kubectl, [*plans.values()], apply=apply) else 0)


def release_of(service: Item, items: Iterable[Item], entrance: str | None = None, *, events: bool = True) -> Plan:
    entrances = [*by_entrance(service.annotations)] if entrance is None else [entrance]
    enabled = [name for name in entrances if name in read_entrances(service.annotations)]
    names = {f"{service.namespace}/{object_name(name, service.name)}" for name in enabled}
    kept, waited_for = list[Item](), list[Item]()
    for item in of_kind(items, INGRESS, HTTPROUTE, LISTENERSET):
        its_entrance = entrance_of(service.name, item.name)
        if is_made_for(item, service) and entrance in {None, its_entrance}:
            kept.append(item)
            waited_for += [item] if its_entrance in enabled else []
        elif item.full_name in names:
            # An interrupted run may have released this object, and Metacontroller may not have noticed yet.
            waited_for.append(item)
    removed = removals_from(service, entrances, kept)
    end = "is being deleted and can't be kept, because it exists only until its finalizers are removed"
    plan = Plan(service, service.full_name if entrance is None else f"{service.full_name}.{entrance}")
    plan.messages = [*unseen(service, removed), *(Message(one, f"{one} {end}") for one in kept if one.is_being_deleted)]
    if plan.messages:
        return plan

    ingresses = [item.full_name for item in kept if item.kind == INGRESS]
    back = ("ingress-manager", "adopt", *ingresses, "--apply") if ingresses else ()
    plan.steps = [replace(step, undo=back) for step in disown(kept)]
    if waited_for:
        # Once the objects are reported as missing, Metacontroller no longer manages them.
        plan.steps.append(touch(service, *waited_for, events=events))
    plan.notes = [] if kept or removed else ["ingress-manager manages no object of this Service"]
    if removed:
        last = annotate(service, removed, [intact(item, item.object.get("spec")) for item in kept])
        plan.steps.append(replace(last, pause=CHECK_AFTER if kept else 0))
        plan.notes = [*about_service(service, released=True)]
    unchanged = f" Unchanged: {', '.join(map(str, kept))}." if kept else ""
    plan.done = f"{plan.title} is released.{unchanged}"
    return plan


def removals_from(service: Item, entrances: Iterable[str], kept: Iterable[Item]) -> dict[str, str | None]:
    """Return changes that remove the annotations of `entrances` and, if no entrance remains, those copied to `kept`."""
    described = by_entrance(service.annotations)
    removed = dict.fromkeys(key_prefix(name) + key for name in entrances for key in described.get(name, ()))
    if removed and described.keys() <= {*entrances}:
        removed |= dict.fromkeys(copied_from(service, kept))
    return {**removed, MOVING: None} if removed else {}
