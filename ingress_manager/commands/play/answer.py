"""`play`: what somebody types, Services and settings, and what the page shows beside it. The pure part.

It is what `render` prints: the same function decides. Any text has a result.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item, read
from ingress_manager.commands.reading.yaml_documents import YamlLines
from ingress_manager.commands.render.rendering import render
from ingress_manager.core.errors import REASONS, Problem, Reason, SettingsError
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from ingress_manager.core.strict_yaml import load_text
from ingress_manager.core.text import listed, one_line, quoted

MOST_SERVICES = 50
"""Services that are looked at. Somebody types one; who pastes a whole cluster is told of `render`."""

MOST_MISTAKES = 100
"""Mistakes that are shown. A person mends them one by one, and a browser is slow with many thousands."""

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_PLACE = re.compile(r"\(line (\d+), column \d+\)\Z")
"""How ingress_manager.core.strict_yaml says where a text is no YAML."""


class State(StrEnum):
    """What there is to say about all that was typed."""

    FINE = "fine"
    REFUSED = "refused"
    NOTHING = "nothing"
    """No Service asks to be exposed."""

    SETTINGS = "settings"
    """The settings can't be used, so nothing can be decided."""


class Field(StrEnum):
    """The two texts."""

    SERVICE = "service"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong, and where."""

    field: Field
    line: int
    """Counted from 1; 0 when no line of the text can be named."""

    about: str
    """The object, as namespace/name; empty when it is about a text."""

    sentence: str
    remedy: str = ""
    """What to do about it; empty when the sentence alone says it, or it was said of another mistake."""


@dataclass(frozen=True, slots=True)
class DesiredObject:
    """One of the objects that are made."""

    name: str
    """Its kind, namespace and name, as in "Ingress team-a/shop"."""

    text: str
    """All of it, in YAML."""


@dataclass(frozen=True, slots=True)
class Result:
    """What becomes of the two texts."""

    state: State
    headline: str
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()
    """What is worth knowing, and wrong with nothing."""

    objects: tuple[DesiredObject, ...] = ()


def play(service: str, settings: str) -> Result:
    """Return what the Services in a text of YAML or JSON become with the settings in another. Never raises."""
    service, settings = (_HALF_CHARACTER.sub("\ufffd", text) for text in (service, settings))
    try:
        policy = parse(settings)
    except SettingsError as error:
        mistakes = tuple(_mistakes_of_settings(settings, error.sentences[:MOST_MISTAKES]))
        notes = tuple(_not_shown(len(error.sentences)))
        return Result(State.SETTINGS, "The settings are wrong: the hook would not start with them.", mistakes, notes)
    return _decided(service, policy)


def _decided(text: str, policy: Policy) -> Result:
    """Return what the Services in a text become."""
    manifests = read(text, Field.SERVICE)
    services = [item for item in manifests.items if item.kind == SERVICES]
    rendered = render(services[:MOST_SERVICES], msgspec.structs.replace(policy, paused=False))
    messages = [*manifests.unreadable, *rendered.messages]
    mistakes = tuple(_mistakes(messages[:MOST_MISTAKES]))
    objects = tuple(_shown(each) for each in rendered.objects)
    state, headline = _summary(len(services), len(messages), rendered.objects)
    refused = any(message.reason for message in messages)
    notes = (*_not_shown(len(messages)), *_notes(manifests.items, policy, refused=refused))
    return Result(state, headline, mistakes, notes, objects)


def _summary(services: int, mistakes: int, objects: list[Object]) -> tuple[State, str]:
    kinds = Counter(each["kind"] for each in objects)
    found = " and ".join(_counted(count, kind) for kind, count in kinds.items())
    if mistakes:
        rest = f" Beside that, it becomes {found}." if found else ""
        return State.REFUSED, f"Refused: {_counted(mistakes, 'mistake')}.{rest}"
    if found:
        return State.FINE, f"Fine: it becomes {found}."
    missing = 'no Service here has the annotation ingress/http: "true"' if services else "there is no Service here"
    return State.NOTHING, f"Nothing wanted: {missing}."


def _not_shown(mistakes: int) -> Iterator[str]:
    if mistakes > MOST_MISTAKES:
        yield f"Only the first {MOST_MISTAKES} of {mistakes} mistakes are shown."


def _notes(items: list[Item], policy: Policy, *, refused: bool) -> Iterator[str]:
    if refused:
        yield "On a cluster, what is refused changes nothing, and the reasons are an Event of the Service."
    if policy.paused:
        yield "The settings pause ingress-manager: nothing changes on the cluster until paused is false."
    others = [item.kind.strip("/") or "no kind" for item in items if item.kind != SERVICES]
    if others:
        kinds = listed(list(dict.fromkeys(others)), quoted)
        yield f"Only objects of v1/Service are looked at. {_counted(len(others), 'other')} skipped: {kinds}."
    if len(items) - len(others) > MOST_SERVICES:
        yield f"Only the first {MOST_SERVICES} Services are looked at. `ingress-manager render` takes any number."


def _counted(count: int, thing: str) -> str:
    plural = "es" if thing.endswith("s") else "s"
    return f"{count} {thing}{'' if count == 1 else plural}"


def _mistakes(messages: Iterable[Message]) -> Iterator[Mistake]:
    """Yield what is wrong with the Services. What helps against several mistakes is said once."""
    said = {""}
    for message in messages:
        remedy = REASONS[Reason(message.reason)].remedy if message.reason else ""
        # What is about a text is the end of a sentence, before which other commands name the file.
        sentence = one_line(message.sentence if message.about else f"The text {message.sentence}")
        about = one_line(message.about)
        yield Mistake(Field.SERVICE, message.line, about, sentence, "" if remedy in said else remedy)
        said.add(remedy)


def _shown(desired: Object) -> DesiredObject:
    metadata = desired["metadata"]
    return DesiredObject(f"{desired['kind']} {metadata['namespace']}/{metadata['name']}", as_yaml(desired))


def _mistakes_of_settings(text: str, sentences: Iterable[str]) -> Iterator[Mistake]:
    """Yield what is wrong with the settings, each with the line of the field that its sentence begins with."""
    try:
        settings = load_text(text)
    except Problem:
        settings = None
    lines = YamlLines(text)
    for sentence in sentences:
        place = _PLACE.search(sentence)
        steps = list(_steps(settings, sentence))
        line = min(int(place[1]), text.count("\n") + 1) if place else lines.line(steps) + 1 if steps else 0
        yield Mistake(Field.SETTINGS, line, "", sentence)


def _steps(value: Any, sentence: str) -> Iterator[str | int]:
    """Yield the keys and the numbers that lead to the value whose path a sentence begins with."""
    while True:
        if isinstance(value, dict):
            known = {one_line(key): key for key in value}
            named = max(filter(lambda key: _begins(sentence, key), known), key=len, default=None)
            if named is None:
                return
            step: str | int = known[named]
            sentence = sentence.removeprefix(named).removeprefix(".")
        elif isinstance(value, list) and (found := re.match(r"\[(\d+)\]\.?", sentence)):
            step = int(found[1])
            sentence = sentence[found.end() :]
        else:
            return
        yield step
        value = value[step]


def _begins(sentence: str, key: str) -> bool:
    """Return whether a key is the first step of the path that a sentence begins with."""
    return bool(key) and sentence.startswith(key) and sentence[len(key) : len(key) + 1] in {".", ":", "[", " "}
