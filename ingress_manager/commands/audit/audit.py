"""`audit`: what of a cluster needs a person, and the command that fixes it. The pure part.

Each Service is decided on as the hook would, and what stands is compared with that as Metacontroller would. So what is
found is what these two would do, or can't do. What was read is one look: a change that is a second old can be in it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from ingress_manager.commands.audit.kinds import KINDS, OBJECTS
from ingress_manager.commands.audit.seen import Finding, Seen
from ingress_manager.commands.reading.kinds import SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.known import SETTINGS, Known, Unknown
from ingress_manager.commands.view.look import View, look
from ingress_manager.commands.view.surroundings import Surroundings
from ingress_manager.core.policy import Policy


class Count(msgspec.Struct, frozen=True):
    """How many objects there are of a kind."""

    all: int
    ours: int
    """The Services that ask to be exposed, and what says that ingress-manager made it."""


class Unseen(msgspec.Struct, frozen=True):
    """What could not be looked at, why, and which kinds of findings are therefore not made, or not all of them."""

    what: str
    """SERVICE, one of OBJECTS, "settings", or an object."""

    sentence: str
    findings: list[str]
    """Keys of KINDS."""


@dataclass(slots=True)
class Audit:
    """What was found, by kind and then by namespace and name, and in how much."""

    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, Count] = field(default_factory=dict)
    paused: str = ""
    """What is paused, as a person would say it; "" for nothing."""

    unseen: list[Unseen] = field(default_factory=list)
    scope: str = ""
    """What was not looked at because nobody asked for it, as a sentence; "" where all was."""

    is_preview: bool = False
    """Whether the findings are what other settings would do."""

    options: Sequence[str] = ()
    """kubectl's options that say which cluster; every command has them."""


def audit(
    items: Iterable[Item], policy: Policy | Unknown, known: Known | None = None, around: Surroundings | None = None
) -> Audit:
    """Return what needs a person among the items. Nothing is found for want of what could not be looked at."""
    return audit_of(look_at(items, policy, known), policy, around)


def look_at(items: Iterable[Item], policy: Policy | Unknown, known: Known | None = None) -> View:
    """Return the view that is judged: as if nothing were paused. What a pause holds back, somebody has to know."""
    return look(items, policy.without_pause() if isinstance(policy, Policy) else policy, known)


def audit_of(
    view: View, policy: Policy | Unknown, around: Surroundings | None = None, kinds: Collection[str] = KINDS.keys()
) -> Audit:
    """Return what needs a person in a view in which nothing is paused, of some kinds; `policy` says what is paused.

    What rests on something unknown isn't found.
    """
    around = around or Surroundings()
    seen = Seen(view, policy, around)
    unknown = {SETTINGS, SERVICE} & view.unseen().keys()
    found = [
        each._replace(kind=kind)
        for kind, row in KINDS.items()
        if kind in kinds and unknown.isdisjoint(row.needs)
        for each in sorted(row.find(seen), key=lambda each: (each.item.full_name, str(each.item)))
    ]
    pauses = policy.pauses if isinstance(policy, Policy) else ""
    return Audit(found, counts(view), pauses, list(unseen(view, around)))


def counts(view: View) -> dict[str, Count]:
    services = view.services.values()
    found = {SERVICE: Count(len(services), sum(service.is_exposed for service in services))}
    for kind in OBJECTS:
        objects = [each for each in view.objects.values() if each.kind == kind]
        if objects or kind not in view.known.unread:
            found[kind] = Count(len(objects), sum(each.looks_ours for each in objects))
    return found


def unseen(view: View, around: Surroundings) -> Iterator[Unseen]:
    for what, sentence in view.unseen().items():
        yield Unseen(what, sentence, [kind for kind, row in KINDS.items() if what in row.needs])
    for whats, sentence in around.unseen():
        kinds = [kind for kind, row in KINDS.items() if not {*whats}.isdisjoint(row.needs)]
        yield Unseen(", ".join(whats), sentence, kinds)
