"""Moving: the steps that give an Ingress to its Service, or put others in its place.

Each Service gets an Ingress of its own beside the old one. Only when all of them stand as planned, and are served where
a controller says so, the old one goes, or keeps what leads to the Service of its name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ingress_manager.commands.adopt.splitting import Part
from ingress_manager.commands.annotating.annotated import Annotated
from ingress_manager.commands.plans.plan import Pause, Seen, Step
from ingress_manager.commands.plans.steps import (
    annotating,
    deleting,
    is_recorded,
    is_served,
    is_unchanged,
    patch,
    stands,
    touch,
)
from ingress_manager.commands.reading.manifests import Item, at
from ingress_manager.commands.view.managed import patch_to_own
from ingress_manager.core.kubernetes import Object


def staying(  # noqa: PLR0913 - each has a say in it
    item: Item, service: Item, parts: Sequence[Part], asked: Annotated, after: Object, *, paused: bool
) -> Iterator[Step]:
    """Yield the steps. Where no cluster has given the objects their uids, there are only the first."""
    known = is_known(item, service, *(each.service for each in parts))
    if known:
        yield Step(until=[is_unchanged(item)])
    yield from beside(parts, item)
    touched = touch(service, item)
    if asked.annotations:
        yield annotating(service, asked.annotations, touched.until if known else (), version=True)
    elif known:
        yield touched
    if not known:
        return
    if parts:
        yield Step(until=still(parts))
    back = ("ingress-manager", "release", item.full_name, "--apply")
    # In a pause, Metacontroller writes its record afterwards.
    recorded = () if paused else (is_recorded(item, after),)
    yield Step(patch(item, given(item, service, asked, after)), back, recorded, takes_away=bool(parts))
    if not asked.annotations:
        yield Step(touched.undo)


def given(item: Item, service: Item, asked: Annotated, after: Object) -> dict[str, Any]:
    """Return the merge patch that gives the Ingress to its Service, with the changes that are accepted."""
    change: dict[str, Any] = {"metadata": patch_to_own(item, service)}
    if asked.changes and asked.ingress:
        for field in ("annotations", "labels"):
            change["metadata"][field] |= asked.ingress["metadata"].get(field, {})
    if spec := merge_patch(item.object["spec"], after):
        change["spec"] = spec
    return change


def merge_patch(before: Object, after: Object) -> Object:
    """Return the merge patch that makes one object of another. Source: RFC 7386."""
    patch: Object = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if value != old:
            patch[key] = merge_patch(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return patch


def beside(parts: Sequence[Part], item: Item) -> Iterator[Step]:
    """Yield the steps after which the new Ingresses stand beside the old one, and are served."""
    addresses = at(item, "status", "loadBalancer", "ingress")
    known = is_known(item, *(each.service for each in parts))
    for each in parts:
        until = [stood(each)] if known else []
        if addresses and known:
            until.append(is_served(item.namespace, each.asked.name, addresses))
        if each.asked.annotations:
            yield annotating(each.service, each.asked.annotations, until, version=True)
        else:
            yield Step(until=until)
    if parts and known and not addresses:
        yield Step(
            until=[Pause()],
            notes=[
                f"No controller has given {item.full_name} an address, so nobody can see when the new ones are served."
            ],
        )


def is_known(item: Item, *services: Item) -> bool:
    """Return whether these are objects of a cluster, which has given them their uids."""
    return bool(item.metadata.get("resourceVersion")) and all(each.metadata.get("uid") for each in (item, *services))


def still(parts: Sequence[Part]) -> list[Seen]:
    """Return what shows that the new Ingresses still stand."""
    return [replace(stood(each), at_once=True) for each in parts]


def stood(part: Part) -> Seen:
    """Return what shows that the new Ingress is there."""
    return stands(part.service, part.ingress)


def instead(parts: Sequence[Part], item: Item) -> Iterator[Step]:
    """Yield the steps that put the new Ingresses in the place of the old one; the first only, where it isn't known."""
    if not is_known(item, *(each.service for each in parts)):
        yield from beside(parts, item)
        return
    yield Step(until=[is_unchanged(item)])
    yield from beside(parts, item)
    yield Step(until=still(parts))
    yield deleting(item)
