"""Compares found values with those that a test states."""

import re
from typing import Any


def ours(text: str) -> str:
    """Return `text` with … in place of a YAML or JSON library's reason, which differs between versions."""
    return re.sub(r"(is not (?:YAML|JSON): )(?!it holds |but found another )[^(\n]*[^( \n]", r"\1…", text)


def holds(found: Any, stated: Any) -> bool:
    """Return whether `found` has all of `stated`: the fields of a mapping, and each item of a list.

    None stands for an absent field.
    """
    if isinstance(stated, dict):
        there = found if isinstance(found, dict) else {}
        return all(holds(there.get(key), value) for key, value in stated.items())
    if isinstance(stated, list):
        return isinstance(found, list) and len(found) == len(stated) and all(map(holds, found, stated))
    return bool(found == stated)
