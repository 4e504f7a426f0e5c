"""Findings about Services and their objects: people's mistakes, and work that Metacontroller hasn't done.

Each Service is exactly one of: being deleted, refused, accepted. Each observed object is exactly one of: being deleted,
forbidden, unwanted, drifted, as desired. So no two findings report the same problem. Words in capitals in a command,
such as VALUE, are placeholders that a person has to replace.
"""

from collections.abc import Iterator
from functools import lru_cache

from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import REMEDIES, Blocks, Finding, Responsible, Severity, finding
from ingress_manager.commands.plans import steps
from ingress_manager.commands.plans.deployers import deployers_of
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot import managed
from ingress_manager.commands.snapshot.drift import differences
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item
from ingress_manager.commands.snapshot.objects import ObjectSnapshot, backends_of, deletion_of
from ingress_manager.commands.snapshot.services import ServiceSnapshot
from ingress_manager.commands.text import Command
from ingress_manager.core.annotations import HTTP, PREFIX, PROFILE, SUFFIXES, entrance_of, without_effect
from ingress_manager.core.copying import MANAGED_BY_LABEL, keys_not_copied, why_not_copied
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Key
from ingress_manager.core.text import listed, nearest
from ingress_manager.core.vocabulary import belongs_on, is_for_controllers, is_read_from_services, protects

SYNC_ALL = ("kubectl", "rollout", "restart", "--namespace=metacontroller", "--", "deployment", "metacontroller")
"""Restarts Metacontroller, which syncs every Service when it starts."""

REMOVABLE = {Reason.ANNOTATION_NOT_ALLOWED, Reason.CLASS_NOT_ALLOWED, Reason.CONTRADICTION, Reason.UNKNOWN_ANNOTATION}
"""Reasons for which removing the annotation helps, unless it is ingress/profile or ingress/http or restricts access."""

NEEDS_THOUGHT = {Reason.DUPLICATE_ROUTE, Reason.NOT_IN_HTTPROUTE, Reason.PROTECTION_LOST, Reason.TOO_LARGE} | REMOVABLE
"""Reasons for which a new value of the annotation may not help, so a person has to review the whole Service."""

DISOWN_PATCH = {"metadata": {"labels": {MANAGED_BY_LABEL: None}, "annotations": {DECORATOR: None}}}


@finding(blocks=None, remedy="")  # the reasons have remedies
def refused(evidence: Evidence) -> Iterator[Finding]:
    """The hook refuses the Service."""
    for service in evidence.exposed:
        if service.refused and not service.item.is_being_deleted:
            item, refusal = service.item, service.refused
            reasons = list(dict.fromkeys(problem.reason for problem in refusal.kept))
            yield Finding(item, refusal.line(), _correct(item, refusal), item, reasons)


@finding(
    blocks=Blocks.SYNC,
    remedy="If that object routes to this Service, adopt it. Otherwise use another entrance, such as web.ingress/http.",
)
def name_taken(evidence: Evidence) -> Iterator[Finding]:
    """Another object, not created for the Service, already has the name that the Service's object needs."""
    for service, key, namesake in evidence.missing:
        if namesake is None or namesake.item.is_being_deleted:
            continue
        # `detached` reports a managed object without a Service.
        if not namesake.looks_managed or (namesake.is_decorated and evidence.snapshot.owner_of(namesake)):
            backends = backends_of(namesake)
            leads = f"; that {namesake.kind} routes to {listed(backends, ' '.join)}" if backends else ""
            sentence = f"{namesake.item} already exists but wasn't created for this Service{leads}"
            command = kubectl("edit", service.item)
            if (SERVICE, service.item.name) in backends and namesake.kind == INGRESS and not namesake.is_decorated:
                command = ("ingress-manager", "adopt", namesake.item.full_name)
            yield Finding(service.item, sentence, command, service.item, about=key)


@finding(blocks=Blocks.SYNC, remedy="Delete the object. Metacontroller recreates only what the settings allow.")
def forbidden(evidence: Evidence) -> Iterator[Finding]:
    """The settings no longer allow the object."""
    for service, obj, problem in evidence.observed:
        if problem:
            yield Finding(obj.item, problem.line(), kubectl("delete", obj.item), service.item, [problem.reason])


@finding(
    blocks=Blocks.SYNC,
    remedy="If the message names a cause, fix it. Otherwise, check that the hook and Metacontroller are running.",
)
def missing(evidence: Evidence) -> Iterator[Finding]:
    """A requested object doesn't exist, or is being deleted."""
    for service, key, namesake in evidence.missing:
        if namesake is None:
            yield _awaiting_sync(evidence, service, service.item, f"{' '.join(key)} doesn't exist", about=key)
        elif deletion := deletion_of(namesake.item):
            yield Finding(service.item, deletion, kubectl("describe", namesake.item), service.item, about=key)


@finding(blocks=Blocks.SYNC, remedy="If settings just changed, wait six minutes. If not, run `ingress-manager check`.")
def drifted(evidence: Evidence) -> Iterator[Finding]:
    """The object differs from what the Service and the settings request."""
    for service, obj in evidence.allowed:
        if service.refused or obj.key not in service.desired:
            continue
        try:
            changes = differences(obj.item, service.desired[obj.key])
        except ValueError:
            sentence = f"Metacontroller can't parse the annotation {LAST_APPLIED}, so it doesn't update this object"
            command = kubectl("annotate", obj.item, changes=[f"{LAST_APPLIED}-"])
            yield Finding(obj.item, sentence, command, service.item)
        else:
            if changes:
                yield _awaiting_sync(evidence, service, obj.item, listed(changes))


@finding(blocks=None, remedy="Add the annotation to the Service or, if that harms its other Ingresses, to a profile.")
def unguarded(evidence: Evidence) -> Iterator[Finding]:
    """An annotation protects the object but is not on its Service, so a recreated object would lack it."""
    for service, obj, only_here in _not_requested(evidence):
        if lost := {key: value for key, value in only_here.items() if protects(key)}:
            sentence = f"{service.item} lacks {listed([*lost])}, so this {obj.kind} would lose protection if recreated"
            yield Finding(obj.item, sentence, _annotate(evidence, service, obj, lost), service.item)


@finding(blocks=Blocks.SYNC, remedy="Check why the hook and Metacontroller didn't delete this object, then delete it.")
def unwanted(evidence: Evidence) -> Iterator[Finding]:
    """The Service no longer requests the object."""
    for service, obj in evidence.allowed:
        if not _is_wanted(service, obj):
            command = kubectl("delete", obj.item)
            yield Finding(obj.item, f"{service.item} doesn't request this {obj.kind}", command, service.item)


@finding(
    blocks=Blocks.SYNC,
    remedy="Run the command: it attaches the object to its Service, deletes it if that is gone, or makes it unmanaged.",
)
def detached(evidence: Evidence) -> Iterator[Finding]:
    """The object looks managed, but either lacks Metacontroller's annotation or isn't owned by an existing Service."""
    for obj, owner in evidence.unmanaged:
        is_controlled = bool(obj.owner) and not obj.service  # by something other than a Service
        service = owner or (None if is_controlled else evidence.service_requesting(obj))
        # Kubernetes deletes the objects that a deleted Service owned. An object without an owner may be in use.
        command = kubectl("delete", obj.item) if obj.service else steps.patch(obj.item, DISOWN_PATCH)
        if service:
            change = managed.patch_to_own(obj.item, service.item)
            # Controllers often update the object's status, so a patch with its resourceVersion would fail.
            del change["resourceVersion"]
            command = steps.patch(obj.item, {"metadata": change})
        yield Finding(obj.item, _missing_link(obj, owner), command, service.item if service else None)


@finding(
    blocks=None,
    remedy="Remove the annotations, or ask the administrator to allow them in limits.copyAnnotations.",
    severity=Severity.WARNING,
)
def not_copied(evidence: Evidence) -> Iterator[Finding]:
    """Annotations that seem meant for an ingress controller, but don't protect the Service, aren't copied."""
    for service in evidence.accepted:
        keys = keys_not_copied(service.item.annotations, evidence.snapshot.desired_once_allowed(service).values())
        # The other keys protect the Service. The settings accept their loss; otherwise the Service would be refused.
        if dropped := [key for key in keys if not protects(key)]:
            sentence = f"annotations not copied to the Service's objects: {listed(dropped)}"
            command = kubectl("annotate", service.item, changes=[f"{key}-" for key in dropped])
            yield Finding(service.item, sentence, command, service.item)


@finding(
    blocks=None,
    remedy="If limits.copyAnnotations allows the annotation, put it on the Service. Otherwise remove it from the "
    "object, or ask the administrator to allow it or add it to a profile.",
    severity=Severity.WARNING,
)
def not_requested(evidence: Evidence) -> Iterator[Finding]:
    """The object has an ingress controller's annotation that neither the Service nor the settings request."""
    for service, obj, only_here in _not_requested(evidence):
        read = [key for key in only_here if is_for_controllers(key) and belongs_on(obj.item.kind, key)]
        others = [key for key in read if not (protects(key) or key.startswith(managed.BOOKKEEPING))]
        if (lost := {key: only_here[key] for key in others}) and evidence.snapshot.settings:
            limits = effective_settings(evidence.snapshot.settings, obj.item.namespace).limits.copy_annotations
            is_copied = not any(why_not_copied(*pair, limits) for pair in lost.items())
            sentence = f"neither {service.item} nor the settings request {listed([*lost])} on this {obj.kind}"
            command = _annotate(evidence, service, obj, lost) if is_copied else ()
            yield Finding(obj.item, sentence, command, service.item)


@finding(
    blocks=None,
    remedy='To expose the Service, set ingress/http: "true"; otherwise remove the annotations of this entrance.',
    severity=Severity.HINT,
)
def no_http(evidence: Evidence) -> Iterator[Finding]:
    """Annotations of a Service have no effect, because the `ingress/http` that they need is missing."""
    for service in evidence.snapshot.services.values():
        for problem in without_effect(service.item.annotations):
            yield Finding(service.item, problem.sentence, kubectl("edit", service.item), service.item)


@lru_cache(maxsize=1)  # unguarded and not_requested both use it
def _not_requested(evidence: Evidence) -> list[tuple[ServiceSnapshot, ObjectSnapshot, dict[str, str]]]:
    """Return (Service, object, lost annotations) for each object that would lose annotations if it were recreated."""
    triples = []
    for service, obj in [pair for pair in evidence.allowed if _is_wanted(*pair)]:
        desired = service.desired.get(obj.key, {}).get("metadata", {}).get("annotations", {})
        # `drifted` reports the annotations in Metacontroller's record, which is JSON.
        record, known = obj.item.annotations.get(LAST_APPLIED, ""), desired | service.item.annotations
        lost = {k: v for k, v in obj.item.annotations.items() if k not in known and f'"{k}":' not in record}
        if lost := {k: v for k, v in sorted(lost.items()) if not managed.is_read_from_services_alone(k)}:
            triples.append((service, obj, lost))
    return triples


def _annotate(evidence: Evidence, service: ServiceSnapshot, obj: ObjectSnapshot, lost: dict[str, str]) -> Command:
    """Return the command that sets an object's `lost` annotations on its Service.

    The command is empty if the annotations would also affect other entrances or Ingresses, or if a tool that deploys
    the Service would remove them.
    """
    referring = evidence.snapshot.referring_to(service.item) if any(map(is_read_from_services, lost)) else ()
    is_shared = len(service.entrances) > 1 or any(other.item.full_name != obj.item.full_name for other in referring)
    if is_shared or any(deployer.takes_off for deployer in deployers_of(service.item)):
        return ()
    # Anybody may have written the values: don't offer to copy invisible characters.
    if not all(value.isprintable() for value in lost.values()):
        return kubectl("edit", service.item)
    return steps.annotate(service.item, lost).command


def _awaiting_sync(
    evidence: Evidence, service: ServiceSnapshot, item: Item, sentence: str, about: Key | None = None
) -> Finding:
    """Return a finding that awaits a sync, with a command to start one. If the namespace is paused, say so instead."""
    if evidence.settings and evidence.settings.entry_for(item.namespace).paused:
        return Finding(item, f"{sentence}; the settings pause this namespace", service=service.item, about=about)
    return Finding(item, sentence, SYNC_ALL, service.item, about=about, awaits_sync=True)


def _is_wanted(service: ServiceSnapshot, obj: ObjectSnapshot) -> bool:
    """Return whether a Service requests an object. A refused Service counts as requesting its entrances' objects."""
    if service.refused:
        return entrance_of(service.item.name, obj.key[1]) in service.entrances
    return obj.key in service.desired


def _missing_link(obj: ObjectSnapshot, owner: ServiceSnapshot | None) -> str:
    """Return a message saying why Metacontroller doesn't manage an object that has our label or annotation."""
    if owner:
        return f"the annotation {DECORATOR} is missing"
    if not obj.owner:
        return "no entry in metadata.ownerReferences has controller: true"
    start = f'the owner, {obj.owner.get("apiVersion")} {obj.owner.get("kind")} "{obj.owner.get("name")}"'
    return f"{start} with uid {obj.owner_uid}, doesn't exist" if obj.service else f"{start}, isn't a core/v1 Service"


def _correct(service: Item, refusal: Problems) -> Command:
    """Return the command that corrects a refused Service, or () if the administrator has to solve a problem."""
    if any(problem.reason in REMEDIES[Responsible.ADMINISTRATOR] for problem in refusal.kept):
        return ()
    corrections = [_correction(service, problem) for problem in refusal.kept]
    if refusal.more or not all(corrections):
        return kubectl("edit", service)
    changes: dict[str, str] = {}
    for correction in corrections:
        # A key that one problem sets and another removes is set.
        changes |= {key: change for key, change in correction.items() if changes.get(key, "-")[-1] == "-"}
    options = ["--overwrite"] if any(change[-1] != "-" for change in changes.values()) else []
    return kubectl("annotate", service, options=options, changes=changes.values())


def _correction(service: Item, problem: Problem) -> dict[str, str]:
    """Return `kubectl annotate` arguments that fix a problem, keyed by annotation, or {} if a person has to decide."""
    key, value = problem.annotation, service.annotations.get(problem.annotation, "")
    start, _, suffix = key.rpartition(PREFIX)
    suggestion = nearest(suffix, SUFFIXES) if problem.reason is Reason.UNKNOWN_ANNOTATION else ""
    corrected = f"{start}{PREFIX}{suggestion}"
    if suggestion and corrected not in service.annotations and value.isprintable():
        return {key: f"{key}-", corrected: f"{corrected}={value}"}
    if key and problem.reason in REMOVABLE and not (protects(key) or key.endswith((PROFILE, HTTP))):
        return {key: f"{key}-"}
    # If the value is "true", the mistake is in the key: in the name of the entrance.
    return {key: f"{key}=VALUE"} if key and problem.reason not in NEEDS_THOUGHT and value != "true" else {}
