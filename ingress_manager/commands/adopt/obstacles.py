"""Why an Ingress can't be adopted, with what to do about it."""

from collections.abc import Iterator

from ingress_manager.commands.adopt.changes import CERT_MANAGER_KEYS
from ingress_manager.commands.adopt.requested import Around, Part
from ingress_manager.commands.plans.steps import unseen
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.managed import CONTROLLER, is_read_from_services_alone, owners
from ingress_manager.commands.snapshot.objects import IngressSpec, as_spec, certificates_of, class_of, places_of
from ingress_manager.core.annotations import PROFILE, begin_of
from ingress_manager.core.decide import refusal_of
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, is_read_from_services

DEFAULT_BACKEND = "spec.defaultBackend"
ANNOTATIONS = "metadata.annotations."

Obstacle = tuple[str, str]
"""A sentence that says why an Ingress can't be adopted, and what to do; empty if the sentence says it."""


def obstacles(item: Item, service: Item | None, spec: IngressSpec, around: Around) -> Iterator[Obstacle]:
    """Yield why an Ingress can't be adopted, whatever Services ask for."""
    if spec.default_backend and DEFAULT_BACKEND not in around.accepted:
        problem = f"{DEFAULT_BACKEND}: controllers disagree on which requests it answers"
        accepting = f"--accept-changes {DEFAULT_BACKEND} drops it"
        yield problem, f"write it as a rule without a host, or remove it; {accepting}"
    yield from ((f"{obj} is being deleted", "") for obj in (item, service) if obj and obj.is_being_deleted)
    if (other := item.annotations.get(DECORATOR, CONTROLLER)) != CONTROLLER:
        yield f"belongs to another DecoratorController: {other}", ""
    if item.annotations.get(EDIT_IN_PLACE) == "true":
        problem = f"has the annotation {EDIT_IN_PLACE}: Metacontroller would remove cert-manager's challenges at once"
        yield problem, "remove it first, or certificates could not be renewed"
    for owner in owners(item):
        if service is None or owner.get("uid") != service.metadata.get("uid"):
            name = f"{owner.get('kind')} {owner.get('name')}"
            problem = f"belongs to {name} (metadata.ownerReferences): it could outlive its Service, or go before"
            yield problem, "remove the reference first"
    for _, path in spec.paths():
        if path.backend.service is None:
            yield f"spec.rules: the path {path.path} leads to a resource that isn't a Service", "remove it first"


def why_not(part: Part, around: Around) -> Iterator[Obstacle]:
    """Yield why an Ingress, or its part, can't be what a Service asks for."""
    name, effective = part.service.name, part.effective
    certificates = [*map(str, certificates_of(part.spec))]
    if effective.gateway_of_httproutes or not effective.makes_ingresses:
        remedy = "adopt with outputs [ingress] first (by a profile or defaults), and add httproute afterwards"
        yield f"with these settings, Service {name} would not get an Ingress alone", remedy
    elif len(certificates) > 1:
        needed = f"the hosts of Service {name} need {' and '.join(certificates)}"
        problem = f"spec.tls: {needed}, and a managed Ingress has one certificate"
        yield problem, "put one certificate for all these hosts into one Secret first"
    elif refused := refusal_of(part.decision):
        yield f"Service {name} would be refused: {refused.line()}", ""
    else:
        for wrong in unseen(part.service, part.annotations):
            yield f"Service {name}: {wrong.sentence}", wrong.remedy
        changes = (change for change in part.changes if not change.is_served_alike)
        others = (change for change in changes if change.field not in around.accepted)
        yield from ((str(change), f"--accept-changes {change.field} allows it") for change in others)
        yield from why_not_recreated(part, around)
        leading = sorted({*around.leading.get(part.service.full_name, ())} - {part.item.full_name, part.full_name})
        for key in filter(is_read_from_services, part.annotations if leading else ()):
            problem = f"{key}: on Service {name}, it would act on Ingress {listed(leading)}, too"
            yield problem, f"let a profile add it to this Ingress ({begin_of(part.entrance)}{PROFILE})"
        if not part.stays:
            yield from why_not_beside(part, around)


def why_not_recreated(part: Part, around: Around) -> Iterator[Obstacle]:
    """Yield why an Ingress can't be what its Service asks for if it is made again."""
    for field, protects in part.dropped.items():
        if field in around.accepted and not protects:
            continue
        problem = f"{field}: Ingress {part.full_name}, once recreated, would lack it"
        remedy = f"a profile can add it ({begin_of(part.entrance)}{PROFILE})"
        if is_read_from_services_alone(field.removeprefix(ANNOTATIONS)):
            problem = f"{field}: read from Services alone, it would begin to act on Service {part.service.name}"
            remedy = "put it on the Service if it is to act, else take it off the Ingress"
        elif field.startswith(ANNOTATIONS):
            remedy += ", or limits.copyAnnotations can have it copied from a Service with one entrance"
        does = "the administrator accepts the loss (limits.acceptedLosses)"
        yield problem, f"{remedy}; " + (f"or {does}" if protects else f"--accept-changes {field} does without")


def why_not_beside(part: Part, around: Around) -> Iterator[Obstacle]:
    item = part.item
    if not around.ingresses.get(part.full_name, True):
        yield f"Service {part.service.name} would request Ingress {part.full_name}, which exists", "adopt that first"
    spec = as_spec(Item(part.ingress))
    own_class = class_of(item, spec)
    for place in dict.fromkeys(places_of(spec)):
        for other, its_class in around.claims.get(place, ()):
            # The older of two with the same path answers. A new one is the youngest.
            is_between = other.full_name not in {item.full_name, part.full_name} and item.born <= other.born
            if is_between and its_class in {"", own_class or its_class}:
                has = f"Ingress {other.full_name} has {place[0] or '*'}{place[1]}, too"
                yield f"{has}, and would be older than {part.full_name}", "remove it from one of the two first"


def why_not_replaced(item: Item, spec: IngressSpec) -> Iterator[Obstacle]:
    """Yield why an Ingress can't be replaced, even by Ingresses with the same rules."""
    issuers = [key for key in item.annotations if key.startswith(CERT_MANAGER_KEYS)]
    secrets = [entry.secret_name for entry in spec.tls or () if entry.secret_name]
    if issuers and secrets:
        lost = f"the Certificate of Secret {', '.join(secrets)} belongs to this Ingress, and would go with it"
        remedy = "make a Certificate of your own for that Secret, remove the annotation, and run adopt again"
        yield f"metadata.annotations: {', '.join(issuers)}: {lost}", remedy
