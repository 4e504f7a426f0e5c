"""`adopt`: a hand-written Ingress becomes ingress-manager's, in place. The pure part.

The Service is annotated first, and only then is the Ingress given to it. The other way round, Metacontroller would see
an Ingress of a Service that asks for none, and delete it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ingress_manager.commands.adopt.splitting import split
from ingress_manager.commands.annotating.annotated import Annotated, annotated_for, left_behind
from ingress_manager.commands.plans.deployers import about_ingress, about_service
from ingress_manager.commands.plans.plan import Plan, Step, script
from ingress_manager.commands.plans.steps import annotating, kubectl, patch, touch, unseen, wait
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import comment, word
from ingress_manager.commands.reading.about import about, about_refusal
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.view.entrances import begin_of
from ingress_manager.commands.view.ingresses import services_of
from ingress_manager.commands.view.managed import CONTROLLER, is_labelled, is_made_for, owners, patch_to_own
from ingress_manager.commands.view.typed import as_service, as_spec
from ingress_manager.core.annotations import PROFILE, is_entrance_name
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.kubernetes import IngressSpec, Object
from ingress_manager.core.observed import DECORATOR, LAST_APPLIED
from ingress_manager.core.policy import Policy, in_namespace
from ingress_manager.core.text import listed, quoted


@dataclass(slots=True)
class Adoption(Plan):
    """What is to be done with one Ingress."""

    spec: Object | None = None
    """The spec that it has afterwards; None when it can't be adopted, or is ingress-manager's already."""

    advice: Sequence[Step] = ()
    """What can be done instead, if there is something."""

    changes: Sequence[str] = ()
    """The fields that change, or would change."""


class _NotAdopted(Exception):  # noqa: N818 - it is caught where it is raised for
    """Why an Ingress can't be adopted, and what can be done instead."""

    def __init__(self, *messages: Message, advice: Iterable[Step] = (), changes: Iterable[str] = ()) -> None:
        super().__init__()
        self.messages, self.advice, self.changes = messages, tuple(advice), tuple(changes)


def adopt(
    manifests: Manifests, ingresses: Iterable[Item], policy: Policy, accepted: Container[str] = ()
) -> Iterator[Adoption]:
    """Yield what is to be done with each of these Ingresses, a pause apart.

    `accepted` names the fields that may change, such as spec.defaultBackend.
    """
    services = {item.label: item for item in manifests.of_kind(SERVICES)}
    for item in ingresses:
        service, entrance = service_of(item, services)
        if service and is_made_for(item, service):
            yield Adoption(item, notes=[f"{item.label}: is ingress-manager's already"])
            continue
        try:
            yield adoption_of(item, service, entrance, manifests, policy, accepted)
        except _NotAdopted as reason:
            yield Adoption(item, messages=reason.messages, advice=reason.advice, changes=reason.changes)


def service_of(item: Item, services: Mapping[str, Item]) -> tuple[Item | None, str]:
    """Return the Service, one of whose Ingresses has the name of `item`, and the entrance that it is of."""
    if found := services.get(item.label):
        return found, ""
    label, _, entrance = item.label.partition(".")
    return (services.get(label), entrance) if is_entrance_name(entrance) else (None, "")


def adoption_of(  # noqa: PLR0913, PLR0917 - each has a say in it
    item: Item,
    service: Item | None,
    entrance: str,
    manifests: Manifests,
    policy: Policy,
    accepted: Container[str],
) -> Adoption:
    """Return how an Ingress is adopted by the Service and the entrance of its name. Raises _NotAdopted."""
    paused, policy = policy.paused_in(item.namespace), policy.without_pause()
    if found := list(obstacles(item, service)):
        ours = item.labels.get(MANAGED_BY_LABEL) == MANAGED_BY
        without_label = Step(kubectl("label", item, changes=[f"{MANAGED_BY_LABEL}-"]))
        raise _NotAdopted(*(about(item, sentence) for sentence in found), advice=[without_label] if ours else [])
    spec = as_spec(item)
    if isinstance(spec, list):
        raise _NotAdopted(*spec)
    profile = service.annotations.get(f"{begin_of(entrance)}{PROFILE}") if service else None
    here = in_namespace(policy, item.namespace, profile)
    if not here.makes_ingresses:
        whose = f"of the profile {here.profile}" if here.profile else "of this namespace"
        raise _NotAdopted(about(item, f"the settings give the Services {whose} no Ingress: see outputs"))
    refuse_other_backends(item, service.name if service else item.name, spec, manifests, policy)
    if service is None:
        raise _NotAdopted(about(item, f"there is no Service {item.label}, so there is nothing to annotate"))
    typed = as_service(service)
    if isinstance(typed, list):
        raise _NotAdopted(*typed)
    asked = annotated_for(item, spec, typed, policy, entrance)
    refuse_what_cannot_be_said(item, asked, accepted)
    if wrong := list(unseen(service, asked.annotations)):
        raise _NotAdopted(*wrong, changes=[change.field for change in asked.changes])
    return Adoption(
        item,
        steps=list(steps(item, service, asked, paused=paused)),
        spec=asked.ingress["spec"] if asked.ingress and asked.changes else item.object["spec"],
        notes=[f"{item.label}: {sentence}" for sentence in notes(item, service, asked)],
        changes=[change.field for change in asked.changes],
    )


def obstacles(item: Item, service: Item | None) -> Iterator[str]:
    """Yield why an Ingress can't be adopted, whatever is in its spec."""
    if item.metadata.get("deletionTimestamp"):
        yield "is being deleted"
    if service and service.metadata.get("deletionTimestamp"):
        yield f"its Service {service.label} is being deleted"
    if is_labelled(item):
        # The policy name-taken doesn't look at it, and Metacontroller would not say that it has seen the Service.
        yield f"has the label {MANAGED_BY_LABEL}: {MANAGED_BY}, but isn't ingress-manager's: take it off first"
    if (other := item.annotations.get(DECORATOR, CONTROLLER)) != CONTROLLER:
        yield f"belongs to another DecoratorController of Metacontroller's: {other}"
    for owner in owners(item):
        if service is None or owner.get("uid") != service.metadata.get("uid"):
            yield (
                f"belongs to {owner.get('kind')} {owner.get('name')}, by metadata.ownerReferences: it would outlive "
                "its Service, or go before; take the reference off first"
            )


def refuse_other_backends(item: Item, own: str, spec: IngressSpec, manifests: Manifests, policy: Policy) -> None:
    """Raise _NotAdopted unless all paths, or without any the default backend, lead to the Service of the Ingress."""
    names = services_of(spec)
    for _, path in spec.paths():
        if path.backend.service is None:
            raise _NotAdopted(about(item, f"spec.rules: the path {path.path} leads to another resource than a Service"))
    if not names:
        raise _NotAdopted(about(item, "spec: no path and no default backend leads to a Service"))
    # A default backend of another Service is a change that somebody can accept.
    if services_of(msgspec.structs.replace(spec, default_backend=None)) in ([own], []) and names[0] == own:
        return
    if len(names) > 1:
        sentence = (
            f"spec.rules: leads to {len(names)} Services, {listed(names)}; each has an Ingress of its own: split it"
        )
    else:
        sentence = (
            f"metadata.name: leads to Service {names[0]}, whose Ingress has to be called {names[0]} or "
            f"{names[0]}.ENTRANCE, and an Ingress can't be renamed: make the new one beside it"
        )
    raise _NotAdopted(about(item, sentence), advice=split(item, spec, manifests, policy))


def refuse_what_cannot_be_said(item: Item, asked: Annotated, accepted: Container[str]) -> None:
    """Raise _NotAdopted when the Service would be refused, or a field would change that may not."""
    if asked.refused:
        raise _NotAdopted(*about_refusal(item, asked.refused))
    lost = [
        about(item, f"{change.field}: {change.sentence}; --accept-changes {change.field} allows it")
        for change in asked.changes
        if change.field not in accepted
    ]
    if lost:
        raise _NotAdopted(*lost, changes=[change.field for change in asked.changes])


def steps(item: Item, service: Item, asked: Annotated, *, paused: bool) -> Iterator[Step]:
    """Yield the steps. Where no cluster has given the two objects their uid, there is only the first."""
    known = service.metadata.get("uid") and item.metadata.get("resourceVersion")
    touched = touch(service, item)
    if asked.annotations:
        yield annotating(service, asked.annotations, touched.until if known else None, version=True)
    elif known:
        yield touched
    if not known:
        return
    back = ("ingress-manager", "release", item.label, "--apply")
    record = f"jsonpath={{.metadata.annotations.{LAST_APPLIED.replace('.', chr(92) + '.')}}}"
    # In a pause, Metacontroller writes its record afterwards.
    recorded = None if paused else wait(item, record)
    yield Step(patch(item, given(item, service, asked)), back, recorded)
    if not asked.annotations:
        yield Step(touched.undo)


def given(item: Item, service: Item, asked: Annotated) -> dict[str, Any]:
    """Return the merge patch that gives the Ingress to its Service, with the changes that are accepted."""
    change: dict[str, Any] = {"metadata": patch_to_own(item, service)}
    if asked.changes and asked.ingress:
        before, after = item.object["spec"], asked.ingress["spec"]
        for field in ("annotations", "labels"):
            change["metadata"][field] |= asked.ingress["metadata"].get(field, {})
        if spec := {key: after.get(key) for key in before | after if before.get(key) != after.get(key)}:
            change["spec"] = spec
    return change


def notes(item: Item, service: Item, asked: Annotated) -> Iterator[str]:
    """Yield what is worth knowing about an Ingress that can be adopted."""
    label = item.labels.get(MANAGED_BY_LABEL, MANAGED_BY)
    if label != MANAGED_BY:
        yield f"its label {MANAGED_BY_LABEL}: {quoted(label)} becomes {quoted(MANAGED_BY)}"
    if left := left_behind(item.annotations, asked):
        yield (
            f"stays as it is, but if it is ever deleted, it comes back without {listed(left)}; the "
            "administrator can have them copied from the Service: see limits.copyAnnotations"
        )
    for desired in asked.objects:
        if desired["kind"] != "Ingress":
            yield f"its Service also gets the {desired['kind']} {desired['metadata']['name']}"
    yield from about_ingress(item)
    if asked.annotations:
        yield from about_service(service)


def lines(adoption: Adoption, options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the script that adopts an Ingress, or, as comments, one that can be run instead."""
    if adoption.advice:
        yield comment(f"{adoption.item.label} can't be adopted as it is. Instead:")
        yield from (comment(f"  {line}") for line in script(adoption.advice, options))
    if adoption.spec is None:
        return
    yield comment(adoption.item.label)
    yield from script(adoption.steps, options)
    if not any(step.until for step in adoption.steps):
        yield comment("The next steps need the Ingress and the Service as the cluster has them:")
        yield f"ingress-manager adopt {word(adoption.item.label)} --apply"


def differs(adoption: Adoption, now: Item) -> Message | None:
    """Return what is wrong with an adopted Ingress as it is `now`, None when all is as it was planned."""
    if now.metadata.get("uid") != adoption.item.metadata.get("uid"):
        return about(now, "was deleted and made again meanwhile")
    if now.object.get("spec") != adoption.spec:
        return about(now, "its spec is not the one that was planned: does the cluster have other settings?")
    return None
