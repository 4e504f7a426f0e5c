"""The plans by which `adopt` brings hand-written Ingresses under management. Pure functions.

The Service is annotated before it becomes the Ingress's owner. In the other order, Metacontroller would see a managed
Ingress that its Service doesn't request, and delete the Ingress.

If an Ingress routes only to the Service it is named after, it isn't split. If it routes to other Services, each of
these gets a new Ingress. Once the new Ingresses exist as planned and have the old one's addresses, the old Ingress is
reduced to the paths for the Service it is named after. If there are no such paths, it is deleted.
"""

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingress_manager.commands.adopt.obstacles import Obstacle, obstacles, part_obstacles, replacement_obstacles
from ingress_manager.commands.adopt.requested import Inventory, Part, with_annotations, with_entrance
from ingress_manager.commands.plans.deployers import about_service, deployer_obstacles
from ingress_manager.commands.plans.plan import PAUSE, Condition, Plan, Step
from ingress_manager.commands.plans.steps import annotate, intact, kubectl, patch, touch
from ingress_manager.commands.snapshot.items import Item, Message, at
from ingress_manager.commands.snapshot.managed import is_made_for, patch_to_own
from ingress_manager.commands.snapshot.objects import as_spec, spec_for
from ingress_manager.core.annotations import HTTP, is_entrance_name, key_prefix, read_entrances
from ingress_manager.core.settings import Settings

Need = tuple[str, ...]
"""A limit and the value that it would have to allow, such as ("hosts", host) or ("copyAnnotations", key, value)."""


@dataclass(slots=True)
class Adoption(Plan):
    """The plan that adopts one Ingress, or an empty plan with `messages` saying why the Ingress can't be adopted."""

    parts: Sequence[Part] = ()  # one for each Service that the Ingress routes to
    needs: Sequence[Need] = ()  # the limits that would have to change, if nothing else prevents the adoption

    @property
    def becomes(self) -> list[str]:
        return [part.full_name for part in self.parts]

    @property
    def replaces(self) -> bool:
        return not all(part.stays for part in self.parts)


def adoptions_of(
    all_objects: Sequence[Item], ingresses: Iterable[Item], settings: Settings, accepted: Container[str] = ()
) -> Iterator[Adoption]:
    """Yield a plan for each Ingress. Fields in `accepted` may change. Raises Unreadable for an invalid object."""
    inventory = Inventory(all_objects, settings, accepted)
    for item in ingresses:
        plan = adoption_of(item, inventory)
        for part in plan.parts:
            inventory.add_planned(part)
        yield plan


def adoption_of(item: Item, inventory: Inventory) -> Adoption:
    """Return the plan that adopts an Ingress, or an empty plan with the reasons why the Ingress can't be adopted."""
    title = item.full_name
    # A Service's name can't contain a dot.
    label, _, entrance = title.partition(".")
    service = inventory.services.get(label) if not entrance or is_entrance_name(entrance) else None
    if service and is_made_for(item, service):
        return Adoption(item, title, notes=["already managed by ingress-manager"])
    spec = as_spec(item)
    names = [*dict.fromkeys(path.backend.service.name for _, path in spec.paths() if path.backend.service)]
    problems: list[Obstacle] = [*obstacles(item, service, spec, inventory)]
    if not (names or problems):
        problems.append(("spec.rules: must have a path that routes to a Service", ""))
    parts = list[Part]()
    for name in names:
        backend = inventory.services.get(f"{item.namespace}/{name}")
        if backend is None:
            problems.append((f"spec.rules: Service {name} doesn't exist", "create the Service, or remove its paths"))
            continue
        is_namesake = service is not None and name == service.name
        its_spec = spec_for(spec, name) if names[1:] else spec
        part = Part(item, its_spec, backend, entrance if is_namesake else "", inventory.settings)
        parts.append(with_annotations(part) if is_namesake else with_entrance(part, inventory))
        problems += part_obstacles(parts[-1], inventory)
    kept = next((part for part in parts if part.stays), None)
    others = [part for part in parts if part is not kept]
    problems += replacement_obstacles(item, spec) if others else ()
    if service and not kept and entrance in read_entrances(service.annotations):
        problem = f"once this Ingress is deleted, Service {service.name} would get a new one of the same name"
        remedy = f'set {key_prefix(entrance)}{HTTP} to "false" on that Service first'
        problems.append((f"{problem}, which could take traffic from other Ingresses", remedy))
    problems += () if problems else deployer_obstacles(item, [(part.service, part.annotations) for part in parts])
    if problems:
        return Adoption(item, title, messages=[Message(item, reason, remedy=remedy) for reason, remedy in problems])
    plan = Adoption(item, title, [*adoption_steps(item, others, kept)], parts=parts)
    plan.services = [part.service.full_name for part in parts]
    plan.done = f"{title} is adopted. ingress-manager manages {', '.join(plan.becomes)}."
    plan.notes = [sentence for part in parts if part.annotations for sentence in about_service(part.service)]
    return plan


def adoption_steps(item: Item, others: Sequence[Part], kept: Part | None) -> Iterator[Step]:
    """Yield steps that create Ingresses for `others`, then reduce `item` to `kept`, or delete it if `kept` is None."""
    parts = [*others, *([kept] if kept else [])]
    if not (item.metadata.get("resourceVersion") and all(part.service.metadata.get("uid") for part in parts)):
        yield from (annotate(part.service, part.annotations) for part in parts if part.annotations)
        yield Step(notes=["The remaining steps can only be planned for objects that were read from a cluster."])
        return
    addresses = at(item, "status", "loadBalancer", "ingress")
    planned = [exists_as_planned(part) for part in others]
    for part, condition in zip(others, planned, strict=True):
        until = [condition, *([is_served(part, addresses)] if addresses else [])]
        yield annotate(part.service, part.annotations, until, version=True) if part.annotations else Step(until=until)
    if others and not addresses:
        sentence = f"{item.full_name} has no address, so `adopt` can't tell when the new Ingresses are served."
        yield Step(pause=PAUSE, notes=[sentence])
    if not kept:
        yield Step(until=planned)
        yield delete_step(item)
        return
    touched = touch(kept.service, item)
    yield annotate(kept.service, kept.annotations, touched.until, version=True) if kept.annotations else touched
    if others:
        yield Step(until=planned)
    back = ("ingress-manager", "release", item.full_name, "--apply")
    recorded = intact(item, kept.ingress["spec"], recorded=True)
    yield Step(patch(item, patch_to_adopt(item, kept)), None if others else back, [recorded])
    if not kept.annotations:
        yield Step(touched.undo or ())


def patch_to_adopt(item: Item, kept: Part) -> dict[str, Any]:
    """Return the merge patch that makes the Service of `kept` the owner of `item` and applies the accepted changes."""
    change: dict[str, Any] = {"metadata": patch_to_own(item, kept.service)}
    for field in ("annotations", "labels") if kept.changes else ():
        change["metadata"][field] |= kept.ingress["metadata"].get(field, {})
    before, after = item.object["spec"], kept.ingress["spec"]
    # In a merge patch, null removes a field. Source: RFC 7386.
    if spec := {key: after.get(key) for key in before | after if before.get(key) != after.get(key)}:
        change["spec"] = spec
    return change


def delete_step(item: Item) -> Step:
    """Return the step that deletes an Ingress but fails if it was changed or recreated since it was read."""
    # `kubectl delete ingress` doesn't support preconditions. Source: DeleteOptions in the Kubernetes API reference.
    as_read = {key: item.metadata.get(key) for key in ("uid", "resourceVersion")}
    uri = f"/apis/networking.k8s.io/v1/namespaces/{item.namespace}/ingresses/{item.name}"
    only = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": as_read}
    return Step(("kubectl", "delete", f"--raw={uri}", "--filename=-"), None, stdin=json.dumps(only))


def exists_as_planned(part: Part) -> Condition:
    return Condition(
        f"Ingress {part.full_name} exists as planned",
        kubectl("get", Item(part.ingress)),
        lambda item: (
            is_made_for(item, part.service)
            and item.object.get("spec") == part.ingress["spec"]
            and part.ingress["metadata"].get("annotations", {}).items() <= item.annotations.items()
        ),
        f"`ingress-manager status {part.service.full_name}` may show the reason",
    )


def is_served(part: Part, addresses: Any) -> Condition:
    return Condition(
        f"Ingress {part.full_name} has the same addresses as Ingress {part.item.full_name}",
        kubectl("get", Item(part.ingress)),
        lambda item: bool(at(item, "status", "loadBalancer", "ingress") == addresses),
        "the old Ingress stays, because the new one isn't served yet or has a different load balancer",
    )
