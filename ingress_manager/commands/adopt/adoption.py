"""`adopt`: a hand-written Ingress becomes ingress-manager's. The pure part.

The Service is annotated first, and only then is the Ingress given to it. The other way round, Metacontroller would see
an Ingress of a Service that asks for none, and delete it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from ingress_manager.commands.adopt.asked import Asked, asked_for, lost
from ingress_manager.commands.adopt.moving import steps
from ingress_manager.commands.adopt.parts import (
    DEFAULT_BACKEND,
    Around,
    asked_beside,
    by_rules,
    part,
    why_not_beside,
    why_not_replaced,
)
from ingress_manager.commands.plans.deployers import about_service, not_yet
from ingress_manager.commands.plans.plan import Plan
from ingress_manager.commands.plans.steps import unseen
from ingress_manager.commands.reading.kinds import INGRESS
from ingress_manager.commands.reading.manifests import Item, about
from ingress_manager.commands.view.managed import CONTROLLER, is_made_for, owners
from ingress_manager.commands.view.objects import as_spec, backends_in, certificates_of, secret_called
from ingress_manager.core.annotations import HTTP, PROFILE, is_on
from ingress_manager.core.entrances import begin_of, by_entrance, is_entrance_name
from ingress_manager.core.kubernetes import DECORATOR, IngressSpec, Object
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, NGINX

NOT_GIVEN_UP = (
    f"{DEFAULT_BACKEND}: controllers differ in what it answers: write it as a rule without a host, or take it out, "
    f"first; --accept-changes {DEFAULT_BACKEND} does without it"
)


COPY = "copyAnnotations"
CANARY = f"{NGINX}canary"


class Need(NamedTuple):
    """Something that a limit doesn't allow, and that an Ingress says."""

    limit: str
    """The field of `limits`, as the settings name it."""

    name: str
    value: str = ""
    """That of an annotation."""

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return f"limits.{self.limit}: {self.name}{f': {quoted(self.value)}' if self.limit == COPY else ''}"


@dataclass(slots=True)
class Adoption(Plan):
    """What is to be done with one Ingress. With a message, nothing."""

    becomes: Sequence[str] = ()
    """The Ingresses that it becomes: itself, if it stays. Empty when it can't be adopted."""

    spec: Object | None = None
    """The spec that it has afterwards; None when it goes, or can't be adopted."""

    objects: Sequence[Object] = ()
    """The Ingresses that its Services are given then."""

    left: Sequence[str] = ()
    """The annotations that it keeps, as fields, and that one made anew would lack."""

    needs: Sequence[Need] = ()
    """What the limits would have to allow, where nothing else keeps it out."""

    def refuse(self, sentences: Iterable[str]) -> None:
        """Add why it can't be adopted."""
        self.messages = (*self.messages, *(about(self.item, sentence) for sentence in sentences))

    def tell(self, sentences: Iterable[str]) -> None:
        """Add what is worth knowing."""
        self.notes = [*self.notes, *(f"{self.title}: {sentence}" for sentence in sentences)]

    @property
    def replaces(self) -> bool:
        """Return whether other Ingresses are to answer for it."""
        return bool({*self.becomes} - {self.title})

    @property
    def summary(self) -> str:
        """Return what becomes of it, in a few words."""
        if self.messages:
            return "can't be adopted"
        return f"becomes {', '.join(self.becomes)}" if self.replaces else "stays, and is adopted"


def adopt(
    items: Sequence[Item], ingresses: Iterable[Item], policy: Policy, accepted: Container[str] = ()
) -> Iterator[Adoption]:
    """Yield what is to be done with each of these Ingresses, one after the other; `accepted` fields may change.

    Raises Unreadable.
    """
    around = Around.of(items, policy, accepted)
    for item in ingresses:
        plan = Adoption(item, item.full_name)
        service, entrance = service_of(item, around.services)
        if service and is_made_for(item, service):
            plan.tell(["is ingress-manager's already"])
        else:
            plan_adoption(plan, service, entrance, around)
        yield plan


def service_of(item: Item, services: Mapping[str, Item]) -> tuple[Item | None, str]:
    """Return the Service, one of whose Ingresses has the name of `item`, and the entrance that it is of."""
    if found := services.get(item.full_name):
        return found, ""
    label, _, entrance = item.full_name.partition(".")
    return (services.get(label), entrance) if is_entrance_name(entrance) else (None, "")


def plan_adoption(plan: Adoption, service: Item | None, entrance: str, around: Around) -> None:
    """Plan how an Ingress is adopted, by the Service of its name or others in its place, or say why it can't be."""
    item, before = plan.item, as_spec(plan.item)
    said = by_rules(item, before, service, around)
    plan.refuse([NOT_GIVEN_UP] if said is None and DEFAULT_BACKEND not in around.accepted else ())
    spec = said or msgspec.structs.replace(before, default_backend=None)
    plan.refuse(obstacles(item, service, spec))
    names = [*dict.fromkeys(each.service.name for each in backends_in(spec) if each.service)]
    parts = list[Asked]()
    plan.refuse(() if names or plan.messages else ["spec.rules: no path leads to a Service"])
    for name in names:
        led_to, mine = around.services.get(f"{item.namespace}/{name}"), part(spec, name)
        if led_to is None:
            plan.refuse([f"leads to Service {name}, which isn't there: nothing could be annotated"])
            continue
        if service and name == service.name:
            mine = mine if names[1:] else spec
            asked = asked_for(item, mine, led_to, around.policy, entrance)
        else:
            asked = asked_beside(item, mine, led_to, around)
        plan.refuse(why_not(item, asked, mine, around))
        parts.append(asked)
    own = next((each for each in parts if each.full_name == item.full_name), None)
    others = [each for each in parts if each is not own]
    plan.refuse(why_not_replaced(item, spec) if others else ())
    if service and not own and is_on(by_entrance(service.annotations).get(entrance, {})):
        asks = f"Service {service.name} asks for an Ingress of this name, which would be made once this one has gone"
        plan.refuse([f"{asks}, and could take requests from others: set {begin_of(entrance)}{HTTP.key} to false first"])
    plan.refuse(() if plan.messages else not_yet(item, [(each.service, each.annotations) for each in parts]))
    if plan.messages:
        return
    after: Object = item.object["spec"]
    if own:
        plan.spec = after = own.ingress["spec"] if others or own.changes or spec != before else after
    plan.steps = [*steps(item, others, own, after)]
    plan.becomes = [each.full_name for each in parts]
    plan.objects = [made for each in parts for made in each.objects if made["kind"] == INGRESS]
    plan.done = f"{plan.title} is ingress-manager's: {', '.join(plan.becomes)}."
    plan.left = [each for each in (lost(item, own) if own else ()) if not each.startswith("metadata.labels.")]
    if plan.left:
        what = f"stays as it is; if it is ever deleted, it comes back without {', '.join(plan.left)}"
        plan.tell([f"{what}, unless the settings have them copied from the Service (limits.copyAnnotations)"])
    for each in parts:
        plan.tell(about_service(each.service) if each.annotations else ())
        around.made(each)


def obstacles(item: Item, service: Item | None, spec: IngressSpec) -> Iterator[str]:
    """Yield why an Ingress can't be adopted, whatever Services may ask for."""
    for each in filter(None, (item, service)):
        if each.metadata.get("deletionTimestamp"):
            yield f"{each} is being deleted"
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
    for _, path in spec.paths():
        if path.backend.service is None:
            yield f"spec.rules: the path {path.path} leads to another resource than a Service: take it out first"


def why_not(item: Item, asked: Asked, spec: IngressSpec, around: Around) -> Iterator[str]:
    """Yield why an Ingress, or its part, can't be what a Service asks for."""
    name, here = asked.service.name, asked.here
    certificates = [secret_called(each.secret_name) for each in certificates_of(spec)]
    if here.gateway_of_httproutes or not here.makes_ingresses:
        yield (
            f"the settings would not give Service {name} an Ingress alone: adopt with outputs [ingress] first (by a "
            "profile or defaults), and add httproute afterwards"
        )
    elif len(certificates) > 1:
        yield (
            f"spec.tls: the hosts of Service {name} need {' and '.join(certificates)}, and an Ingress that is made for "
            "it has one certificate: put one for all these hosts into one Secret first"
        )
    elif asked.refused:
        yield f"Service {name} would be refused: {asked.refused.line()}"
    else:
        yield from (f"Service {name}: {wrong.sentence}" for wrong in unseen(asked.service, asked.annotations))
        yield from (
            f"{change}; --accept-changes {change.field} allows it"
            for change in asked.changes
            if not change.is_served_alike and change.field not in around.accepted
        )
        stays = asked.full_name == item.full_name
        for each, protects in lost(item, asked).items():
            # A canary that were made anew without its annotation would take the requests of the one beside it.
            may_stay = stays and each != f"metadata.annotations.{CANARY}"
            if protects or not (may_stay or each in around.accepted):
                does = "the administrator accepts the loss (limits.acceptedLosses)"
                without = f"or {does}" if protects else f"--accept-changes {each} does without"
                yield (
                    f"{each}: Ingress {asked.full_name}, made anew, would lack it: a profile can add it "
                    f"({begin_of(asked.entrance)}{PROFILE}), or limits.copyAnnotations can have it copied from a "
                    f"Service with one entrance; {without}"
                )
        if not stays:
            yield from why_not_beside(item, asked, around)
