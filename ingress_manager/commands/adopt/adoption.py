"""`adopt`: a hand-written Ingress becomes ingress-manager's, in place. The pure part.

The Service is annotated first, and only then is the Ingress given to it. The other way round, Metacontroller would see
an Ingress of a Service that asks for none, and delete it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ingress_manager.commands.adopt.around import Around
from ingress_manager.commands.adopt.routes import why_not_routed
from ingress_manager.commands.adopt.splitting import (
    DEFAULT_BACKEND,
    Part,
    Split,
    beside,
    instead,
    is_known,
    part,
    roots,
    split,
    still,
    two_secrets,
    why_not_rooted,
    with_rules,
)
from ingress_manager.commands.annotating.annotated import Annotated, annotated_for, left_behind, unprotected
from ingress_manager.commands.annotating.changes import TLS
from ingress_manager.commands.plans.deployers import about_ingress, about_service, before, not_yet
from ingress_manager.commands.plans.plan import Plan, Step, listed
from ingress_manager.commands.plans.steps import (
    Annotations,
    annotating,
    is_recorded,
    is_unchanged,
    patch,
    touch,
    unseen,
)
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import comment, word
from ingress_manager.commands.reading.kinds import INGRESSES
from ingress_manager.commands.reading.manifests import Item, Manifests, about, about_refusal
from ingress_manager.commands.view.ingresses import services_of
from ingress_manager.commands.view.managed import CONTROLLER, is_made_for, owners, patch_to_own
from ingress_manager.commands.view.typed import as_service, as_spec
from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.entrances import begin_of, is_entrance_name
from ingress_manager.core.kubernetes import DECORATOR, IngressSpec, Object, Service
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE


@dataclass(slots=True)
class Adoption(Plan):
    """What is to be done with one Ingress."""

    becomes: Sequence[str] = ()
    """The Ingresses that it becomes: itself, if it stays. Empty when it can't be adopted."""

    spec: Object | None = None
    """The spec that it has afterwards; None when it goes, or can't be adopted."""

    objects: Sequence[Object] = ()
    """What its Services are given then."""

    advice: Sequence[Step] = ()
    changes: Sequence[str] = ()
    left: Sequence[str] = ()
    """The annotations that it keeps, and that one made anew would lack."""

    def lines(self, options: Sequence[str] = ()) -> Iterator[str]:
        """Yield the steps that adopt an Ingress, or, as comments, what can be done before it is tried again."""
        if self.advice:
            yield comment(f"{self.title} can't be adopted as it is. First:")
            yield from (comment(f"  {line}") for line in listed(self.advice, options))
        if not self.becomes:
            return
        yield comment(self.title)
        yield from listed(self.steps, options)
        if not any(step.until for step in self.steps):
            yield comment("The next steps need the Ingress and the Services as the cluster has them:")
            yield f"ingress-manager adopt {word(self.title)} --apply"

    @property
    def replaces(self) -> bool:
        """Return whether other Ingresses are to answer for it."""
        return bool({*self.becomes} - {self.item.full_name})

    @property
    def summary(self) -> str:
        """Return what becomes of it, in a few words."""
        if self.messages:
            return "can't be adopted"
        if not self.replaces:
            return "stays, and is adopted"
        others = ", ".join(label for label in self.becomes if label != self.item.full_name)
        return f"stays, and what leads elsewhere becomes {others}" if self.spec else f"becomes {others}"


class _NotAdopted(Exception):  # noqa: N818 - it is caught where it is raised for
    """Why an Ingress can't be adopted, and what can be done before it is tried again."""

    def __init__(self, *messages: Message, advice: Iterable[Step] = (), changes: Iterable[str] = ()) -> None:
        super().__init__()
        self.messages, self.advice, self.changes = messages, tuple(advice), tuple(changes)


def adopt(
    manifests: Manifests, ingresses: Iterable[Item], policy: Policy, accepted: Container[str] = ()
) -> Iterator[Adoption]:
    """Yield what is to be done with each of these Ingresses, one after the other; `accepted` fields may change."""
    around = Around.of(manifests, policy, accepted)
    for item in ingresses:
        service, entrance = service_of(item, around.services)
        if service and is_made_for(item, service):
            yield Adoption(item, notes=[f"{item.full_name}: is ingress-manager's already"])
            continue
        try:
            yield adoption_of(item, service, entrance, around)
        except _NotAdopted as reason:
            yield Adoption(item, messages=reason.messages, advice=reason.advice, changes=reason.changes)


def service_of(item: Item, services: Mapping[str, Item]) -> tuple[Item | None, str]:
    """Return the Service, one of whose Ingresses has the name of `item`, and the entrance that it is of."""
    if found := services.get(item.full_name):
        return found, ""
    label, _, entrance = item.full_name.partition(".")
    return (services.get(label), entrance) if is_entrance_name(entrance) else (None, "")


def adoption_of(item: Item, service: Item | None, entrance: str, around: Around) -> Adoption:
    """Return how an Ingress is adopted: by the Service of its name, or by new ones in its place. Raises _NotAdopted."""
    if found := list(obstacles(item, service)):
        raise _NotAdopted(*(about(item, sentence) for sentence in found))
    spec = as_spec(item)
    if isinstance(spec, list):
        raise _NotAdopted(*spec)
    profile = service.annotations.get(f"{begin_of(entrance)}{PROFILE}") if service else None
    here = in_namespace(around.policy, item.namespace, profile)
    if not here.makes_ingresses:
        whose = f"of the profile {here.profile}" if here.profile else "of this namespace"
        raise _NotAdopted(about(item, f"the settings give the Services {whose} no Ingress: see outputs"))
    names = backends_of(item, spec)
    if service and service.name not in names:
        service = None
    home = service.name if service else ""
    ways = Split()
    # A default backend of another Service can be given up.
    rest = services_of(msgspec.structs.replace(spec, default_backend=None))
    given_up = bool(home) and [*names] != [home] and rest in ([home], [])
    if not (given_up and DEFAULT_BACKEND in around.accepted):
        stated, spec = spec, with_rules(spec, around.rooted(item, spec))
        ways = split(item, spec, home, around) if {*names} != {home} else ways
        ways.reasons += why_not_rooted(item, stated, home, around, "does without" if given_up else "allows")
        if stated != spec:
            ways.changes += [DEFAULT_BACKEND, *(["spec.rules"] if stated.rules != spec.rules else [])]
            ways.notes.append(f"{DEFAULT_BACKEND} becomes {roots(stated, around.rooted(item, stated))}")
        if ways.reasons:
            raise _NotAdopted(*(about(item, sentence) for sentence in ways.reasons), changes=ways.changes)
    adoption = stayed(item, service, entrance, spec, ways, around) if service else replaced(item, ways)
    for each in ways.parts:
        around.made(each.service, each.asked.annotations, each.ingress)
    return adoption


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


def backends_of(item: Item, spec: IngressSpec) -> list[str]:
    """Return the names of the Services to which an Ingress leads. Raises _NotAdopted for another resource."""
    for _, path in spec.paths():
        if path.backend.service is None:
            raise _NotAdopted(about(item, f"spec.rules: the path {path.path} leads to another resource than a Service"))
    names = services_of(spec)
    if not names:
        raise _NotAdopted(about(item, "spec: no path and no default backend leads to a Service"))
    return names


def stayed(  # noqa: PLR0913, PLR0917 - each has a say in it
    item: Item, service: Item, entrance: str, spec: IngressSpec, ways: Split, around: Around
) -> Adoption:
    """Return how an Ingress becomes that of the Service of its name, and others get the parts. Raises _NotAdopted."""
    typed, parts = as_service(service), ways.parts
    if isinstance(typed, list):
        raise _NotAdopted(*typed)
    own = part(spec, service.name) if parts else spec
    if needed := list(two_secrets(service.name, own)):
        raise _NotAdopted(*(about(item, sentence) for sentence in needed))
    asked = annotated_for(item, own, typed, around.policy.without_pause(), entrance)
    refuse_what_cannot_be_said(item, asked, around.accepted)
    refuse_what_is_open(item, asked, typed, entrance, around)
    if taken := list(why_not_routed(service, asked.objects, around)):
        raise _NotAdopted(*(about(item, sentence) for sentence in taken))
    if wrong := list(unseen(service, asked.annotations)):
        raise _NotAdopted(*wrong, changes=[change.field for change in asked.changes])
    refuse_before_its_source(item, [(service, asked.annotations), *annotated_by(parts)])
    changes = [*ways.changes, *(change.field for change in asked.changes)]
    after = asked.ingress["spec"] if asked.ingress and (parts or changes) else item.object["spec"]
    becomes = [item.full_name, *(each.full_name for each in parts)]
    adoption = Adoption(
        item,
        done=f"{item.full_name} is ingress-manager's: {', '.join(becomes)}.",
        steps=list(staying(item, service, parts, asked, after, paused=around.policy.paused_in(item.namespace))),
        becomes=becomes,
        spec=after,
        objects=[each for made in (asked, *(each.asked for each in parts)) for each in made.objects],
        left=left_behind(item.annotations, asked),
        notes=list(notes(item, {service.full_name: service}, [asked], ways)),
        changes=changes,
    )
    around.annotated(service, asked.annotations)
    around.in_the_way.discard(item.full_name)
    return adoption


def replaced(item: Item, ways: Split) -> Adoption:
    """Return how an Ingress goes, once others have taken its place. Raises _NotAdopted."""
    parts = ways.parts
    refuse_before_its_source(item, annotated_by(parts))
    steps = instead(parts, item) if is_known(item, *(each.service for each in parts)) else beside(parts, item)
    becomes = [each.full_name for each in parts]
    return Adoption(
        item,
        done=f"{item.full_name} is ingress-manager's: {', '.join(becomes)}.",
        steps=list(steps),
        becomes=becomes,
        objects=[each for made in parts for each in made.asked.objects],
        notes=list(notes(item, {}, [], ways)),
        changes=ways.changes,
    )


def annotated_by(parts: Sequence[Part]) -> list[tuple[Item, Annotations]]:
    """Return the Services that get Ingresses of their own, each with its annotations."""
    return [(each.service, each.asked.annotations) for each in parts]


def refuse_before_its_source(item: Item, services: Sequence[tuple[Item, Annotations]]) -> None:
    """Raise _NotAdopted where a tool keeps the Ingress, or takes annotations off a Service, by what its source says."""
    if found := list(not_yet(item, services)):
        raise _NotAdopted(*(about(item, sentence) for sentence in found), advice=before(item, services))


def refuse_what_cannot_be_said(item: Item, asked: Annotated, accepted: Container[str]) -> None:
    """Raise _NotAdopted when the Service would be refused, or a field would change that may not."""
    if asked.refused:
        raise _NotAdopted(*about_refusal(item, asked.refused))
    lost = [
        about(item, f"{change.field}: {change.sentence}; --accept-changes {change.field} allows it")
        for change in asked.changes
        if not change.is_served_alike and change.field not in accepted
    ]
    if lost:
        raise _NotAdopted(*lost, changes=[change.field for change in asked.changes])


def refuse_what_is_open(item: Item, asked: Annotated, service: Service, entrance: str, around: Around) -> None:
    """Raise _NotAdopted when the Ingress, made anew, would let in whom this one keeps out."""
    profile = (service.metadata.annotations or {}).get(f"{begin_of(entrance)}{PROFILE}")
    here = in_namespace(around.policy, item.namespace, profile)
    if lost := unprotected(item, asked, service, here):
        raise _NotAdopted(*(about(item, open_without(key)) for key in lost))


def open_without(key: str) -> str:
    """Return why an Ingress with an annotation that protects it can't be adopted."""
    return (
        f"its annotation {key} protects it, and one made anew would lack it: its Service has several entrances, and "
        "would give it to each; state it on the Service, if each may have it, or the administrator accepts the loss "
        "(limits.acceptedLosses)"
    )


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


def notes(item: Item, own: Mapping[str, Item], asked: Sequence[Annotated], ways: Split) -> Iterator[str]:
    """Yield what is worth knowing. `own` and `asked` are about the Service of the Ingress's name, if it stays."""
    parts = ways.parts
    label = item.labels.get(MANAGED_BY_LABEL, MANAGED_BY)
    about_it = [*ways.notes]
    for each in (*asked, *(each.asked for each in parts)):
        alike = (change for change in each.changes if change.field == TLS and change.is_served_alike)
        about_it += (f"{change.field}: {change.sentence}" for change in alike)
    if asked and label != MANAGED_BY:
        about_it.append(f"its label {MANAGED_BY_LABEL}: {quoted(label)} becomes {quoted(MANAGED_BY)}")
    if left := [key for each in asked for key in left_behind(item.annotations, each)]:
        about_it.append(
            f"stays as it is, but if it is ever deleted, it comes back without {', '.join(left)}; the "
            "administrator can have them copied from the Service: see limits.copyAnnotations"
        )
    for each in (*asked, *(each.asked for each in parts)):
        about_it += (
            f"its Service also gets the {desired['kind']} {desired['metadata']['name']}"
            for desired in each.objects
            if desired["kind"] != "Ingress"
        )
    about_it += about_ingress(item)
    changed = {**own, **{each.service.full_name: each.service for each in parts if each.asked.annotations}}
    for service in changed.values():
        if not own or service.full_name not in own or any(each.annotations for each in asked):
            about_it += about_service(service)
    return (f"{item.full_name}: {sentence}" for sentence in about_it)
