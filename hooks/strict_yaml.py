"""YAML without its traps: every key once, no tags, no anchors, nothing deep."""

from typing import Any

import yaml

DEEPEST = 8
"""Levels. Settings nest four; a text that nests thousands would exhaust the stack of whoever reads it."""


class _Typed(yaml.CSafeLoader):
    """Scalars become null, booleans, numbers or text; no dates."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        return _unique(super().construct_mapping(node, deep), node)


_Typed.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


class _Text(yaml.CBaseLoader):
    """Every scalar stays the text that it is: 010 is no 8, 1:20 no 80, and `no` no False."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        return _unique(super().construct_mapping(node, deep), node)


def typed(text: str) -> Any:
    """Return the value of a YAML document, or None for an empty one. Raises ValueError saying what is wrong."""
    return _load(text, _Typed)


def text(text: str) -> Any:
    """Return the value of a YAML document with every scalar as text. Raises ValueError saying what is wrong."""
    return _load(text, _Text)


def _load(text: str, loader: type[_Typed | _Text]) -> Any:
    try:
        _refuse_traps(text)
        return yaml.load(text, loader)  # noqa: S506 - both build plain values only
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValueError(f"is not YAML: {error.problem}{where}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML: {str(error).splitlines()[0]}") from error


def _refuse_traps(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, yaml.CBaseLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ValueError("must not use anchors (&) or aliases (*)")
        if getattr(event, "tag", None):
            raise ValueError("must not use tags (!)")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError("is nested too deeply")


def _unique(mapping: dict[Any, Any], node: yaml.MappingNode) -> dict[Any, Any]:
    """Return `mapping`. Raises ValueError when a key stands in `node` twice: PyYAML would keep the last in silence."""
    if len(mapping) < len(node.value):
        keys = [str(key.value) for key, _ in node.value]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        raise ValueError(f"states {twice} twice" if twice else f"states one key in two ways, among {', '.join(keys)}")
    return mapping
