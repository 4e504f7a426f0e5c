"""Drift: what Metacontroller would change in an object so that it matches the hook's answer. Pure functions.

Only labels, annotations and the spec are compared: the hook sets nothing else. Metacontroller's last-applied
annotation is ignored, because it doesn't affect what the object does.

The three-way merge of observed, last-applied and desired fields follows Metacontroller's pkg/dynamic/apply:

- a field that was last applied and is no longer desired is removed; a desired one is set; any other is kept;
- a list is replaced, or merged item by item if all items in the three lists are objects that share one of MERGE_KEYS.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Object
from ingress_manager.core.text import quoted

# The first key that all items have is used.
MERGE_KEYS = ("containerPort", "port", "mountPath", "name", "uid", "ip", "path")


def differences(item: Item, desired: Object) -> list[str]:
    """Describe each field that Metacontroller would change. Raises ValueError if the last-applied record is invalid."""
    observed, expected = managed_parts(item.object), merged(item, desired)
    return [] if same_json(observed, expected) else [*field_differences(observed, expected, "")]  # most are equal


def field_differences(observed: Any, desired: Any, path: str, verb: str = "should") -> Iterator[str]:
    if isinstance(observed, dict) and isinstance(desired, dict):
        for key in dict.fromkeys((*observed, *desired)):
            below = f"{path}.{key}" if key.isidentifier() else f"{path}[{quoted(key)}]"
            yield from field_differences(observed.get(key), desired.get(key), below.removeprefix("."), verb)
    elif isinstance(observed, list) and isinstance(desired, list) and len(observed) == len(desired):
        for number, (one, other) in enumerate(zip(observed, desired, strict=True)):
            yield from field_differences(one, other, f"{path}[{number}]", verb)
    elif not same_json(observed, desired):
        yield f"{path} is {_shown(observed)} but {verb} be {_shown(desired)}"


def _shown(value: Any) -> str:
    if value is None:
        return "absent"
    return quoted(value) if isinstance(value, str) else msgspec.json.encode(value).decode()


def managed_parts(obj: Object) -> Object:
    """Return the labels, annotations and spec of an object, without Metacontroller's last-applied annotation."""
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    annotations = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return {"metadata": {"labels": metadata.get("labels") or {}, "annotations": annotations}, "spec": obj.get("spec")}


def merged(item: Item, desired: Object) -> Object:
    """Return `item`'s managed parts, merged with `desired`. Raises ValueError if the last-applied record is invalid."""
    signed = managed_parts(desired)
    signed["metadata"]["annotations"][DECORATOR] = CONTROLLER
    return _merge_objects(managed_parts(item.object), managed_parts(last_applied(item.object)), signed)


def same_json(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON. Unlike `==`, this distinguishes 1, 1.0 and true, as Go does."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def last_applied(obj: Object) -> Object:
    """Decode the last-applied annotation. If there is none, return {}. Raises ValueError if it isn't a JSON object."""
    text = (obj["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        return msgspec.json.decode(text, type=Object) if text else {}
    except msgspec.MsgspecError as error:
        raise ValueError(f'can\'t unmarshal "{LAST_APPLIED}" annotation: {error}') from error


def merge(observed: Any, last: Any, desired: Any) -> Any:
    """Return `observed` with the fields of `desired`, but without fields that `last` has and `desired` doesn't.

    Objects and lists are merged; a `last` or `desired` whose type differs from that of `observed` counts as empty, as
    in Metacontroller. Any other `observed` is replaced. The result shares parts with the arguments.
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
    # Observed items come first, in their order (duplicates stay), then new ones.
    kept = [merged[k] for item in observed if (k := str(item[key])) in merged]
    return kept + [item for k, item in merged.items() if k not in by_key[0]]
