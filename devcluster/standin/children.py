"""Reconciles one parent's attachments: deletes undesired ones, and creates or updates the others.

Source: pkg/controller/common of Metacontroller, with its dynamic-apply strategy.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from devcluster.api import Api, ApiError, Object, Resource
from devcluster.sync_requests import owner_reference
from ingress_manager.commands.snapshot.drift import last_applied, merge, same_json
from ingress_manager.core.kubernetes import LAST_APPLIED

ObjectMap = dict[str, dict[str, Object]]
"""Objects by "Kind.group/version", then by "namespace/name"."""

SYSTEM_FIELDS = frozenset({
    "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "managedFields",
})  # fmt: skip

# Go's JSON encoder escapes these, and the annotation must match Metacontroller's byte for byte.
_GO_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})

log = logging.getLogger(__name__)


class SyncError(Exception):
    """A parent can't be synced. The message is shown in the parent's Event."""


def group_key(resource: Resource) -> str:
    """Return the kind's key in the hook request's `attachments`, for example Ingress.networking.k8s.io/v1."""
    return f"{resource.kind}.{resource.api_version}"


def controller_of(obj: Object) -> Object | None:
    """Return the owner reference that names the object's controller, or None."""
    return next((ref for ref in obj["metadata"].get("ownerReferences") or () if ref.get("controller")), None)


def name_of(obj: Object) -> str:
    """Return namespace/name, or /name for a cluster-scoped object."""
    return f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"


def manage(api: Api, kinds: Iterable[Resource], parent: Object, observed: ObjectMap, desired: ObjectMap) -> None:
    """Delete, create and update the parent's attachments of these kinds, so that they match `desired`.

    Errors don't stop the other changes. They are raised together at the end, as one SyncError.
    """
    errors: list[str] = []
    for resource in kinds:
        before, after = observed.get(group_key(resource), {}), desired.get(group_key(resource), {})
        for name in before.keys() | after.keys():
            try:
                _reconcile(api, resource, parent, before.get(name), after.get(name))
            except (ApiError, ValueError) as error:
                errors.append(str(error))
    if errors:
        # Formatted like Go's aggregated errors: each once, in brackets if there are several.
        unique = list(dict.fromkeys(errors))
        text = unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
        raise SyncError(f"can't reconcile children for {parent['kind']} {name_of(parent)}: {text}")


def _reconcile(api: Api, resource: Resource, parent: Object, before: Object | None, after: Object | None) -> None:
    if before and "deletionTimestamp" in before["metadata"]:
        return
    if before and after:
        then = updated(before, after)
        if not same_json(then, before):
            log.info("update %s %s", resource.kind, name_of(then))
            with _harmless("NotFound", "Conflict"):  # it was changed meanwhile: the event causes another sync
                api.update(resource, then)
    elif before:
        metadata = before["metadata"]
        log.info("delete %s %s", resource.kind, name_of(before))
        # The uid keeps a newer object of the same name from being deleted.
        api.delete(resource, metadata["name"], metadata["namespace"], uid=metadata["uid"])
    elif after:
        log.info("create %s %s", resource.kind, name_of(after))
        # Recorded before fields are added, so that later merges remove only fields from the hook's answer.
        created = with_last_applied(after, after)
        created["metadata"]["ownerReferences"] = [owner_reference(parent)]
        with _harmless("AlreadyExists"):  # any other refusal, for example by an admission policy, is an error
            api.create(resource, created)


@contextmanager
def _harmless(*reasons: str) -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        if error.reason not in reasons:
            raise
        log.info("not done: %s", error)


def updated(observed: Object, desired: Object) -> Object:
    """Return `observed` with `desired` merged in, ready for PUT. The observed status and system metadata are kept.

    Raises ValueError if the last-applied annotation isn't a JSON object.
    """
    merged = merge(observed, last_applied(observed), desired)
    metadata = {k: v for k, v in merged["metadata"].items() if k not in SYSTEM_FIELDS}
    metadata |= {k: v for k, v in observed["metadata"].items() if k in SYSTEM_FIELDS}
    status = {"status": observed["status"]} if "status" in observed else {}
    merged = {k: v for k, v in merged.items() if k != "status"} | {"metadata": metadata} | status
    return with_last_applied(merged, desired)


def with_last_applied(obj: Object, applied: Object) -> Object:
    """Return `obj` with an annotation that records `applied`, so that later merges know which fields we set."""
    record = msgspec.json.encode(applied, order="sorted").decode().translate(_GO_ESCAPES)
    return with_annotation(obj, LAST_APPLIED, record)


def with_annotation(obj: Object, key: str, value: str) -> Object:
    """Return a copy of `obj` with one annotation set."""
    metadata = obj["metadata"]
    return obj | {"metadata": metadata | {"annotations": (metadata.get("annotations") or {}) | {key: value}}}
