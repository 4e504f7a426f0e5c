"""YAML without its traps: every key once, no tags, no anchors, no merge keys, nothing deep."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import yaml

from ingress_manager.core.errors import Problem
from ingress_manager.core.text import LONGEST_KEY, cut

DEEPEST = 8
"""Levels of nesting. Settings have eight; thousands would exhaust the stack of the code that reads them."""

NO_KEY = "must not use a list or a mapping as a key"
TOO_DEEP = "is nested too deeply"

TOO_DEEP_FOR_LIBYAML = "exceeded maximum nesting depth"
"""What libyaml calls it, since PyYAML 6.0.4. It reads ahead, so it can say so before any level was counted here."""

_PLAIN = {"found unhashable key": NO_KEY, TOO_DEEP_FOR_LIBYAML: TOO_DEEP}


class YamlProblem(Problem):
    """A text that can't be read, why, and PyYAML's mark of the place."""

    def __init__(self, what: str, mark: Any = None) -> None:
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        super().__init__(f"{what}{where}")
        self.what = what
        self.line = mark.line + 1 if mark else 0
        """From 1; 0: not known."""


class _Typed(yaml.CSafeLoader):
    """Scalars become null, booleans, numbers or text; no dates."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping. Raises YamlProblem when it has a key twice: PyYAML silently keeps the last."""
        mapping = super().construct_mapping(node, deep)
        stated: dict[Any, str] = {}
        for key, _ in node.value:
            value = self.construct_object(key)
            if value in stated:
                raise YamlProblem(_twice(stated[value], key.value), key.start_mark)
            stated[value] = key.value
        return mapping

    def construct_number(self, node: yaml.ScalarNode) -> Any:
        """Return a number; one in base 60, which no other YAML knows, is text.

        One that Python can't read becomes NaN: it is no text, nor a number that a setting takes.
        """
        if ":" in node.value:
            return node.value
        try:
            return yaml.CSafeLoader.yaml_constructors[node.tag](self, node)
        except ValueError:
            return float("nan")


_Typed.add_constructor("tag:yaml.org,2002:int", _Typed.construct_number)
_Typed.add_constructor("tag:yaml.org,2002:float", _Typed.construct_number)
_Typed.yaml_implicit_resolvers = {
    # Dates stay text, and so does a single =, which PyYAML knows a type for but can't build.
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":value"))]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def load_typed(text: str, most: int) -> Any:
    """Return the value of a YAML document, or None for an empty one.

    Raises Problem, also when it has more than `most` keys, values, lists and mappings.
    """
    with _told():
        deque(_events(text, most), maxlen=0)
        return yaml.load(text, _Typed)  # noqa: S506 - it builds plain values only


def load_text(text: str, most: int | None = None) -> Any:
    """Return the value of a YAML document, or None for an empty one. Every scalar stays the text that it is: 010 is not
    8, 1:20 is not 80, and `no` is not False.

    Raises Problem, also when it has more than `most` keys, values, lists and mappings.
    """
    with _told():
        events = _events(text, most)
        found = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if found is not None:
                    raise YamlProblem("is not YAML: but found another document", event.start_mark)
                found = _value(next(events), events)
        return found


class Lines:
    """The lines of a text that can be read."""

    def __init__(self, text: str) -> None:
        self._root = yaml.compose(text, yaml.CBaseLoader)

    def line(self, path: Sequence[str | int]) -> int:
        """Return the line, from 1, of a field, or of the nearest one around it that is there; 0 for the whole text."""
        node: Any = self._root
        line = 0
        for step in path:
            if isinstance(step, int):
                node = stands = node.value[step]
            elif (found := _entry(node, step)) is not None:
                stands, node = found
            else:
                break
            line = stands.start_mark.line + 1
        return line


def _entry(node: Any, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the key of a mapping with its value; None where there is no such key."""
    entries = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((entry for entry in entries if entry[0].value == key), None)


@contextmanager
def _told() -> Iterator[None]:
    """Raise Problem for what PyYAML raises."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise YamlProblem("holds half of a character") from error
    except yaml.MarkedYAMLError as error:
        what = _PLAIN.get(str(error.problem), f"is not YAML: {error.problem}")
        raise YamlProblem(what, error.problem_mark) from error
    except yaml.YAMLError as error:
        raise YamlProblem(f"is not YAML: {str(error).splitlines()[0]}") from error


def _events(text: str, most: int | None) -> Iterator[yaml.Event]:
    """Yield the events of a text. Raises YamlProblem for a trap."""
    depth = nodes = 0
    for event in yaml.parse(text, yaml.CBaseLoader):
        if isinstance(event, yaml.NodeEvent):
            if event.anchor:  # of an alias, it is what it stands for
                raise YamlProblem("must not use anchors (&) or aliases (*)", event.start_mark)
            if getattr(event, "tag", None):
                raise YamlProblem("must not use tags (!)", event.start_mark)
            nodes += 1
            if most is not None and nodes > most:
                raise YamlProblem(f"holds more than {most} keys and values")
            if isinstance(event, yaml.ScalarEvent):
                if event.value == "<<" and not event.style:
                    raise YamlProblem("must not use merge keys (<<)", event.start_mark)
            else:
                depth += 1
                if depth > DEEPEST:
                    raise YamlProblem(TOO_DEEP, event.start_mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        yield event


def _value(event: yaml.Event, events: Iterator[yaml.Event]) -> Any:
    """Return the value that begins with an event, with every scalar as text."""
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_value(item, events))
        return items
    mapping: dict[str, Any] = {}
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        if not isinstance(key, yaml.ScalarEvent):
            raise YamlProblem(NO_KEY, key.start_mark)
        if key.value in mapping:
            raise YamlProblem(_twice(key.value, key.value), key.start_mark)
        mapping[key.value] = _value(next(events), events)
    return mapping


def _twice(first: str, second: str) -> str:
    """Return what is wrong with two keys that are the same."""
    first, second = cut(first, LONGEST_KEY), cut(second, LONGEST_KEY)
    return f"states {first} twice" if first == second else f"states one key in two ways, as {first} and {second}"
