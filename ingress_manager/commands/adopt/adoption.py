"""`adopt`: a hand-written Ingress becomes ingress-manager's. The pure part.

The Service is annotated first, and only then becomes the Ingress's owner. In the other order, Metacontroller would see
an Ingress of a Service that asks for none, and delete it.

If an Ingress isn't that of one Service of its name, each Service gets an Ingress beside it. Only when all of them exist
as planned, and are served if a controller reports that, the old one is deleted, or keeps what leads to its namesake.
"""

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingress_manager.commands.adopt.obstacles import Obstacle, obstacles, why_not, why_not_replaced
from ingress_manager.commands.adopt.requested import Around, Part, requested_beside, requested_for
from ingress_manager.commands.plans.deployers import about_service, not_yet
from ingress_manager.commands.plans.plan import PAUSE, Condition, Plan, Step
from ingress_manager.commands.plans.steps import annotating, kubectl, patch, remains, touch
from ingress_manager.commands.snapshot.items import Item, Message, at
from ingress_manager.commands.snapshot.managed import is_made_for, patch_to_own
from ingress_manager.commands.snapshot.objects import as_spec, spec_for
from ingress_manager.core.annotations import HTTP, begin_of, is_entrance_name, read_entrances
from ingress_manager.core.settings import Settings

Need = tuple[str, ...]
"""A field of `limits`, as in the settings; what it would have to allow; and the value of an annotation."""


@dataclass(slots=True)
class Adoption(Plan):
    """The plan for one Ingress: its messages say why it can't be adopted."""

    parts: Sequence[Part] = ()
    """The requests of Services in its place; empty if it can't be adopted."""

    needs: Sequence[Need] = ()
    """The limits that would have to change, if nothing else prevents it."""

    @property
    def becomes(self) -> list[str]:
        """Return the Ingresses that it becomes: itself, if it stays."""
        return [part.full_name for part in self.parts]

    @property
    def replaces(self) -> bool:
        """Return whether other Ingresses replace it."""
        return not all(part.stays for part in self.parts)


def adoptions_of(
    items: Sequence[Item], ingresses: Iterable[Item], settings: Settings, accepted: Container[str] = ()
) -> Iterator[Adoption]:
    """Yield the plan for each of these Ingresses; `accepted` fields may change. Raises Unreadable."""
    around = Around(items, settings, accepted)
    for item in ingresses:
        plan = adoption_of(item, around)
        for part in plan.parts:
            around.add_planned(part)
        yield plan


def adoption_of(item: Item, around: Around) -> Adoption:
    """Return how an Ingress is adopted, by the Service of its name or by others, or why it can't be."""
    title = item.full_name
    # No Service's name has a dot.
    label, _, entrance = title.partition(".")
    service = around.services.get(label) if not entrance or is_entrance_name(entrance) else None
    if service and is_made_for(item, service):
        return Adoption(item, title, notes=["is already managed by ingress-manager"])
    spec = as_spec(item)
    names = [*dict.fromkeys(path.backend.service.name for _, path in spec.paths() if path.backend.service)]
    wrong: list[Obstacle] = [*obstacles(item, service, spec, around)]
    if not (names or wrong):
        wrong.append(("spec.rules: no path leads to a Service", ""))
    parts = list[Part]()
    for name in names:
        backend = around.services.get(f"{item.namespace}/{name}")
        if backend is None:
            wrong.append((f"leads to Service {name}, which doesn't exist: there is nothing to annotate", ""))
            continue
        is_namesake = service is not None and name == service.name
        its_spec = spec_for(spec, name) if names[1:] else spec
        part = Part(item, its_spec, backend, entrance if is_namesake else "", around.settings)
        parts.append(requested_for(part) if is_namesake else requested_beside(part, around))
        wrong += why_not(parts[-1], around)
    kept = next((part for part in parts if part.stays), None)
    others = [part for part in parts if part is not kept]
    wrong += why_not_replaced(item, spec) if others else ()
    if service and not kept and entrance in read_entrances(service.annotations):
        asks = f"Service {service.name} requests an Ingress of this name, which would be made once this one has gone"
        remedy = f"set {begin_of(entrance)}{HTTP} to false first"
        wrong.append((f"{asks}, and could take requests from others", remedy))
    wrong += () if wrong else not_yet(item, [(part.service, part.annotations) for part in parts])
    if wrong:
        return Adoption(item, title, messages=[Message(item, why, remedy=remedy) for why, remedy in wrong])
    plan = Adoption(item, title, [*adoption_steps(item, others, kept)], parts=parts)
    plan.services = [part.service.full_name for part in parts]
    plan.done = f"{title} is ingress-manager's: {', '.join(plan.becomes)}."
    plan.notes = [sentence for part in parts if part.annotations for sentence in about_service(part.service)]
    return plan


def adoption_steps(item: Item, others: Sequence[Part], kept: Part | None) -> Iterator[Step]:
    """Yield the steps by which `others` replace an Ingress but for `kept`; for objects from files, only annotations."""
    parts = [*others, *([kept] if kept else [])]
    if not (item.metadata.get("resourceVersion") and all(part.service.metadata.get("uid") for part in parts)):
        yield from (annotating(part.service, part.annotations) for part in parts if part.annotations)
        yield Step(notes=["The next steps need the Ingress and the Services as the cluster has them."])
        return
    addresses = at(item, "status", "loadBalancer", "ingress")
    planned = [exists_as_planned(part) for part in others]
    for part, condition in zip(others, planned, strict=True):
        until = [condition, *([is_served(part, addresses)] if addresses else [])]
        yield annotating(part.service, part.annotations, until, version=True) if part.annotations else Step(until=until)
    if others and not addresses:
        sentence = f"No controller has given {item.full_name} an address: nothing shows when the new ones are served."
        yield Step(pause=PAUSE, notes=[sentence])
    if not kept:
        yield Step(until=planned)
        yield deleting(item)
        return
    touched = touch(kept.service, item)
    yield annotating(kept.service, kept.annotations, touched.until, version=True) if kept.annotations else touched
    if others:
        yield Step(until=planned)
    back = ("ingress-manager", "release", item.full_name, "--apply")
    recorded = remains(item, kept.ingress["spec"], recorded=True)
    yield Step(patch(item, patch_to_adopt(item, kept)), None if others else back, [recorded])
    if not kept.annotations:
        yield Step(touched.undo or ())


def patch_to_adopt(item: Item, kept: Part) -> dict[str, Any]:
    """Return the merge patch that makes the Service the Ingress's owner, with the accepted changes."""
    change: dict[str, Any] = {"metadata": patch_to_own(item, kept.service)}
    for field in ("annotations", "labels") if kept.changes else ():
        change["metadata"][field] |= kept.ingress["metadata"].get(field, {})
    before, after = item.object["spec"], kept.ingress["spec"]
    # In a merge patch, null removes a field. Source: RFC 7386.
    if spec := {key: after.get(key) for key in before | after if before.get(key) != after.get(key)}:
        change["spec"] = spec
    return change


def deleting(item: Item) -> Step:
    """Return the step that deletes an Ingress, unless it was changed or recreated since it was read.

    Source: DeleteOptions of the Kubernetes API reference; `kubectl delete ingress` has no preconditions.
    """
    as_read = {key: item.metadata.get(key) for key in ("uid", "resourceVersion")}
    uri = f"/apis/networking.k8s.io/v1/namespaces/{item.namespace}/ingresses/{item.name}"
    only = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": as_read}
    return Step(("kubectl", "delete", f"--raw={uri}", "--filename=-"), None, stdin=json.dumps(only))


def exists_as_planned(part: Part) -> Condition:
    return Condition(
        f"Ingress {part.full_name} is as planned",
        kubectl("get", Item(part.ingress)),
        lambda item: (
            is_made_for(item, part.service)
            and item.object.get("spec") == part.ingress["spec"]
            and part.ingress["metadata"].get("annotations", {}).items() <= item.annotations.items()
        ),
        f"`ingress-manager status {part.service.full_name}` may say why",
    )


def is_served(part: Part, addresses: Any) -> Condition:
    return Condition(
        f"Ingress {part.full_name} has the addresses of the one that it replaces",
        kubectl("get", Item(part.ingress)),
        lambda item: bool(at(item, "status", "loadBalancer", "ingress") == addresses),
        "the old one stays. The new one isn't served yet, or has a load balancer of its own",
    )
