"""The reasons why an Ingress can't be adopted, each with its remedy."""

from collections.abc import Iterator

from ingress_manager.commands.adopt.changes import CERT_MANAGER_KEYS
from ingress_manager.commands.adopt.requested import Inventory, Part
from ingress_manager.commands.plans.steps import unseen
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.managed import CONTROLLER, is_read_from_services_alone, owners
from ingress_manager.commands.snapshot.objects import IngressSpec, as_spec, certificates_of, claim_keys, class_of
from ingress_manager.core.annotations import PROFILE, key_prefix
from ingress_manager.core.decide import refusal_of
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, OLD_CLASS, is_read_from_services

DEFAULT_BACKEND = "spec.defaultBackend"
ANNOTATIONS = "metadata.annotations."

Obstacle = tuple[str, str]
"""A reason why an Ingress can't be adopted, and its remedy ("" if the reason implies the remedy)."""


def obstacles(item: Item, service: Item | None, spec: IngressSpec, inventory: Inventory) -> Iterator[Obstacle]:
    """Yield obstacles that concern the whole Ingress. `service` is the Service it is named after, if any."""
    if spec.default_backend and DEFAULT_BACKEND not in inventory.accepted:
        problem = f"{DEFAULT_BACKEND}: controllers disagree on which requests the default backend answers"
        yield problem, f"replace it with a rule without a host, or drop it with --accept-changes {DEFAULT_BACKEND}"
    yield from ((f"{obj} is being deleted", "") for obj in (item, service) if obj and obj.is_being_deleted)
    if (other := item.annotations.get(DECORATOR, CONTROLLER)) != CONTROLLER:
        problem = f"{ANNOTATIONS}{DECORATOR}: DecoratorController {other} manages this Ingress"
        yield problem, "make the controller release it, and then remove the annotation"
    if item.annotations.get(EDIT_IN_PLACE) == "true":
        problem = f"{ANNOTATIONS}{EDIT_IN_PLACE}: Metacontroller would remove cert-manager's challenge paths"
        yield f"{problem} and so block renewals", "remove the annotation first"
    for owner in owners(item):
        if service is None or owner.get("uid") != service.metadata.get("uid"):
            problem = f"metadata.ownerReferences: {owner.get('kind')} {owner.get('name')} owns this Ingress"
            yield f"{problem}, which only its Service may own", "remove this owner reference first"
    for _, path in spec.paths():
        if path.backend.service is None:
            yield f"spec.rules: the path {path.path} routes to a resource that isn't a Service", "remove the path first"


def part_obstacles(part: Part, inventory: Inventory) -> Iterator[Obstacle]:
    """Yield the reasons why the Ingress that a Service would request can't replace `part` of the old Ingress."""
    name, effective = part.service.name, part.effective
    certificates = [*map(str, certificates_of(part.spec))]
    if effective.httproute_gateway or not effective.makes_ingresses:
        remedy = "set outputs to [ingress] in the defaults or the profile, run adopt, and then restore outputs"
        yield f"outputs: adopt needs [ingress], but Service {name} gets [{', '.join(effective.outputs)}]", remedy
    elif len(certificates) > 1:
        problem = f"spec.tls: a managed Ingress has one certificate, but the hosts of Service {name} use "
        yield f"{problem}{' and '.join(certificates)}", "put one certificate for all these hosts into one Secret first"
    elif refused := refusal_of(part.decision):
        yield f"Service {name} would be refused: {refused.line()}", ""
    else:
        for wrong in unseen(part.service, part.annotations):
            yield f"Service {name}: {wrong.sentence}", wrong.remedy
        for change in part.changes:
            if not change.is_served_alike and change.field not in inventory.accepted:
                yield str(change), f"allow this with --accept-changes {change.field}"
        yield from recreation_obstacles(part, inventory)
        others = sorted({*inventory.referring.get(part.service.full_name, ())} - {part.item.full_name, part.full_name})
        for key in filter(is_read_from_services, part.annotations if others else ()):
            problem = f"{key} on Service {name} would also affect Ingress {listed(others)}"
            yield problem, f"add the annotation with a profile instead ({key_prefix(part.entrance)}{PROFILE})"
        if not part.stays:
            yield from competition_obstacles(part, inventory)


def recreation_obstacles(part: Part, inventory: Inventory) -> Iterator[Obstacle]:
    """Yield an obstacle for each annotation or label that a recreated Ingress would lack, unless that is accepted."""
    for field, protects in part.dropped.items():
        if field in inventory.accepted and not protects:
            continue
        problem = f"{field}: if Ingress {part.full_name} were recreated from its Service, it would lack this field"
        remedy = f"add the field with a profile ({key_prefix(part.entrance)}{PROFILE})"
        if is_read_from_services_alone(field.removeprefix(ANNOTATIONS)):
            problem = f"{field}: controllers read it only from Services, so it has no effect on an Ingress"
            remedy = f"remove it, move it to Service {part.service.name} if it should take effect there"
        elif field == f"{ANNOTATIONS}{OLD_CLASS}":  # invalid in a profile with a class
            remedy = "remove the annotation first"
        elif field.startswith(ANNOTATIONS) and not part.entrance:
            remedy += ", allow copying it (limits.copyAnnotations) to a Service's only entrance"
        loss = "ask an administrator to accept its loss (limits.acceptedLosses)"
        yield problem, f"{remedy}, or {loss if protects else f'accept the loss with --accept-changes {field}'}"


def competition_obstacles(part: Part, inventory: Inventory) -> Iterator[Obstacle]:
    item = part.item
    if not inventory.ingresses.get(part.full_name, True):
        problem = f"Service {part.service.name} would request Ingress {part.full_name}, which already exists"
        yield problem, "adopt that Ingress first"
    spec = as_spec(Item(part.ingress))
    own_class = class_of(item, spec)
    for key in dict.fromkeys(claim_keys(spec)):
        for other, its_class in inventory.claims.get(key, ()):
            # Of two Ingresses with the same path, the older one answers. A new one is the youngest.
            is_between = other.full_name not in {item.full_name, part.full_name} and item.age_key <= other.age_key
            if is_between and its_class in {"", own_class or its_class}:
                claim = f"Ingress {other.full_name} also has the path {key[0] or '*'}{key[1]}"
                consequence = f"would take the requests from Ingress {part.full_name}, which is newer"
                yield f"{claim}, and {consequence}", "remove the path from one of the two first"


def replacement_obstacles(item: Item, spec: IngressSpec) -> Iterator[Obstacle]:
    """Yield the reasons why new Ingresses can't replace an Ingress even if they have the same rules."""
    issuers = [key for key in item.annotations if key.startswith(CERT_MANAGER_KEYS)]
    secrets = [entry.secret_name for entry in spec.tls or () if entry.secret_name]
    if issuers and secrets:
        lost = f"the Certificate for Secret {', '.join(secrets)} could be deleted or lose hosts with this Ingress"
        remedy = "create a Certificate for that Secret yourself, remove the annotation, and run adopt again"
        yield f"metadata.annotations: {', '.join(issuers)}: {lost}", remedy
