"""The three-way merge: what an observed object becomes when a hook's desired fields are applied to it.

Pure functions: the arguments are not changed, but results share parts with them. The rules are those of Metacontroller
(pkg/dynamic/apply):

- a field that was last applied and is no longer desired is removed; a desired one is set; any other is kept;
- lists are replaced, unless each item of each version is an object with one of MERGE_KEYS: those merge item by item.
"""

from typing import Any

import msgspec

from ingress_manager.core.kubernetes import LAST_APPLIED, Object

# The first that all items have wins.
MERGE_KEYS = ("containerPort", "port", "mountPath", "name", "uid", "ip", "path")


def same(one: Any, other: Any) -> bool:
    """Return whether both are the same JSON. Unlike `==` it tells 1, 1.0 and true apart, as Go does."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def last_applied(obj: Object) -> Object:
    """Return what was last applied to `obj`, empty if nothing was; ValueError if the annotation isn't a JSON object."""
    text = (obj["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        return msgspec.json.decode(text, type=Object) if text else {}
    except msgspec.MsgspecError as error:
        raise ValueError(f'can\'t unmarshal "{LAST_APPLIED}" annotation: {error}') from error


def merge(observed: Any, last: Any, desired: Any) -> Any:
    """Return `observed` without what only `last` has, and with what `desired` has.

    The type of the observed value decides how. If `last` or `desired` is of another type, it counts as empty. That is
    surprising, but Metacontroller does the same.
    """
    if isinstance(observed, dict):
        return _merge_objects(observed, *(side if isinstance(side, dict) else {} for side in (last, desired)))
    if isinstance(observed, list):
        return _merge_lists(observed, *(side if isinstance(side, list) else None for side in (last, desired)))
    return desired


def _merge_objects(observed: Object, last: Object, desired: Object) -> Object:
    kept = {k: v for k, v in observed.items() if k in desired or k not in last}
    return kept | {k: merge(observed.get(k), last.get(k), v) for k, v in desired.items()}


def _merge_lists(observed: list[Any], last: list[Any] | None, desired: list[Any] | None) -> list[Any] | None:
    lists = [observed, last or [], desired or []]
    key = _merge_key([item for items in lists for item in items])
    if key is None:
        return desired
    by_key = [{str(item[key]): item for item in items} for items in lists]
    merged = _merge_objects(*by_key)
    # First those observed, in their order (an item that is there twice stays there twice), then the new ones.
    return [merged[k] for item in observed if (k := str(item[key])) in merged] + [
        item for k, item in merged.items() if k not in by_key[0]
    ]


def _merge_key(items: list[Any]) -> str | None:
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    return next((key for key in MERGE_KEYS if all(key in item for item in items)), None)
