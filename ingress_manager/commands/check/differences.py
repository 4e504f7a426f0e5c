"""How an object of the cluster differs from the one that this version installs. The pure part."""

from collections.abc import Iterator
from typing import Any

DEFAULTS: dict[str, Any] = {
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "scope": "*",
    "parameterNotFoundAction": "Allow",
}
"""What the API server adds where nothing is stated."""


def differences(expected: Any, found: Any, path: str = "spec") -> Iterator[tuple[str, str]]:
    """Yield the place of each difference, such as spec.attachments[0], and what it is."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in (*expected, *(key for key in found if key not in expected)):
            if key in expected and key in found:
                yield from differences(expected[key], found[key], f"{path}.{key}")
            elif key in expected:
                yield f"{path}.{key}", "is missing"
            elif not (key in DEFAULTS and found[key] == DEFAULTS[key]):
                yield f"{path}.{key}", "is there, and this version has none"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (wanted, stands) in enumerate(zip(expected, found, strict=True)):
            yield from differences(wanted, stands, f"{path}[{number}]")
    elif isinstance(expected, list) and isinstance(found, list):
        yield path, f"has {len(found)} entries; this version has {len(expected)}"
    elif _plain(expected) != _plain(found):
        is_expression = isinstance(expected, str) and " " in expected.strip()
        yield path, "is another one" if is_expression else f"is {found}; this version has {expected}"


def _plain(value: Any) -> Any:
    """Return a text without the spaces that make no difference in an expression."""
    return value.split() if isinstance(value, str) else value


def missing_fields(used: Any, schema: Any, path: str = "spec") -> Iterator[str]:
    """Yield the fields of an object that the schema of its CRD doesn't know."""
    if not isinstance(schema, dict) or "x-kubernetes-preserve-unknown-fields" in schema:
        return
    if isinstance(used, dict):
        known = schema.get("properties") or {}
        for key, value in used.items():
            if key in known:
                yield from missing_fields(value, known[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif isinstance(used, list):
        for value in used:
            yield from missing_fields(value, schema.get("items"), f"{path}[]")
    elif "enum" in schema and used not in schema["enum"]:
        yield f"{path}: {used}"
