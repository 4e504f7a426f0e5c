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
