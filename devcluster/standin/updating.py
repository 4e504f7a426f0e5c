"""Updating: what the stand-in writes of an object, which is what Metacontroller would.

Source: ApplyUpdate in pkg/controller/common of Metacontroller. System fields of the metadata and the whole status stay
as observed; the rest is merged.
"""

import msgspec

from ingress_manager.commands.view.merge import last_applied, merge
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.observed import LAST_APPLIED

SYSTEM_FIELDS = frozenset({
    "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "managedFields",
})  # fmt: skip

# Go's JSON encoder escapes these, and the annotation has to be the same in every byte.
_GO_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def updated(observed: Object, desired: Object) -> Object:
    """Return `observed` with `desired` applied, as it is to be PUT; ValueError as of `last_applied`."""
    merged = merge(observed, last_applied(observed), desired)
    metadata = {k: v for k, v in merged["metadata"].items() if k not in SYSTEM_FIELDS}
    metadata |= {k: v for k, v in observed["metadata"].items() if k in SYSTEM_FIELDS}
    merged = {k: v for k, v in merged.items() if k != "status"} | {"metadata": metadata}
    if "status" in observed:
        merged["status"] = observed["status"]
    return with_last_applied(merged, desired)


def with_last_applied(obj: Object, applied: Object) -> Object:
    """Return `obj` with an annotation that records `applied`, so that a later merge knows which fields were ours."""
    return with_annotation(
        obj, LAST_APPLIED, msgspec.json.encode(applied, order="sorted").decode().translate(_GO_ESCAPES)
    )


def with_annotation(obj: Object, key: str, value: str) -> Object:
    """Return `obj` with one annotation set."""
    metadata = obj.get("metadata") or {}
    return obj | {"metadata": metadata | {"annotations": (metadata.get("annotations") or {}) | {key: value}}}
