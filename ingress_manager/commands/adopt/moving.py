"""Moving: the steps that give an Ingress to its Service, or put others in its place.

Each Service gets an Ingress of its own beside the old one. Only when all of them stand as planned, and are served where
a controller says so, the old one goes, or keeps what leads to the Service of its name.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ingress_manager.commands.adopt.asked import Asked
from ingress_manager.commands.plans.plan import PAUSE, Seen, Step
from ingress_manager.commands.plans.steps import annotating, deleting, is_served, patch, remains, stands, touch
from ingress_manager.commands.reading.manifests import Item, at
from ingress_manager.commands.view.managed import patch_to_own
from ingress_manager.core.kubernetes import Object


def steps(item: Item, others: Sequence[Asked], own: Asked | None, after: Object) -> Iterator[Step]:
    """Yield the steps after which `others` take the place of an Ingress, or its part; `own` is what it stays for.

    Its spec is `after` then. Where no cluster has given the objects their uids, there are only annotations.
    """
    parts = [*others, *([own] if own else [])]
    if not (item.metadata.get("resourceVersion") and all(each.service.metadata.get("uid") for each in parts)):
        yield from (annotating(each.service, each.annotations) for each in parts if each.annotations)
        yield Step(notes=["The next steps need the Ingress and the Services as the cluster has them."])
        return
    addresses = at(item, "status", "loadBalancer", "ingress")
    standing = [stands(each.service, each.ingress) for each in others]
    for each, seen in zip(others, standing, strict=True):
        until: list[Seen] = [seen, *([is_served(item.namespace, each.name, addresses)] if addresses else [])]
        yield annotating(each.service, each.annotations, until, version=True) if each.annotations else Step(until=until)
    if others and not addresses:
        sentence = (
            f"No controller has given {item.full_name} an address, so nobody can see when the new ones are served."
        )
        yield Step(pause=PAUSE, notes=[sentence])
    touched = touch(own.service, item) if own else Step()
    if own:
        yield annotating(own.service, own.annotations, touched.until, version=True) if own.annotations else touched
    if others:
        yield Step(until=standing)
    if not own:
        yield deleting(item)
        return
    back = ("ingress-manager", "release", item.full_name, "--apply")
    yield Step(patch(item, given(item, own, after)), None if others else back, [remains(item, after, recorded=True)])
    if not own.annotations:
        yield Step(touched.undo or ())


def given(item: Item, own: Asked, after: Object) -> dict[str, Any]:
    """Return the merge patch that gives the Ingress to its Service, with the changes that are accepted."""
    change: dict[str, Any] = {"metadata": patch_to_own(item, own.service)}
    for field in ("annotations", "labels") if own.changes else ():
        change["metadata"][field] |= own.ingress["metadata"].get(field, {})
    before: Object = item.object["spec"]
    # In a merge patch, null takes a field away. Source: RFC 7386.
    if spec := {key: after.get(key) for key in before | after if before.get(key) != after.get(key)}:
        change["spec"] = spec
    return change
