"""`adopt`: a hand-written Ingress becomes ingress-manager's, in place. The pure part.

The Service is annotated first, and only then is the Ingress given to it. The other way round, Metacontroller would see
an Ingress of a Service that asks for none, and delete it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import msgspec

from ingress_manager.commands.adopt.around import Around
from ingress_manager.commands.adopt.default_backend import DEFAULT_BACKEND, roots, why_not_rooted, with_rules
from ingress_manager.commands.adopt.moving import instead, staying
from ingress_manager.commands.adopt.planned import Adoption
from ingress_manager.commands.adopt.routes import why_not_routed
from ingress_manager.commands.adopt.splitting import Part, part, split, two_secrets
from ingress_manager.commands.annotating.annotated import Annotated, annotated_for, left_behind, unprotected
from ingress_manager.commands.annotating.changes import TLS
from ingress_manager.commands.plans.deployers import about_ingress, about_service
from ingress_manager.commands.plans.steps import unseen
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.kinds import INGRESSES
from ingress_manager.commands.reading.manifests import Item, Manifests, about, about_refusal
from ingress_manager.commands.view.ingresses import services_of
from ingress_manager.commands.view.managed import CONTROLLER, is_made_for, owners
from ingress_manager.commands.view.typed import as_service, as_spec
from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.entrances import begin_of, is_entrance_name
from ingress_manager.core.kubernetes import DECORATOR, IngressSpec, Service
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE


def adopt(
    manifests: Manifests, ingresses: Iterable[Item], policy: Policy, accepted: Container[str] = ()
) -> Iterator[Adoption]:
    """Yield what is to be done with each of these Ingresses, one after the other; `accepted` fields may change."""
    around = Around.of(manifests, policy, accepted)
    for item in ingresses:
        plan = Adoption(item)
        service, entrance = service_of(item, around.services)
        if service and is_made_for(item, service):
            plan.tell(["is ingress-manager's already"])
        else:
            plan_adoption(plan, service, entrance, around)
        if plan.messages:
            plan.notes = ()
        yield plan


def service_of(item: Item, services: Mapping[str, Item]) -> tuple[Item | None, str]:
    """Return the Service, one of whose Ingresses has the name of `item`, and the entrance that it is of."""
    if found := services.get(item.full_name):
        return found, ""
    label, _, entrance = item.full_name.partition(".")
    return (services.get(label), entrance) if is_entrance_name(entrance) else (None, "")


def plan_adoption(plan: Adoption, service: Item | None, entrance: str, around: Around) -> None:
    """Plan how an Ingress is adopted, by the Service of its name or others in its place, or say why it can't be."""
    item = plan.item
    plan.refuse(obstacles(item, service))
    if plan.messages:
        return
    spec = as_spec(item)
    if isinstance(spec, list):
        plan.messages = spec
        return
    profile = service.annotations.get(f"{begin_of(entrance)}{PROFILE}") if service else None
    here = in_namespace(around.policy, item.namespace, profile)
    plan.refuse([*nothing_made(here), *elsewhere(spec)][:1])
    if plan.messages:
        return
    if service and service.name not in services_of(spec):
        service = None
    home = service.name if service else ""
    spec, parts = divided(plan, spec, home, around)
    if plan.messages:
        return
    if service:
        plan_to_stay(plan, service, entrance, part(spec, home) if parts else spec, parts, here, around)
    else:
        plan_to_go(plan, parts)
    for each in parts if plan.becomes else ():
        around.made(each.service, each.asked.annotations, each.ingress)


def divided(plan: Adoption, spec: IngressSpec, home: str, around: Around) -> tuple[IngressSpec, list[Part]]:
    """Return what an Ingress says by rules alone, and the parts of it that other Services than `home` get."""
    item, names = plan.item, services_of(spec)
    # A default backend of another Service can be given up.
    rest = services_of(msgspec.structs.replace(spec, default_backend=None))
    given_up = bool(home) and [*names] != [home] and rest in ([home], [])
    if given_up and DEFAULT_BACKEND in around.accepted:
        return spec, []
    ruled, parts = with_rules(spec, around.rooted(item, spec)), list[Part]()
    if {*names} != {home}:
        ways = split(item, ruled, home, around)
        parts = ways.parts
        plan.refuse(ways.reasons)
        plan.changes += ways.changes
    plan.refuse(why_not_rooted(item, spec, home, around, "does without" if given_up else "allows"))
    if ruled != spec:
        plan.changes += [DEFAULT_BACKEND, *(["spec.rules"] if ruled.rules != spec.rules else [])]
        plan.tell([f"{DEFAULT_BACKEND} becomes {roots(spec, around.rooted(item, spec))}"])
    return ruled, parts


def obstacles(item: Item, service: Item | None) -> Iterator[str]:
    """Yield why an Ingress can't be adopted, whatever is in its spec."""
    if item.kind != INGRESSES:
        version = item.kind.rpartition("/")[0]
        yield f"is written as {version}, which Kubernetes no longer knows: write it as networking.k8s.io/v1"
    if item.metadata.get("deletionTimestamp"):
        yield "is being deleted"
    if service and service.metadata.get("deletionTimestamp"):
        yield f"its Service {service.full_name} is being deleted"
    if (other := item.annotations.get(DECORATOR, CONTROLLER)) != CONTROLLER:
        yield f"belongs to another DecoratorController of Metacontroller's: {other}"
    if item.annotations.get(EDIT_IN_PLACE) == "true":
        yield (
            f"has the annotation {EDIT_IN_PLACE}: cert-manager would write its challenge into it, Metacontroller would "
            "take that out at once, and no certificate would be renewed; take it off first"
        )
    for owner in owners(item):
        if service is None or owner.get("uid") != service.metadata.get("uid"):
            yield (
                f"belongs to {owner.get('kind')} {owner.get('name')}, by metadata.ownerReferences: it would outlive "
                "its Service, or go before; take the reference off first"
            )


def nothing_made(here: NamespacePolicy) -> Iterator[str]:
    """Yield why no Service of this namespace, or with this profile, is given an Ingress."""
    if not here.makes_ingresses:
        whose = f"of the profile {here.profile}" if here.profile else "of this namespace"
        yield f"the settings give the Services {whose} no Ingress: see outputs"


def elsewhere(spec: IngressSpec) -> Iterator[str]:
    """Yield why an Ingress leads to something that can't be annotated."""
    for _, path in spec.paths():
        if path.backend.service is None:
            yield f"spec.rules: the path {path.path} leads to another resource than a Service"
    if not services_of(spec):
        yield "spec: no path and no default backend leads to a Service"


def plan_to_stay(  # noqa: PLR0913, PLR0917 - each has a say in it
    plan: Adoption,
    service: Item,
    entrance: str,
    spec: IngressSpec,
    parts: Sequence[Part],
    here: NamespacePolicy,
    around: Around,
) -> None:
    """Plan how an Ingress becomes that of the Service of its name, and keeps `spec`, while others get the parts."""
    item, typed = plan.item, as_service(service)
    if isinstance(typed, list):
        plan.messages = typed
        return
    asked = annotated_for(item, spec, typed, around.policy.without_pause(), entrance)
    plan.messages = next(filter(None, why_not_to_stay(plan, service, typed, spec, asked, here, around)), ())
    plan.changes += [change.field for change in asked.changes]
    pairs = [(service, asked), *((each.service, each.asked) for each in parts)]
    if not plan.messages:
        plan.wait_for_sources(pairs)
    if plan.messages:
        return
    plan.spec = asked.ingress["spec"] if asked.ingress and (parts or plan.changes) else item.object["spec"]
    steps = staying(item, service, parts, asked, plan.spec, paused=around.policy.paused_in(item.namespace))
    plan.becoming(steps, [item.full_name, *(each.full_name for each in parts)], [asked for _, asked in pairs])
    plan.left = left_behind(item.annotations, asked)
    tell_what_follows(plan, pairs)
    around.annotated(service, asked.annotations)
    around.in_the_way.discard(item.full_name)


def why_not_to_stay(  # noqa: PLR0913, PLR0917 - each has a say in it
    plan: Adoption,
    service: Item,
    typed: Service,
    spec: IngressSpec,
    asked: Annotated,
    here: NamespacePolicy,
    around: Around,
) -> Iterator[Sequence[Message]]:
    """Yield why an Ingress can't be its Service's, in groups: where one has something, those behind it don't matter."""

    def about_it(sentences: Iterable[str]) -> list[Message]:
        return [about(plan.item, sentence) for sentence in sentences]

    yield about_it(two_secrets(service.name, spec))
    yield list(about_refusal(plan.item, asked.refused)) if asked.refused else []
    yield about_it(
        f"{change.field}: {change.sentence}; --accept-changes {change.field} allows it"
        for change in asked.changes
        if not change.is_served_alike and change.field not in around.accepted
    )
    yield about_it(open_without(key) for key in unprotected(plan.item, asked, typed, here))
    yield about_it(why_not_routed(service, asked.objects, around))
    yield list(unseen(service, asked.annotations))


def open_without(key: str) -> str:
    """Return why an Ingress with an annotation that protects it can't be adopted."""
    return (
        f"its annotation {key} protects it, and one made anew would lack it: its Service has several entrances, and "
        "would give it to each; state it on the Service, if each may have it, or the administrator accepts the loss "
        "(limits.acceptedLosses)"
    )


def plan_to_go(plan: Adoption, parts: Sequence[Part]) -> None:
    """Plan how an Ingress goes, once others have taken its place."""
    pairs = [(each.service, each.asked) for each in parts]
    plan.wait_for_sources(pairs)
    if not plan.messages:
        plan.becoming(instead(parts, plan.item), [each.full_name for each in parts], [asked for _, asked in pairs])
        tell_what_follows(plan, pairs)


def tell_what_follows(plan: Adoption, pairs: Sequence[tuple[Item, Annotated]]) -> None:
    """Add what is worth knowing of a plan by which Services ask for what their Ingresses say."""
    item = plan.item
    plan.tell(
        f"{change.field}: {change.sentence}"
        for _, asked in pairs
        for change in asked.changes
        if change.field == TLS and change.is_served_alike
    )
    label = item.labels.get(MANAGED_BY_LABEL, MANAGED_BY)
    if plan.spec is not None and label != MANAGED_BY:
        plan.tell([f"its label {MANAGED_BY_LABEL}: {quoted(label)} becomes {quoted(MANAGED_BY)}"])
    if plan.left:
        lost = f"stays as it is, but if it is ever deleted, it comes back without {', '.join(plan.left)}; the "
        plan.tell([f"{lost}administrator can have them copied from the Service: see limits.copyAnnotations"])
    others = (desired for desired in plan.objects if desired["kind"] != "Ingress")
    plan.tell(f"its Service also gets the {each['kind']} {each['metadata']['name']}" for each in others)
    plan.tell(about_ingress(item))
    for service, asked in pairs:
        plan.tell(about_service(service) if asked.annotations else ())
