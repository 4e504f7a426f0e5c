"""Decides which objects should exist for a Service.

Metacontroller sends a Service and its **observed** objects, which exist and were made for it.

| the Service      | observed                         | decision     | effect                                       |
|------------------|----------------------------------|--------------|----------------------------------------------|
| is paused        | any                              | Refused      | nothing changes                              |
| requests nothing | any                              | Desired      | all objects are removed                      |
| is valid         | none that is forbidden           | Desired      | the requested objects exist, and no others   |
| is valid         | a forbidden object               | RemovedFirst | it is removed; the next sync recreates it    |
| has a mistake    | neither of these:                | Refused      | nothing changes                              |
|                  | a forbidden object               | RemovedFirst | all are removed, then the Service is refused |
|                  | an object of a disabled entrance | RemovedFirst | all are removed, then the Service is refused |

A forbidden object isn't updated in place, because an admission webhook could reject the update and so keep it. The
Service's owner can't prevent a removal.
"""

from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from zlib import crc32

import msgspec

from ingress_manager.core.annotations import Requested, entrance_of, read_entrances
from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import LARGEST_ANSWER, LARGEST_OBJECT, MOST_ENTRANCES, MOST_OBJECTS
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.exposure import check_claims, expose
from ingress_manager.core.forbidden import is_as_answered, why_forbidden
from ingress_manager.core.kubernetes import Key, Object, Observed, Service, key_of
from ingress_manager.core.outputs import make_objects
from ingress_manager.core.settings import Settings
from ingress_manager.core.vocabulary import is_for_controllers

RECHECK_SECONDS = range(4, 9)
"""Seconds until the next sync of a Service that has just changed and lacks an object."""

RESYNC_SECONDS = range(240, 361)
"""Seconds until the next sync of a Service whose objects all exist. Changed settings take effect then."""

WRITE, REMOVAL = "write", "removal"
"""The changes that Metacontroller attempts. The API server may reject either."""

LINE_SEPARATORS = ("\u2028".encode(), "\u2029".encode())
MOST_GROWTH_IN_GO = 6
"""Go's JSON is at most this many times as long as Python's, because it escapes <, >, & and line separators."""

LONGEST_MISSING = 250  # characters for the names of missing objects; the whole message can have LONGEST_REFUSAL


class Desired(msgspec.Struct, frozen=True):
    """The decision that exactly these objects should exist for a Service."""

    objects: Mapping[Key, Object] = {}
    missing: Sequence[Key] = ()
    """The desired objects that don't exist yet."""


class Refused(msgspec.Struct, frozen=True):
    problems: Problems

    @property
    def is_paused(self) -> bool:
        return self.problems.kept[0].reason is Reason.PAUSED


class RemovedFirst(msgspec.Struct, frozen=True):
    """The decision to remove forbidden objects now. The next sync recreates them, or refuses the Service."""

    objects: Mapping[Key, Object]
    """The desired objects that aren't forbidden; none if the Service has a mistake."""
    forbidden: Mapping[Key, Problem]
    """Why each object is forbidden, or {} if objects are removed only because an entrance is disabled."""
    problems: Problems | None = None
    """The mistakes for which the next sync refuses the Service, or None if it recreates the objects."""


Decision = Desired | Refused | RemovedFirst


def refusal_of(decision: Decision) -> Problems | None:
    """Return why the Service is refused, either now or in the next sync. If it isn't refused, return None."""
    return None if isinstance(decision, Desired) else decision.problems


def decide(service: Service, observed: Observed, settings: Settings) -> Decision:
    """Decide which objects should exist for a Service. `observed` contains the existing ones. Never raises."""
    requested, existing = read_entrances(service.metadata.annotations or {}), observed.all()
    if settings.entry_for(service.metadata.namespace).paused and (requested or existing):
        return Refused(Problems([Problem("the settings pause ingress-manager in this namespace", Reason.PAUSED)]))
    if not requested:
        return Desired()
    problems = Problems()
    desired = desired_objects(service, requested, observed, settings, problems)
    is_refused = bool(problems.kept)
    removals: dict[Key, Problem] = {}
    for key, item in existing.items():
        if problem := next(why_forbidden(item, service, settings, desired.get(key), is_refused=is_refused), None):
            removals[key] = problem
    if is_refused:
        # Either all objects stay (a refusal is an HTTP error), or all are removed: we make none for a Service with a
        # mistake. Switching an entrance off overrides any mistake.
        is_off = any(entrance_of(service.metadata.name, name) not in requested for _, name in existing)
        return RemovedFirst({}, removals, problems) if removals or is_off else Refused(problems)
    if removals:
        return RemovedFirst({key: desired[key] for key in desired if key not in removals}, removals)
    return Desired(desired, [key for key in desired if key not in existing])


def desired_objects(
    service: Service, requested: Mapping[str, Requested], observed: Observed, settings: Settings, problems: Problems
) -> dict[Key, Object]:
    """Return the objects of all entrances, and add every mistake to `problems`."""
    objects: list[Object] = []
    claims: dict[Hashable, tuple[Basis, str]] = {}
    can_clash = sum([len(entrance.routes) for entrance in requested.values()]) > 1
    annotations = service.metadata.annotations or {}
    for_controllers = {key: value for key, value in annotations.items() if is_for_controllers(key)}
    # Nine at most: if more named entrances are on, all have the same problem.
    for name, entrance in islice(requested.items(), MOST_ENTRANCES + 1):
        effective = effective_settings(settings, service.metadata.namespace, entrance.profile)
        basis = Basis(service, observed, name, entrance, effective, Problems())
        exposure = expose(basis, for_controllers)
        if exposure and can_clash:
            check_claims(exposure, claims)
        if exposure and not basis.problems.kept:
            objects += make_objects(exposure)
        problems.extend(basis.problems.kept, basis.problems.more)
    if not problems.kept:
        check_bounds(objects, problems)
    return {key_of(item): item for item in objects}


def check_bounds(objects: Sequence[Object], problems: Problems) -> None:
    if len(objects) > MOST_OBJECTS:
        sentence = (
            f"this Service would need {len(objects)} objects; the limit is {MOST_OBJECTS}. "
            "Use fewer entrances or hosts, or give several hosts the same paths, so that they share an HTTPRoute"
        )
        problems.add(sentence, Reason.TOO_MANY_OBJECTS)
    elif len(msgspec.json.encode(objects)) * MOST_GROWTH_IN_GO > LARGEST_OBJECT:
        texts = [msgspec.json.encode(item) for item in objects]
        escapes = [5 * sum(map(text.count, b"<>&")) + 3 * sum(map(text.count, LINE_SEPARATORS)) for text in texts]
        sizes = [len(text) + more for text, more in zip(texts, escapes, strict=True)]
        if (largest := max(sizes)) > LARGEST_OBJECT:
            kind = objects[sizes.index(largest)]["kind"]
            problems.add(f"the {kind} would be {largest} bytes; the limit is {LARGEST_OBJECT}", Reason.TOO_LARGE)
        elif sum(sizes) > LARGEST_ANSWER:
            start = f"this Service's {len(objects)} objects would be {sum(sizes)} bytes in total"
            problems.add(f"{start}; the limit is {LARGEST_ANSWER}", Reason.TOO_LARGE)


def not_made(service: str, missing: Sequence[Key]) -> Problem:
    """Return a problem saying that requested objects of a Service (NAMESPACE/NAME) still don't exist."""
    shown = [" ".join(key) for key in missing]
    while len(", ".join(shown)) > LONGEST_MISSING and len(shown) > 1:
        shown.pop()
    more = f" and {len(missing) - len(shown)} more" if len(shown) < len(missing) else ""
    verb, article = ("do", "a") if missing[1:] else ("does", "its")
    sentence = (
        f"{', '.join(shown)}{more} {verb}n't exist yet: {article} name is taken, or a quota or admission webhook "
        f"denies the creation. `ingress-manager status {service}` shows the cause"
    )
    return Problem(sentence, Reason.NOT_MADE)


def next_attempt(desired: Mapping[Key, Object], observed: Observed) -> str:
    """Return what Metacontroller will attempt (REMOVAL or WRITE), or "" if exactly the desired objects exist."""
    existing = observed.all()
    if existing.keys() - desired.keys():
        return REMOVAL
    records = {key: existing[key].metadata.annotations or {} for key in desired if key in existing}
    is_done = all(key in records and is_as_answered(records[key], item) for key, item in desired.items())
    return "" if is_done else WRITE


def recheck_after(service: Service, age: float) -> int:
    """Return the seconds until the next sync of a Service that lacks an object and changed `age` seconds ago.

    Metacontroller reports no error if the object's name is taken, so the next sync must check soon. The name can stay
    taken, so the wait grows with `age`. Otherwise, failing Services would delay others.
    """
    return min(spread(service, RESYNC_SECONDS), max(int(age / 4), spread(service, RECHECK_SECONDS)))


def spread(service: Service, seconds: range) -> int:
    """Return one of `seconds`, always the same for a given Service.

    Syncs are spread out, because many in one second would delay every change.
    """
    return seconds[crc32(service.metadata.uid.encode()) % len(seconds)]
