"""YAML without its traps: every key once, no tags, no anchors, no merge keys, nothing deep."""

from typing import Any

import yaml

from ingress_manager.core.errors import Problem

DEEPEST = 8
"""Levels of nesting. Settings have four; thousands would exhaust the stack of the code that reads them."""


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


def _load(text: str, loader: type[_Typed | _Text], most: int | None) -> Any:
    try:
        _refuse_traps(text, most)
        return yaml.load(text, loader)  # noqa: S506 - both build plain values only
    except ValueError as error:
        raise Problem("holds a number of more digits than can be read") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        if error.problem == "found unhashable key":  # as Python calls it
            raise Problem(f"must not use a list or a mapping as a key{where}") from error
        raise Problem(f"is not YAML: {error.problem}{where}") from error
    except yaml.YAMLError as error:
        raise Problem(f"is not YAML: {str(error).splitlines()[0]}") from error


def _refuse_traps(text: str, most: int | None) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, yaml.CBaseLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise Problem("must not use anchors (&) or aliases (*)")
        if getattr(event, "tag", None):
            raise Problem("must not use tags (!)")
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and not event.style:
            raise Problem("must not use merge keys (<<)")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Problem("is nested too deeply")
        nodes += isinstance(event, yaml.NodeEvent)
        if most is not None and nodes > most:
            raise Problem(f"holds more than {most} keys and values")


def _unique(mapping: dict[Any, Any], node: yaml.MappingNode) -> dict[Any, Any]:
    """Return `mapping`. Raises Problem when `node` has a key twice: PyYAML silently keeps the last."""
    if len(mapping) < len(node.value):
        seen: dict[str, None] = {}
        for key, _ in node.value:
            if str(key.value) in seen:
                raise Problem(f"states {key.value} twice")
            seen[str(key.value)] = None
        raise Problem(f"states one key in two ways, among {', '.join(seen)}")
    return mapping
