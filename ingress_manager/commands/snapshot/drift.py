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
    """Return a sentence for each field that drifted: what it is and should be. Raises ValueError as `merged`."""
    return list(field_differences(managed_parts(item.object), merged(item, desired), ""))


def field_differences(observed: Any, desired: Any, path: str) -> Iterator[str]:
    if isinstance(observed, dict) and isinstance(desired, dict):
        for key in dict.fromkeys((*observed, *desired)):
            step = f".{key}" if key.isidentifier() else f"[{quoted(key)}]"
            yield from field_differences(observed.get(key), desired.get(key), f"{path}{step}".removeprefix("."))
    elif isinstance(observed, list) and isinstance(desired, list) and len(observed) == len(desired):
        for number, (one, other) in enumerate(zip(observed, desired, strict=True)):
            yield from field_differences(one, other, f"{path}[{number}]")
    elif not same(observed, desired):
        yield f"{path} is {_shown(observed)} instead of {_shown(desired)}"


def _shown(value: Any) -> str:
    if value is None:
        return "absent"
    return quoted(value) if isinstance(value, str) else msgspec.json.encode(value).decode()


def managed_parts(obj: Object) -> Object:
    """Return the parts of an object that the hook states."""
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    annotations = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return {"metadata": {"labels": metadata.get("labels") or {}, "annotations": annotations}, "spec": obj.get("spec")}


def merged(item: Item, desired: Object) -> Object:
    """Return these parts as Metacontroller would write them. Raises ValueError if it can't read its record."""
    signed = managed_parts(desired)
    signed["metadata"]["annotations"][DECORATOR] = CONTROLLER
    return _merge_objects(managed_parts(item.object), managed_parts(last_applied(item.object)), signed)


def same(one: Any, other: Any) -> bool:
    """Return whether both are the same JSON. Unlike `==` it distinguishes 1, 1.0 and true, as Go does."""
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

    The type of the observed value decides how. A `last` or `desired` of another type counts as empty. That is
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
    items = [item for entries in lists for item in entries]
    key = next((key for key in MERGE_KEYS if all(isinstance(item, dict) and key in item for item in items)), None)
    if not items or key is None:
        return desired
    by_key = [{str(item[key]): item for item in entries} for entries in lists]
    merged = _merge_objects(*by_key)
    # First the observed ones in their order (an item that is there twice stays twice), then the new ones.
    kept = [merged[k] for item in observed if (k := str(item[key])) in merged]
    return kept + [item for k, item in merged.items() if k not in by_key[0]]
