"""YAML without its traps: every key once, no tags, no anchors, no merge keys, nothing deep."""

from collections.abc import Sequence
from typing import Any

import yaml

from ingress_manager.core.errors import Problem

DEEPEST = 8
"""Levels of nesting. Settings have eight; thousands would exhaust the stack of the code that reads them."""


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


class _Text(yaml.CBaseLoader):
    """Every scalar stays the text that it is: 010 is not 8, 1:20 is not 80, and `no` is not False."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        return _unique(super().construct_mapping(node, deep), node)


def load_typed(text: str) -> Any:
    """Return the value of a YAML document, or None for an empty one. Raises Problem."""
    return _load(text, _Typed, None)


def load_text(text: str, most: int | None = None) -> Any:
    """Return the value of a YAML document, with every scalar as text.

    Raises Problem, also when it has more than `most` keys, values, lists and mappings.
    """
    return _load(text, _Text, most)


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


def _load(text: str, loader: type[_Typed | _Text], most: int | None) -> Any:
    try:
        _refuse_traps(text, most)
        return yaml.load(text, loader)  # noqa: S506 - both build plain values only
    except ValueError as error:
        raise YamlProblem("holds a number of more digits than can be read") from error
    except yaml.MarkedYAMLError as error:
        what = f"is not YAML: {error.problem}"
        if error.problem == "found unhashable key":  # as Python calls it
            what = "must not use a list or a mapping as a key"
        raise YamlProblem(what, error.problem_mark) from error
    except yaml.YAMLError as error:
        raise YamlProblem(f"is not YAML: {str(error).splitlines()[0]}") from error


def _refuse_traps(text: str, most: int | None) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, yaml.CBaseLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise YamlProblem("must not use anchors (&) or aliases (*)", event.start_mark)
        if getattr(event, "tag", None):
            raise YamlProblem("must not use tags (!)", event.start_mark)
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and not event.style:
            raise YamlProblem("must not use merge keys (<<)", event.start_mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise YamlProblem("is nested too deeply", event.start_mark)
        nodes += isinstance(event, yaml.NodeEvent)
        if most is not None and nodes > most:
            raise YamlProblem(f"holds more than {most} keys and values")


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
