"""Generates the JSON schema of the Helm chart's values, for `make docs`.

Its source is values.yaml, where each key below a comment is a value or a section of values. The manifests that the
chart shares with kustomize aren't generated: the chart's folder files/ contains links to the kustomize folders. Helm
follows these links, even when it packages the chart.
"""

import ast
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import yaml

from devcluster.build import REPOSITORY
from ingress_manager.core import settings

CHART = REPOSITORY / "charts/ingress-manager"
VALUES, SCHEMA = CHART / "values.yaml", CHART / "values.schema.json"

LONGEST_KEY = 253 + 1 + 63
"""The longest valid label or annotation key, in characters. If one exceeds 1,024, Helm silently drops all labels."""

LINE = 110
"""The maximum length of a line in the schema, in characters, without its key and comma."""

LABELS = re.compile("(Labels|labels|Annotations|nodeSelector)$")
"""Matches the names of values that are mappings of labels or annotations."""

TYPES: dict[type, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    str: {"type": "string"},
    list: {"type": "array", "items": {"type": "object"}},
    # Part of a Kubernetes object, which the API server validates.
    dict: {"type": "object"},
}
"""The schema of a value, by the type of its default."""

RULES: dict[str, dict[str, Any]] = {
    "image.digest": {"pattern": "^(sha256:[0-9a-f]{64})?$"},
    "image.pullPolicy": {"enum": ["", "Always", "IfNotPresent", "Never"]},
    "nameOverride": {"pattern": "^([A-Za-z0-9][A-Za-z0-9._-]*)?$"},
    "fullnameOverride": {"pattern": "^([a-z0-9][a-z0-9-]*)?$"},
    "podDisruptionBudget.maxUnavailable": {"type": ["integer", "string"], "pattern": "^[0-9]+%$"},
    "admission.caBundle": {"pattern": "^(-----BEGIN CERTIFICATE-----|$)"},
    "settings": {"$ref": "#/$defs/Settings"},
}
"""Additional schema rules for some values, by path."""


def comments() -> dict[tuple[str, ...], str]:
    """Return the comment above each value and each section of values, by path."""
    texts, path = dict[tuple[str, ...], str](), tuple[str, ...]()
    text = VALUES.read_text(encoding="utf-8")
    for indent, comment, key in re.findall(r"^( *)# ((?:.*\n *# )*.*)\n *(\w+):", text, re.MULTILINE):
        path = (*path[: len(indent) // 2], key)
        texts[path] = re.sub(r"\n *# ", " ", comment)
    return texts


def values_schema() -> str:
    """Return the text of values.schema.json, including the schema of the settings.

    It uses JSON Schema draft 7, the latest draft that older versions of Helm support.
    """
    values = yaml.safe_load(VALUES.read_text(encoding="utf-8"))
    root = schema_of((), values, {(): "The values of the chart."} | comments())
    # Helm passes `global` and the condition `enabled` to a dependency in its values.
    root["properties"] = {"global": {"type": "object"}, "enabled": {"type": "boolean"}} | root["properties"]
    root["$defs"] = {**types_of_settings(settings.Settings), **types_of_settings(settings.Profile)}
    for field in (field for struct in root["$defs"].values() for field in struct["properties"].values()):
        field.pop("default", None)  # a namespace's omitted fields have the general values
    return written({"$schema": "http://json-schema.org/draft-07/schema#", **root}) + "\n"


def schema_of(path: tuple[str, ...], default: Any, texts: dict[tuple[str, ...], str]) -> dict[str, Any]:
    """Return the schema of the value or section at `path`, with its description from `texts`."""
    inside = {
        key: schema_of((*path, key), value, texts)
        for key, value in (default.items() if isinstance(default, dict) else ())
        if (*path, key) in texts
    }
    if inside:
        return {"description": texts[path], "type": "object", "properties": inside, "additionalProperties": False}
    made = {"description": texts[path], **TYPES[type(default)], **RULES.get(".".join(path), {})}
    if LABELS.search(path[-1]):
        made |= {"propertyNames": {"maxLength": LONGEST_KEY}, "additionalProperties": {"type": "string"}}
    if isinstance(default, str) and default:  # then no other value may be empty either
        made["minLength"] = 1
    return made


def written(value: Any, indent: str = "") -> str:
    """Return a value as JSON on one line or, for a mapping that is too long, with one line per field."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= LINE or not isinstance(value, dict):
        return line
    parts = [f"{indent}  {json.dumps(key)}: {written(field, indent + '  ')}" for key, field in value.items()]
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


def types_of_settings(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schemas of a settings type and its nested types, with each field's docstring as description."""
    below = {
        (struct.name, ast.unparse(field.target)): " ".join(ast.literal_eval(text.value).split())
        for struct in ast.parse(Path(settings.__file__).read_text(encoding="utf-8")).body
        if isinstance(struct, ast.ClassDef)
        for field, text in pairwise(struct.body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    schemas: dict[str, Any] = msgspec.json.schema(type_)["$defs"]
    for name, schema in schemas.items():
        struct = getattr(settings, name)
        for field in msgspec.structs.fields(struct):
            [text] = [
                below[base.__name__, field.name] for base in struct.__mro__ if (base.__name__, field.name) in below
            ]
            schema["properties"][field.encode_name] = {"description": text, **schema["properties"][field.encode_name]}
    return schemas
