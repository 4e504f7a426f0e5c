"""Whether an object has what a test states of it."""

from typing import Any


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
