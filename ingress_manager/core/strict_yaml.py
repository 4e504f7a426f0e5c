"""YAML without its traps: every key is text and unique; no tags, anchors or merge keys; bounded depth and size."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import yaml

from ingress_manager.core.text import LONGEST_KEY, cut

DEEPEST = 8  # levels of nesting: settings need eight, and thousands would exhaust the stack

TOO_DEEP = "is nested too deeply"
TOO_DEEP_FOR_LIBYAML = "exceeded maximum nesting depth"
"""libyaml's message for deep nesting, since PyYAML 6.0.4. libyaml reads ahead, so it can fail before `_Reader` does."""

Events = Iterator[yaml.Event]
Scalar = Callable[[yaml.ScalarEvent], Any]
FieldPath = tuple[str | int, ...]
"""The keys and indexes that locate a value; () is the whole document."""

Places = dict[FieldPath, int]
"""The line (from 1) of each value. A value in a mapping has its key's line."""


class YamlError(ValueError):
    """A mistake in YAML. `mark` is its position, from PyYAML."""

    def __init__(self, message: str, mark: Any = None) -> None:
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        super().__init__(f"{message}{where}")
        self.message = message
        self.line = mark.line + 1 if mark else 0
        """The mistake's line, from 1; 0 without `mark`."""


_SCALARS = yaml.SafeLoader("")
_TYPED = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


def typed(event: yaml.ScalarEvent) -> Any:
    """Return a scalar as None, a boolean, a number or text, as PyYAML does.

    Unlike in PyYAML, dates, base-60 numbers (which YAML 1.2 dropped) and numbers that Python can't parse stay text.
    """
    tag = _SCALARS.resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]
    with suppress(ValueError):
        if tag in _TYPED and ":" not in event.value:
            return _SCALARS.yaml_constructors[tag](_SCALARS, yaml.ScalarNode(tag, event.value))
    return event.value


def as_text(event: yaml.ScalarEvent) -> str:
    """Return a scalar's text unchanged; PyYAML would turn 010 into 8, 1:20 into 80 and `no` into False."""
    return str(event.value)


def load(text: str | Events, most: int, scalar: Scalar = typed, deepest: int = DEEPEST) -> tuple[Any, Places]:
    """Return a YAML document's value (None if it is empty) and the line of each value in it.

    `text` is YAML or its events. Raises YamlError if the YAML is invalid, uses a forbidden feature, has more than
    `most` keys, values, lists and mappings in total, or is nested more than `deepest` levels deep.
    """
    reader = _Reader(_checked_events(text, most), scalar, deepest, {})
    try:
        # Reading the first value consumes its events; the remaining ones are only checked.
        values = [reader.value(event, event, ()) for event in reader.events if isinstance(event, yaml.NodeEvent)]
    except UnicodeEncodeError as error:
        raise YamlError("contains an unpaired surrogate") from error
    except yaml.MarkedYAMLError as error:
        message = TOO_DEEP if error.problem == TOO_DEEP_FOR_LIBYAML else f"is not YAML: {error.problem}"
        raise YamlError(message, error.problem_mark) from error
    except yaml.YAMLError as error:
        raise YamlError(f"is not YAML: {str(error).splitlines()[0]}") from error
    return (values or [None])[0], reader.places


class _Reader(NamedTuple):
    events: Events
    scalar: Scalar
    deepest: int
    places: Places

    def value(self, event: Any, start: Any, path: FieldPath) -> Any:
        """Read the value that `event` begins. Record its line, where `start` (its key or else `event`) begins."""
        self.places[path] = start.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        if len(path) >= self.deepest:
            raise YamlError(TOO_DEEP, event.start_mark)
        return self.items(path) if isinstance(event, yaml.SequenceStartEvent) else self.fields(path)

    def items(self, path: FieldPath) -> list[Any]:
        items: list[Any] = []
        while isinstance(item := next(self.events), yaml.NodeEvent):
            items.append(self.value(item, item, (*path, len(items))))
        return items

    def fields(self, path: FieldPath) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while isinstance(key := next(self.events), yaml.NodeEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise YamlError("must not use a list or a mapping as a key", key.start_mark)
            if key.value == "<<" and not key.style:
                raise YamlError("must not use merge keys (<<)", key.start_mark)
            if key.value in fields:
                raise YamlError(f'the key "{cut(key.value, LONGEST_KEY)}" is repeated', key.start_mark)
            fields[key.value] = self.value(next(self.events), key, (*path, key.value))
        return fields


def _checked_events(text: str | Events, most: int) -> Events:
    documents = size = 0
    for event in yaml.parse(text, yaml.CBaseLoader) if isinstance(text, str) else text:
        documents += isinstance(event, yaml.DocumentStartEvent)
        size += isinstance(event, yaml.NodeEvent)
        if documents > 1:
            raise YamlError("must be a single document", event.start_mark)
        if size > most:
            raise YamlError(f"contains more than {most} keys and values")
        if getattr(event, "anchor", None):  # an alias has the anchor of its target
            raise YamlError("must not use anchors (&) or aliases (*)", event.start_mark)
        if getattr(event, "tag", None):
            raise YamlError("must not use tags (!)", event.start_mark)
        yield event
