"""How Metacontroller's contract names objects, what is read from objects of every kind, and how one is updated.

Source of the latter: ApplyUpdate in pkg/controller/common of Metacontroller. System fields of the metadata and the
whole status stay as observed; the rest is merged.
"""

from typing import NamedTuple

import msgspec

from devcluster.api import Object, Resource
from ingress_manager.commands.view.merge import last_applied, merge
from ingress_manager.core.kubernetes import LAST_APPLIED

ObjectMap = dict[str, dict[str, Object]]
"""Objects by "Kind.group/version", and then by "namespace/name"."""

SELF = "metacontroller-standin"
"""The name of the stand-in in Events, and, as its User-Agent, in managedFields."""


class Key(NamedTuple):
    """Which object is meant; the namespace is empty where there is none."""

    resource: Resource
    namespace: str
    name: str


def group_key(resource: Resource) -> str:
    """Return the key of a kind in `attachments` of the hook's requests: Kind.group/version."""
    return f"{resource.kind}.{resource.api_version}"


def controller_of(obj: Object) -> Object | None:
    """Return the owner reference of the object's controller, None if it has none."""
    return next((ref for ref in obj["metadata"].get("ownerReferences") or () if ref.get("controller")), None)


def name_of(obj: Object) -> str:
    """Return namespace/name, or the name alone where there is no namespace."""
    return "/".join(obj["metadata"][field] for field in ("namespace", "name") if obj["metadata"].get(field))


def group(api_version: str) -> str:
    """Return the API group, empty for the core group."""
    return api_version.rpartition("/")[0]


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
