"""`play`: what somebody types, Services and settings, and what the page shows beside it. The pure part.

It is what `render` prints: the same function decides. Any text has a result.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from ingress_manager.commands.printing.messages import Message, counted
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.reasons import REASONS
from ingress_manager.commands.render.rendering import render
from ingress_manager.core.errors import Reason, SettingsError
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from ingress_manager.core.text import one_line

SERVICE, SETTINGS = "service", "settings"
"""The two texts."""

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class State(StrEnum):
    """What there is to say about all that was typed."""

    FINE = "fine"
    REFUSED = "refused"
    NOTHING = "nothing"
    SETTINGS = "settings"
    """The settings can't be used, so nothing can be decided."""


class Mistake(msgspec.Struct, frozen=True):
    """One thing that is wrong, and where."""

    field: str
    """SERVICE or SETTINGS."""

    line: int
    """Counted from 1; 0 when no line of the text can be named."""

    about: str
    """The object, as namespace/name; empty when it is about a text."""

    sentence: str
    remedy: str = ""
    """What to do about it; empty when the sentence alone says it, or it was said of another mistake."""


class Made(msgspec.Struct, frozen=True):
    """One of the objects that are made."""

    name: str
    """Its kind, namespace and name, as in "Ingress team-a/shop"."""

    text: str


class Result(msgspec.Struct, frozen=True):
    """What becomes of the two texts."""

    state: State
    headline: str
    mistakes: list[Mistake] = []
    notes: list[str] = []
    objects: list[Made] = []


def play(service: str, settings: str) -> Result:
    """Return what the Services in a text of YAML or JSON become with the settings in another. Never raises."""
    service, settings = (_HALF_CHARACTER.sub("\ufffd", text) for text in (service, settings))
    try:
        policy = parse(settings)
    except SettingsError as error:
        mistake = Mistake(SETTINGS, error.line, "", error.sentence)
        return Result(State.SETTINGS, "The settings are wrong: the hook would not start with them.", [mistake])
    manifests = read(service, SERVICE)
    rendered = render(manifests.items, policy.without_pause())
    mistakes = list(_mistakes([*manifests.unreadable, *rendered.messages]))
    state, headline = _summary(any(manifests.of_kind(SERVICES)), len(mistakes), rendered.objects)
    notes = list(_notes(policy, refused=any(each.reason for each in rendered.messages)))
    return Result(state, headline, mistakes, notes, [_made(each) for each in rendered.objects])


def _summary(has_service: bool, mistakes: int, objects: list[Object]) -> tuple[State, str]:
    kinds = Counter(each["kind"] for each in objects)
    found = " and ".join(counted(count, kind) for kind, count in kinds.items())
    if mistakes:
        rest = f" Beside that, it becomes {found}." if found else ""
        return State.REFUSED, f"Refused: {counted(mistakes, 'mistake')}.{rest}"
    if found:
        return State.FINE, f"Fine: it becomes {found}."
    missing = 'no Service here has the annotation ingress/http: "true"' if has_service else "there is no Service here"
    return State.NOTHING, f"Nothing wanted: {missing}."


def _notes(policy: Policy, *, refused: bool) -> Iterator[str]:
    if refused:
        yield "On a cluster, what is refused changes nothing, and the reasons are an Event of the Service."
    if policy.pauses:
        yield f"The settings pause {policy.pauses}: nothing changes there until paused is false."


def _mistakes(messages: Iterable[Message]) -> Iterator[Mistake]:
    """Yield what is wrong with the Services. What helps against several mistakes is said once."""
    said = {""}
    for message in messages:
        remedy = REASONS[Reason(message.reason)].remedy if message.reason else ""
        # What is about a text is the end of a sentence, before which other commands name the file.
        sentence = one_line(message.told if message.about else f"The text {message.sentence}")
        yield Mistake(SERVICE, message.line, one_line(message.about), sentence, "" if remedy in said else remedy)
        said.add(remedy)


def _made(desired: Object) -> Made:
    metadata = desired["metadata"]
    return Made(f"{desired['kind']} {metadata['namespace']}/{metadata['name']}", as_yaml(desired))
