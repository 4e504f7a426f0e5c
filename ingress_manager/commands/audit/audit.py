"""`audit`: what of a cluster needs a person, and the command that fixes it; or what other settings would do to it.

Of all kinds of findings there is one table, from which the docs are made, too.

Each Service is decided on as the hook would, and what stands is compared with that as Metacontroller would. So what is
found is what these two would do, or can't do. What was read is one look: a change that is a second old can be in it.

Why Metacontroller hasn't done something is in its Events: it reports each failed attempt as one of the Service, in the
API server's words or with the hook's, and tries again after 1,000 s at most.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ingress_manager.commands.audit import answers, services
from ingress_manager.commands.audit.answers import of_each
from ingress_manager.commands.audit.claims import claimed_twice, claims_of
from ingress_manager.commands.audit.seen import SYNC_ALL, Finder, Finding, Seen, Severity
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot.drift import merged
from ingress_manager.commands.snapshot.events import Report
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.objects import as_object
from ingress_manager.commands.snapshot.services import Snapshot
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.core.decide import Refused
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed


class Kind(NamedTuple):
    """A kind: what it means, what to do about it, what finds it, and how much it matters."""

    meaning: str
    remedy: str
    find: Finder
    severity: Severity = Severity.ERROR


KINDS = {
    "refused": Kind(
        "The hook refuses the Service.",
        "Correct the annotation; docs/refusals.md tells more.",
        services.refused,
    ),
    "name-taken": Kind(
        "Somebody else's object has the name that the Service's object would have.",
        "Adopt that object if it leads to this Service, else use another entrance, such as web.ingress/http.",
        services.name_taken,
    ),
    "forbidden": Kind(
        "The object holds what the settings forbid.",
        "Delete it: it comes back only as the settings allow.",
        services.forbidden,
    ),
    "missing": Kind(
        "What the Service asks for isn't there, or is being deleted.",
        "Remove the obstacle that the sentence names. If none is named, look whether the hook and Metacontroller run.",
        services.missing,
    ),
    "drifted": Kind(
        "The object differs from what the Service and the settings ask for.",
        "As with `missing`. Changed settings take up to six minutes.",
        services.drifted,
    ),
    "unguarded": Kind(
        "An annotation that protects stands on the object alone: once it is made anew, it is open.",
        "Put the annotation onto the Service, which is then refused if its protection would be lost.",
        services.unguarded,
    ),
    "unwanted": Kind(
        "The Service no longer asks for the object.",
        "Delete it: it doesn't come back. Look whether the hook and Metacontroller run.",
        services.unwanted,
    ),
    "detached": Kind(
        "The object has our label or annotation, but lacks its owner, Metacontroller's annotation or its Service.",
        "Attach it if a Service asks for it, else take the label off: it serves on, unless its Service is gone.",
        services.detached,
    ),
    "no-class": Kind(
        "There is no IngressClass of that name, or no default one.",
        "State the class of a controller that runs, by ingress/class or defaults.class.",
        of_each(answers.no_class),
    ),
    "not-accepted": Kind(
        "The Gateway's controller rejects the object, or has said nothing for minutes; or there is no Gateway.",
        "Do as the controller's sentence says. For a Gateway that isn't there, the administrator states another.",
        of_each(answers.not_accepted),
    ),
    "no-endpoints": Kind(
        "The Service has no ready endpoint that serves its port. Its host answers 502 or 503.",
        "Correct the Service's selector or targetPort, or the Pods. Without a selector, it needs an EndpointSlice.",
        of_each(answers.no_endpoints),
    ),
    "certificate": Kind(
        "The Secret isn't there or has no certificate; or that isn't valid now, or isn't for one of the hosts.",
        "Make a Secret of the type kubernetes.io/tls, renew its certificate, or name another by ingress/tls-secret.",
        of_each(answers.certificate),
    ),
    "claimed-twice": Kind(
        "Two objects claim one host and path, or two ListenerSets one host and port. One gets no requests.",
        "Give one of them another host or path; a host has one ListenerSet, whatever its paths.",
        claimed_twice,
        Severity.WARNING,
    ),
    "not-copied": Kind(
        "Annotations look meant for an ingress controller, protect nothing, and are not copied.",
        "Take them off; or the administrator allows them in limits.copyAnnotations.",
        services.not_copied,
        Severity.WARNING,
    ),
    "no-http": Kind(
        "An entrance has annotations, but no `ingress/http`: nothing is made for it.",
        'State ingress/http: "true" to publish the Service; else take the others off.',
        services.no_http,
        Severity.HINT,
    ),
}
"""What each kind means, in the order in which findings are reported."""

REMOVED, MOVED, REFUSED, CHANGED, CREATED = EFFECTS = ("removed", "moved", "refused", "changed", "created")
"""What other settings would do, in the order in which it is told. What is moved no longer answers all that it does."""

OF_KIND = {"refused": REFUSED, "drifted": CHANGED, "missing": CREATED}
"""What the hook or Metacontroller does about a kind of findings."""

TAKING = {REMOVED, MOVED}
"""What takes away something that answers."""


class Looked(NamedTuple):
    """What one look has seen."""

    snapshot: Snapshot
    around: Surroundings
    findings: list[Finding]
    events: Sequence[Item]
    """What Metacontroller has reported of Services, as far as a finding needs it."""

    unseen: list[str]
    """What could not be looked at, a sentence each."""

    is_blind: bool
    """Whether that is something on which most rests: objects, Events or the settings."""


def audit_of(
    snapshot: Snapshot, policy: Policy | None, around: Surroundings, kinds: Collection[str] = KINDS
) -> list[Finding]:
    """Return what needs a person in a snapshot in which nothing is paused, by kind and then by namespace and name.

    `policy` says what is paused: what a pause holds back, somebody has to know. Nothing is found for want of what could
    not be looked at.
    """
    seen = Seen(snapshot, policy, around)
    return [
        each._replace(kind=kind, severity=row.severity)
        for kind, row in KINDS.items()
        if kind in kinds
        for each in sorted(row.find(seen), key=lambda each: (each.item.full_name, str(each.item)))
    ]


def is_unexplained(finding: Finding) -> bool:
    """Return whether something was found that Events may explain."""
    return finding.command == SYNC_ALL


def with_reason(finding: Finding, reports: Mapping[str, Report] | None) -> Finding:
    """Return a finding, with what is in the way by the Services' reports; None: these could not be looked at."""
    if not is_unexplained(finding):
        return finding
    service = finding.service or finding.item
    report = (reports or {}).get(str(service.metadata.get("uid") or ""))
    if report is None and reports is not None:
        return finding._replace(sentence=f"{finding.sentence}, and no Event of its Service says why")
    said = f"; Metacontroller said at {report.time}: {report.sentence.removeprefix('Sync error: ')}" if report else ""
    return finding._replace(sentence=finding.sentence + said, command=kubectl("describe", service))


def preview(snapshot: Snapshot, policy: Policy) -> list[Finding]:
    """Return what the settings `policy`, by which the snapshot is decided, would do once nothing is paused."""
    done = audit_of(snapshot, policy.without_pause(), Surroundings(), OF_KIND)
    changed = (_effect(snapshot, each) for each in done if each.kind == "refused" or is_unexplained(each))
    found = [*_removed(snapshot), *changed]
    found.sort(key=lambda each: EFFECTS.index(each.kind))
    return [each._replace(severity=Severity.ERROR if each.kind in TAKING else Severity.HINT) for each in found]


def _removed(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield the objects that the hook would remove, and why. What is forbidden goes first, and may be made anew.

    What is made anew is yielded twice: as removed, and as created.
    """
    for _, service in sorted(snapshot.services.items()):
        if service.item.is_being_deleted or isinstance(service.decision, Refused | None):
            continue
        # If the Service is refused, all that was made for it goes.
        why_all = next(iter(service.forbidden.values()), None) if service.refused else None
        for key, each in sorted(service.observed.items()):
            if key in service.desired or each.item.is_being_deleted:
                continue
            problem = service.forbidden.get(key, why_all)
            sentence = problem.told() if problem else f"Service {service.item.full_name} doesn't ask for it"
            if key in snapshot.desired_once_allowed(service):
                sentence += "; it is then made anew"
                yield Finding(service.item, f"its {' '.join(key)} is made anew", kind=CREATED)
            yield Finding(each.item, sentence, kind=REMOVED)


def _effect(snapshot: Snapshot, finding: Finding) -> Finding:
    """Return what would be done about a finding. No person has to do it."""
    effect, sentence = OF_KIND[finding.kind], finding.sentence
    if effect == CHANGED and (lost := _lost(snapshot, finding.item)):
        effect, sentence = MOVED, f"{listed(lost)} would answer no more: {sentence}"
    return finding._replace(kind=effect, sentence=sentence, command=())


def _lost(snapshot: Snapshot, item: Item) -> list[str]:
    """Return the hosts and paths that an object would no longer answer, or not in the same class or Gateway."""
    each = snapshot.objects[item.object["kind"], item.full_name]
    service = snapshot.owner_of(each)
    if service is None:
        return []
    then = merged(item, service.desired[each.key])
    metadata = {**item.metadata, **then["metadata"]}
    kept = {*claims_of(as_object(Item({**item.object, "metadata": metadata, "spec": then["spec"]})))}
    return list(dict.fromkeys(str(claim) for claim in claims_of(each) if claim not in kept))
