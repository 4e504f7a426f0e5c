"""YAML without its traps: every key once, no tags, no anchors, no merge keys, nothing deep."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
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

Scalar = Callable[[yaml.ScalarEvent], Any]
"""Returns the value of a scalar."""


class YamlProblem(Problem):
    """A text that can't be read, why, and PyYAML's mark of the place."""

    def __init__(self, what: str, mark: Any = None) -> None:
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        super().__init__(f"{what}{where}")
        self.what = what
        self.line = mark.line + 1 if mark else 0
        """From 1; 0: not known."""


class _Scalars(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """What PyYAML takes a scalar for, but for dates."""

    def __init__(self) -> None:
        yaml.constructor.SafeConstructor.__init__(self)
        yaml.resolver.Resolver.__init__(self)

    def value(self, event: yaml.ScalarEvent) -> Any:
        """Return null, a boolean, a number or text. A number in base 60, which no other YAML knows, is text.

        A number that Python can't read becomes NaN: it is no text, nor a number that a setting takes.
        """
        tag = self.resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]
        if tag == TEXT or (tag in NUMBERS and ":" in event.value):
            return event.value
        try:
            return self.yaml_constructors[tag](self, yaml.ScalarNode(tag, event.value))
        except ValueError:
            return float("nan")


_Scalars.yaml_implicit_resolvers = {
    # Dates stay text, and so does a single =, which PyYAML knows a type for but can't build.
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":value"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

TEXT, *NUMBERS = (f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float"))


def load_typed(text: str, most: int) -> Any:
    """Return the value of a YAML document, or None for an empty one.

    Raises Problem, also when it has more than `most` keys, values, lists and mappings.
    """
    return _load(text, most, _Scalars().value)


def load_text(text: str, most: int | None = None) -> Any:
    """Return the value of a YAML document, or None for an empty one. Every scalar stays the text that it is: 010 is not
    8, 1:20 is not 80, and `no` is not False.

    Raises Problem, also when it has more than `most` keys, values, lists and mappings.
    """
    return _load(text, most, attrgetter("value"))


def _load(text: str, most: int | None, scalar: Scalar) -> Any:
    """Return the value of a YAML document, whose scalars have the values that `scalar` returns."""
    with _told():
        events = _events(text, most)
        documents: list[Any] = []
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if documents:
                    raise YamlProblem("is not YAML: but found another document", event.start_mark)
                documents.append(_value(next(events), events, scalar))
        return documents[0] if documents else None


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
        what = TOO_DEEP if error.problem == TOO_DEEP_FOR_LIBYAML else f"is not YAML: {error.problem}"
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


def _value(event: yaml.Event, events: Iterator[yaml.Event], scalar: Scalar) -> Any:
    """Return the value that begins with an event."""
    if isinstance(event, yaml.ScalarEvent):
        return scalar(event)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_value(item, events, scalar))
        return items
    mapping: dict[Any, Any] = {}
    written: dict[Any, str] = {}
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        if not isinstance(key, yaml.ScalarEvent):
            raise YamlProblem(NO_KEY, key.start_mark)
        name = scalar(key)
        if name in written:
            raise YamlProblem(_twice(written[name], key.value), key.start_mark)
        written[name] = key.value
        mapping[name] = _value(next(events), events, scalar)
    return mapping


def _twice(first: str, second: str) -> str:
    """Return what is wrong with two keys that are the same."""
    first, second = cut(first, LONGEST_KEY), cut(second, LONGEST_KEY)
    return f"states {first} twice" if first == second else f"states one key in two ways, as {first} and {second}"
