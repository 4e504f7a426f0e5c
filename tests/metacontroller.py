"""What Metacontroller 4.17.2 does with the attachments of one parent: for a cluster in memory, and to judge a real one.

Source: pkg/controller/common of Metacontroller (manage_children.go, and ApplyUpdate with the strategy dynamic-apply).
"""

from typing import Protocol

import msgspec

from devcluster.api import INGRESSES, ApiError, Object, Resource
from devcluster.sync_requests import owner_reference
from ingress_manager.commands.view.merge import last_applied, merge, same
from ingress_manager.core.kubernetes import LAST_APPLIED

SYSTEM_FIELDS = frozenset({
    "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "managedFields",
})  # fmt: skip

# Go's JSON encoder escapes these, and the annotation has to be the same in every byte.
_GO_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


class Api(Protocol):
    """What is written to."""

    def create(self, resource: Resource, obj: Object) -> object:
        """Create an object. Raises ApiError."""

    def update(self, resource: Resource, obj: Object) -> object:
        """Replace an object. Raises ApiError."""

    def delete(self, resource: Resource, name: str, namespace: str, *, uid: str) -> object:
        """Delete an object with that uid. Raises ApiError."""


def manage(api: Api, parent: Object, observed: dict[str, Object], desired: dict[str, Object]) -> str:
    """Delete, create and update Ingresses, each by its name, so that those observed become those desired.

    Return what went wrong. What changed meanwhile, or is there already, is left to the sync that follows.
    """
    errors = []
    for name in observed.keys() - desired.keys():
        metadata = observed[name]["metadata"]
        try:
            # The uid keeps a newer object of the same name from being deleted.
            api.delete(INGRESSES, metadata["name"], metadata["namespace"], uid=metadata["uid"])
        except ApiError as error:
            errors.append(f"can't delete Ingress {name}: {error}")
    for name, each in desired.items():
        try:
            if name not in observed:
                # Recorded before anything is added: later, only what the hook itself answered may be removed.
                made = with_last_applied(each, each)
                made["metadata"]["ownerReferences"] = [owner_reference(parent)]
                api.create(INGRESSES, made)
            elif not same(then := updated(observed[name], each), observed[name]):
                api.update(INGRESSES, then)
        except ApiError as error:
            if error.reason not in {"AlreadyExists", "NotFound", "Conflict"}:
                errors.append(str(error))
        except ValueError as error:
            errors.append(str(error))
    return ", ".join(errors)


def updated(observed: Object, desired: Object) -> Object:
    """Return `observed` with `desired` applied, as it is to be PUT; ValueError as of `last_applied`.

    System fields of the metadata and the whole status stay as observed; the rest is merged.
    """
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


def controller_of(obj: Object) -> Object | None:
    """Return the owner reference of the object's controller, None if it has none."""
    return next((ref for ref in obj["metadata"].get("ownerReferences") or () if ref.get("controller")), None)


def name_of(obj: Object) -> str:
    """Return namespace/name, or the name alone where there is no namespace."""
    return "/".join(obj["metadata"][field] for field in ("namespace", "name") if obj["metadata"].get(field))
