"""Drift: what Metacontroller would change about an object, to make it what the hook answers.

Only the labels, the annotations and the spec can differ: the hook states nothing else. Metacontroller's own record of
what it last applied is left out, which changes nothing about how the object acts.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.managed import CONTROLLER
from ingress_manager.commands.view.merge import last_applied, merge, same
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Object
from ingress_manager.core.text import quoted


def our_parts(item: Object) -> Object:
    """Return the parts of an object that the hook has a say in."""
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    annotations = metadata.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    return {
        "metadata": {
            "labels": metadata.get("labels") or {},
            "annotations": {key: value for key, value in annotations.items() if key != LAST_APPLIED},
        },
        "spec": item.get("spec"),
    }


def merged(item: Item, desired: Object) -> Object:
    """Return these parts as Metacontroller would make them. Raises ValueError: it can't read its record, and won't."""
    return _now_and_then(item, desired)[1]


def _now_and_then(item: Item, desired: Object) -> tuple[Object, Object]:
    """Return these parts as they are, and as `merged`: the same object where nothing changes. Raises ValueError."""
    last, signed, now = our_parts(last_applied(item.object)), our_parts(desired), our_parts(item.object)
    signed["metadata"]["annotations"][DECORATOR] = CONTROLLER
    if last == signed == now:
        return now, now  # as most objects are: they need no merge
    return now, merge(now, last, signed)


def differences(item: Item, desired: Object) -> list[str]:
    """Return what is different, a field each: what it is, and what it should be. Raises ValueError as `merged`."""
    now, then = _now_and_then(item, desired)
    return [] if then is now else list(_differences(now, then, ""))


def _differences(now: Any, then: Any, path: str) -> Iterator[str]:
    if isinstance(now, dict) and isinstance(then, dict):
        for key in dict.fromkeys((*now, *then)):
            step = f".{key}" if key.isidentifier() else f"[{quoted(key)}]"
            yield from _differences(now.get(key), then.get(key), f"{path}{step}".removeprefix("."))
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for number, (one, other) in enumerate(zip(now, then, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif not same(now, then):
        yield f"{path} is {_shown(now)} instead of {_shown(then)}"


def _shown(value: Any) -> str:
    if value is None:
        return "absent"
    return quoted(value) if isinstance(value, str) else msgspec.json.encode(value).decode()
