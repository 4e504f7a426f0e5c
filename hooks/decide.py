"""The decision: what should exist for a Service. The whole flow on one page, without any I/O."""

from zlib import crc32

import msgspec

from hooks import annotations, refusals
from hooks.errors import Problem, Reason, Refused
from hooks.exposure import expose
from hooks.kubernetes import Object, Observed, Service
from hooks.outputs import OUTPUTS
from hooks.policy import Policy, in_namespace

RECHECK_SECONDS = 2
RESYNC_SECONDS = range(240, 361)
PAUSE_SECONDS = range(60, 91)

LARGEST_OBJECT = 100_000
"""Bytes. Metacontroller stores what it applied last as an annotation, beside those that we copy, and an object's
annotations may have 262,144 bytes in all: what is larger would be refused by the API server at each try."""

LINE_SEPARATORS = ("\u2028".encode(), "\u2029".encode())


class Decision(msgspec.Struct, frozen=True):
    """What should become of a Service."""

    wanted: bool
    """Whether the Service asks to be exposed."""

    objects: tuple[Object, ...] = ()
    """The objects that should exist; any other that was made for the Service should not."""

    resync_after: int | None = None
    """Seconds until this is to be decided again; None: when something changes."""

    refused: Refused | None = None
    """Why nothing should change instead; `objects` is then empty and means nothing."""


def decide(service: Service, observed: Observed, policy: Policy) -> Decision:
    """Return what should exist for `service`, given what was made for it before and is there now. Never raises."""
    wishes = annotations.read(service.metadata.annotations or {})
    if policy.paused and (wishes or any(observed.values())):
        return Decision(wanted=wishes is not None, refused=pause(service))
    if wishes is None:
        return Decision(wanted=False)
    here = in_namespace(policy, service.metadata.namespace)
    try:
        exposure = expose(service, wishes, here)
        objects = tuple([made for output in here.outputs for made in OUTPUTS[output](exposure)])
        for made in objects:
            refuse_too_large(made)
    except Refused as refused:
        return Decision(wanted=True, refused=refused)
    return Decision(wanted=True, objects=objects, resync_after=resync_after(service, objects, observed))


def pause(service: Service) -> Refused:
    """Return the refusal that stops everything for a while."""
    problem = Problem("ingress-manager is paused by its settings", Reason.PAUSED)
    return Refused(429, [problem], retry_after=spread(service, PAUSE_SECONDS))


def resync_after(service: Service, objects: tuple[Object, ...], observed: Observed) -> int:
    """Return after how many seconds the Service is to be synced again.

    An object that isn't there yet is looked for soon: Metacontroller doesn't say when its create met an object of the
    same name. One that is there is looked at now and then, so that changed settings reach it.
    """
    missing = [made for made in objects if not is_observed(made, observed)]
    return RECHECK_SECONDS if missing else spread(service, RESYNC_SECONDS)


def is_observed(made: Object, observed: Observed) -> bool:
    """Return whether an object of that kind and name is there now."""
    of_kind = observed.get(f"{made['kind']}.{made['apiVersion']}", {})
    return f"{made['metadata']['namespace']}/{made['metadata']['name']}" in of_kind


def spread(service: Service, seconds: range) -> int:
    """Return one of the seconds, always the same for one Service: what many do at once holds up all others."""
    return seconds[crc32(service.metadata.uid.encode()) % len(seconds)]


def refuse_too_large(made: Object) -> None:
    """Raise Refused (422) when the object is larger than Metacontroller can apply."""
    text = msgspec.json.encode(made)
    # No byte becomes more than six: only what is large already has to be counted.
    if len(text) * 6 > LARGEST_OBJECT and (size := size_in_go(text)) > LARGEST_OBJECT:
        raise Refused(422, [refusals.too_large(made["kind"], size, LARGEST_OBJECT)])


def size_in_go(text: bytes) -> int:
    """Return how many bytes the same JSON has as Go writes it, which escapes <, >, & and two line separators."""
    return len(text) + 5 * sum(map(text.count, b"<>&")) + 3 * sum(map(text.count, LINE_SEPARATORS))
