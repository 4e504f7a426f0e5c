"""The three-way merge: what an observed object becomes when a hook's desired fields are applied to it.

The stand-in for Metacontroller writes by it, and `audit` tells by it what would be written.

Pure functions: the arguments are not changed, but results share parts with them. The rules are those of Metacontroller
(pkg/dynamic/apply and ApplyUpdate in pkg/controller/common):

- a field that was last applied and is no longer desired is removed; a desired one is set; any other is kept;
- lists are replaced, unless each item of each version is an object with one of MERGE_KEYS: those merge item by item;
- system fields of the metadata and the whole status stay as observed.
"""

from typing import Any

import msgspec

from ingress_manager.core.kubernetes import Object
from ingress_manager.core.observed import LAST_APPLIED

# The first that all items have wins.
MERGE_KEYS = ("containerPort", "port", "mountPath", "name", "uid", "ip", "path")

SYSTEM_FIELDS = frozenset({
    "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "managedFields",
})  # fmt: skip

# Go's JSON encoder escapes these, and the annotation has to be the same in every byte.
_GO_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def updated(observed: Object, desired: Object) -> Object:
    """Return `observed` with `desired` applied, as it is to be PUT; ValueError as of `last_applied`."""
    desired = _without_last_applied(desired)
    merged = merge(observed, last_applied(observed), desired)
    metadata = {k: v for k, v in merged["metadata"].items() if k not in SYSTEM_FIELDS}
    metadata |= {k: v for k, v in observed["metadata"].items() if k in SYSTEM_FIELDS}
    merged = {k: v for k, v in merged.items() if k != "status"} | {"metadata": metadata}
    if "status" in observed:
        merged["status"] = observed["status"]
    return with_last_applied(merged, desired)


def same(one: Any, other: Any) -> bool:
    """Return whether both are the same JSON. Unlike `==` it tells 1, 1.0 and true apart, as Go does."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def with_last_applied(obj: Object, applied: Object) -> Object:
    """Return `obj` with an annotation that records `applied`, so that a later merge knows which fields were ours."""
    return with_annotation(
        obj, LAST_APPLIED, msgspec.json.encode(applied, order="sorted").decode().translate(_GO_ESCAPES)
    )


def with_annotation(obj: Object, key: str, value: str) -> Object:
    """Return `obj` with one annotation set."""
    metadata = obj.get("metadata") or {}
    return obj | {"metadata": metadata | {"annotations": (metadata.get("annotations") or {}) | {key: value}}}


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


def _without_last_applied(obj: Object) -> Object:
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if LAST_APPLIED not in annotations:
        return obj
    return obj | {"metadata": metadata | {"annotations": {k: v for k, v in annotations.items() if k != LAST_APPLIED}}}
