"""How what is found is compared with what a test states."""

import re
from typing import Any


def ours(text: str) -> str:
    """Return `text` with … in the place of why a library can't read YAML or JSON: another version has other words."""
    return re.sub(r"(is not (?:YAML|JSON): )(?!it holds |but found another )[^(\n]*[^( \n]", r"\1…", text)


def holds(found: Any, stated: Any) -> bool:
    """Return whether what is found has all that is stated: of a mapping its fields, of a list each of its items.

    None is a field that isn't there.
    """
    if isinstance(stated, dict):
        there = found if isinstance(found, dict) else {}
        return all(holds(there.get(key), value) for key, value in stated.items())
    if isinstance(stated, list):
        return isinstance(found, list) and len(found) == len(stated) and all(map(holds, found, stated))
    return bool(found == stated)
