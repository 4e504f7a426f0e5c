"""Drift: what Metacontroller would change about an object, to make it what the hook answers. Pure functions.

Only the labels, the annotations and the spec can differ: the hook states nothing else. Metacontroller's own record of
what it last applied is left out, which changes nothing about how the object acts.

The three-way merge follows the rules of Metacontroller (pkg/dynamic/apply):

- a field that was last applied and is no longer desired is removed; a desired one is set; any other is kept;
- lists are replaced, unless each item of each version is an object with one of MERGE_KEYS: those merge item by item.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Object
from ingress_manager.core.text import quoted

# The first that all items have wins.
MERGE_KEYS = ("containerPort", "port", "mountPath", "name", "uid", "ip", "path")


def differences(item: Item, desired: Object) -> list[str]:
    """Return what is different, a field each: what it is, and what it should be. Raises ValueError as `merged`."""
    return list(changes(our_parts(item.object), merged(item, desired), ""))


def changes(now: Any, then: Any, path: str) -> Iterator[str]:
    """Yield what of a value at a path is to be another one: what it is, and what it should be."""
    if isinstance(now, dict) and isinstance(then, dict):
        for key in dict.fromkeys((*now, *then)):
            step = f".{key}" if key.isidentifier() else f"[{quoted(key)}]"
            yield from changes(now.get(key), then.get(key), f"{path}{step}".removeprefix("."))
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for number, (one, other) in enumerate(zip(now, then, strict=True)):
            yield from changes(one, other, f"{path}[{number}]")
    elif not same(now, then):
        yield f"{path} is {_shown(now)} instead of {_shown(then)}"


def _shown(value: Any) -> str:
    if value is None:
        return "absent"
    return quoted(value) if isinstance(value, str) else msgspec.json.encode(value).decode()


def our_parts(item: Object) -> Object:
    """Return the parts of an object that the hook has a say in."""
    metadata = item.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    return {
        "metadata": {
            "labels": metadata.get("labels") or {},
            "annotations": {key: value for key, value in annotations.items() if key != LAST_APPLIED},
        },
        "spec": item.get("spec"),
    }


def merged(item: Item, desired: Object) -> Object:
    """Return these parts as Metacontroller would make them. Raises ValueError: it can't read its record, and won't."""
    signed = our_parts(desired)
    signed["metadata"]["annotations"][DECORATOR] = CONTROLLER
    then: Object = merge(our_parts(item.object), our_parts(last_applied(item.object)), signed)
    return then


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
    """Return `observed` without what only `last` has, and with what `desired` has; it may share parts with them.

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
    items = [item for each in lists for item in each]
    are_objects = all(isinstance(item, dict) for item in items)
    key = next((key for key in MERGE_KEYS if are_objects and all(key in item for item in items)), None)
    if not items or key is None:
        return desired
    by_key = [{str(item[key]): item for item in each} for each in lists]
    merged = _merge_objects(*by_key)
    # First those observed, in their order (an item that is there twice stays there twice), then the new ones.
    return [merged[k] for item in observed if (k := str(item[key])) in merged] + [
        item for k, item in merged.items() if k not in by_key[0]
    ]
