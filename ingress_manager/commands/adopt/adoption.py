"""`adopt`: a hand-written Ingress becomes ingress-manager's. The pure part.

The Service is annotated first, and only then is the Ingress given to it. The other way round, Metacontroller would see
an Ingress of a Service that asks for none, and delete it.

Where an Ingress isn't that of one Service of its name, each Service gets one of its own beside it. Only when all of
them stand as planned, and are served where a controller says so, it goes, or keeps what leads to its namesake.
"""

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingress_manager.commands.adopt.around import Around, asked_beside
from ingress_manager.commands.adopt.asked import Asked, asked_for
from ingress_manager.commands.adopt.obstacles import obstacles, why_not, why_not_replaced
from ingress_manager.commands.plans.deployers import about_service, not_yet
from ingress_manager.commands.plans.plan import PAUSE, Plan, Seen, Step
from ingress_manager.commands.plans.steps import annotating, kubectl, patch, remains, touch
from ingress_manager.commands.snapshot.items import Item, about, at
from ingress_manager.commands.snapshot.managed import is_made_for, patch_to_own
from ingress_manager.commands.snapshot.objects import as_spec, part
from ingress_manager.core.annotations import HTTP, begin_of, is_entrance_name, read_entrances
from ingress_manager.core.policy import Policy

Need = tuple[str, ...]
"""A field of `limits`, as the settings name it; what it would have to allow; and, of an annotation, its value."""


@dataclass(slots=True)
class Adoption(Plan):
    """What is to be done with one Ingress. With a message, nothing."""

    parts: Sequence[Asked] = ()
    """What Services ask for in its place; none when it can't be adopted."""

    needs: Sequence[Need] = ()
    """What the limits would have to allow, where nothing else keeps it out."""

    @property
    def becomes(self) -> list[str]:
        """Return the Ingresses that it becomes: itself, if it stays."""
        return [each.full_name for each in self.parts]

    @property
    def left(self) -> list[str]:
        """Return the annotations that it keeps, as fields, and that one made anew would lack."""
        lost = (field for each in self.parts if each.stays for field in each.lost)
        return [field for field in lost if not field.startswith("metadata.labels.")]

    @property
    def replaces(self) -> bool:
        """Return whether other Ingresses are to answer for it."""
        return not all(each.stays for each in self.parts)


def adopt(
    items: Sequence[Item], ingresses: Iterable[Item], policy: Policy, accepted: Container[str] = ()
) -> Iterator[Adoption]:
    """Yield what is to be done with each of these Ingresses, one after the other; `accepted` fields may change.

    Raises Unreadable.
    """
    around = Around(items, policy, accepted)
    for item in ingresses:
        plan = adoption_of(item, around)
        for each in plan.parts:
            around.made(each)
        yield plan


def adoption_of(item: Item, around: Around) -> Adoption:
    """Return how an Ingress is adopted, by the Service of its name or others in its place, or why it can't be."""
    title = item.full_name
    # No Service's name has a dot.
    label, _, entrance = title.partition(".")
    service = around.services.get(label) if not entrance or is_entrance_name(entrance) else None
    if service and is_made_for(item, service):
        return Adoption(item, title, notes=[f"{title}: is ingress-manager's already"])
    spec = as_spec(item)
    names = [*dict.fromkeys(path.backend.service.name for _, path in spec.paths() if path.backend.service)]
    wrong = [*obstacles(item, service, spec, around)]
    if not (names or wrong):
        wrong.append("spec.rules: no path leads to a Service")
    parts = list[Asked]()
    for name in names:
        led_to = around.services.get(f"{item.namespace}/{name}")
        if led_to is None:
            wrong.append(f"leads to Service {name}, which isn't there: nothing could be annotated")
            continue
        is_own = service is not None and name == service.name
        now = Asked(item, part(spec, name) if names[1:] else spec, led_to, entrance if is_own else "", around.policy)
        parts.append(asked_for(now) if is_own else asked_beside(now, around))
        wrong += why_not(parts[-1], around)
    own = next((each for each in parts if each.stays), None)
    others = [each for each in parts if each is not own]
    wrong += why_not_replaced(item, spec) if others else ()
    if service and not own and entrance in read_entrances(service.annotations):
        asks = f"Service {service.name} asks for an Ingress of this name, which would be made once this one has gone"
        wrong.append(f"{asks}, and could take requests from others: set {begin_of(entrance)}{HTTP} to false first")
    wrong += () if wrong else not_yet(item, [(each.service, each.annotations) for each in parts])
    if wrong:
        return Adoption(item, title, messages=[about(item, sentence) for sentence in wrong])
    plan = Adoption(item, title, [*steps(item, others, own)], parts=parts)
    plan.done = f"{title} is ingress-manager's: {', '.join(plan.becomes)}."
    notes = [sentence for each in parts if each.annotations for sentence in about_service(each.service)]
    if plan.left:
        what = f"stays as it is; if it is ever deleted, it comes back without {', '.join(plan.left)}"
        notes.insert(0, f"{what}, unless the settings have them copied from the Service (limits.copyAnnotations)")
    plan.notes = [f"{title}: {sentence}" for sentence in notes]
    return plan


def steps(item: Item, others: Sequence[Asked], own: Asked | None) -> Iterator[Step]:
    """Yield the steps after which `others` take the place of an Ingress, or its part; `own` is what it stays for.

    Where no cluster has given the objects their uids, there are only annotations.
    """
    parts = [*others, *([own] if own else [])]
    if not (item.metadata.get("resourceVersion") and all(each.service.metadata.get("uid") for each in parts)):
        yield from (annotating(each.service, each.annotations) for each in parts if each.annotations)
        yield Step(notes=["The next steps need the Ingress and the Services as the cluster has them."])
        return
    addresses = at(item, "status", "loadBalancer", "ingress")
    standing = [stands(each) for each in others]
    for each, seen in zip(others, standing, strict=True):
        until = [seen, *([is_served(each, addresses)] if addresses else [])]
        yield annotating(each.service, each.annotations, until, version=True) if each.annotations else Step(until=until)
    if others and not addresses:
        sentence = (
            f"No controller has given {item.full_name} an address, so nobody can see when the new ones are served."
        )
        yield Step(pause=PAUSE, notes=[sentence])
    if not own:
        yield Step(until=standing)
        yield deleting(item)
        return
    touched = touch(own.service, item)
    yield annotating(own.service, own.annotations, touched.until, version=True) if own.annotations else touched
    if others:
        yield Step(until=standing)
    back = ("ingress-manager", "release", item.full_name, "--apply")
    known = remains(item, own.ingress["spec"], recorded=True)
    yield Step(patch(item, given(item, own)), None if others else back, [known])
    if not own.annotations:
        yield Step(touched.undo or ())


def given(item: Item, own: Asked) -> dict[str, Any]:
    """Return the merge patch that gives the Ingress to its Service, with the changes that are accepted."""
    change: dict[str, Any] = {"metadata": patch_to_own(item, own.service)}
    for field in ("annotations", "labels") if own.changes else ():
        change["metadata"][field] |= own.ingress["metadata"].get(field, {})
    before, after = item.object["spec"], own.ingress["spec"]
    # In a merge patch, null takes a field away. Source: RFC 7386.
    if spec := {key: after.get(key) for key in before | after if before.get(key) != after.get(key)}:
        change["spec"] = spec
    return change


def deleting(item: Item) -> Step:
    """Return the step that deletes an Ingress, unless it has been changed, or made again, since it was read.

    Source: DeleteOptions of the Kubernetes API reference; `kubectl delete ingress` has no preconditions.
    """
    as_read = {key: item.metadata.get(key) for key in ("uid", "resourceVersion")}
    uri = f"/apis/networking.k8s.io/v1/namespaces/{item.namespace}/ingresses/{item.name}"
    only = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": as_read}
    return Step(("kubectl", "delete", f"--raw={uri}", "--filename=-"), None, stdin=json.dumps(only))


def stands(asked: Asked) -> Seen:
    """Return what shows that Metacontroller has made the Ingress that a Service asks for, as planned."""
    annotations = asked.ingress["metadata"].get("annotations", {})
    return Seen(
        f"Ingress {asked.full_name} stands as planned",
        kubectl("get", Item(asked.ingress)),
        lambda item: (
            is_made_for(item, asked.service)
            and item.object.get("spec") == asked.ingress["spec"]
            and annotations.items() <= item.annotations.items()
        ),
        f"`ingress-manager status {asked.service.full_name}` may say why",
    )


def is_served(asked: Asked, addresses: Any) -> Seen:
    """Return what shows that a controller has given the Ingress these addresses, those of its status."""
    return Seen(
        f"Ingress {asked.full_name} has the addresses of the one that it replaces",
        kubectl("get", Item(asked.ingress)),
        lambda item: bool(at(item, "status", "loadBalancer", "ingress") == addresses),
        "that one stays. It is not served yet, or has a load balancer of its own",
    )
