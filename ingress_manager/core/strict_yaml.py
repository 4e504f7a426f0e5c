"""YAML without its traps: every key once, no tags, no anchors, no merge keys, nothing deep."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import yaml

from ingress_manager.core.errors import Problem

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
        return _unique(super().construct_mapping(node, deep), node)


_Typed.yaml_implicit_resolvers = {
    # Dates stay text, and so does a single =, which PyYAML knows a type for but can't build.
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":value"))]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def load_typed(text: str) -> Any:
    """Return the value of a YAML document, or None for an empty one. Raises Problem."""
    with _told():
        deque(_events(text, None), maxlen=0)
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
    except ValueError as error:
        raise YamlProblem("holds a number of more digits than can be read") from error
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
            raise YamlProblem(f"states {key.value} twice", key.start_mark)
        mapping[key.value] = _value(next(events), events)
    return mapping


def _unique(mapping: dict[Any, Any], node: yaml.MappingNode) -> dict[Any, Any]:
    """Return `mapping`. Raises YamlProblem when `node` has a key twice: PyYAML silently keeps the last."""
    if len(mapping) < len(node.value):
        seen: dict[str, None] = {}
        for key, _ in node.value:
            if str(key.value) in seen:
                raise YamlProblem(f"states {key.value} twice", key.start_mark)
            seen[str(key.value)] = None
        raise YamlProblem(f"states one key in two ways, among {', '.join(seen)}", node.start_mark)
    return mapping
