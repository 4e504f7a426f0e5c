"""What is done to the attachments of one parent: those not desired are deleted, the others created or updated.

Source: pkg/controller/common/manage_children.go of Metacontroller, with its dynamic-apply strategy.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from devcluster.api import Api, ApiError, Object, Resource
from devcluster.standin.contract import SyncError
from devcluster.standin.objects import ObjectMap, group_key, name_of, updated, with_last_applied
from devcluster.sync_requests import owner_reference
from ingress_manager.commands.view.merge import same

log = logging.getLogger(__name__)


def manage(api: Api, kinds: Iterable[Resource], parent: Object, observed: ObjectMap, desired: ObjectMap) -> None:
    """Delete, create and update attachments of these kinds, so that those observed become those desired.

    An error does not stop the rest; at the end all are in one SyncError.
    """
    errors: list[str] = []
    resources = {group_key(resource): resource for resource in kinds}
    errors += [f"kind {group!r} is not in the list of attachments" for group in desired if group not in resources]
    for group, resource in resources.items():
        before, after = observed.get(group, {}), desired.get(group, {})
        for name in before.keys() - after.keys():
            try:
                _delete(api, resource, before[name])
            except ApiError as error:
                errors.append(f"can't delete {resource.kind} {name}: {error}")
        for name, each in after.items():
            try:
                if name in before:
                    _update(api, resource, before[name], each)
                else:
                    _create(api, resource, parent, each)
            except (ApiError, ValueError) as error:
                errors.append(str(error))
    if errors:
        # As Go's aggregated errors are written: each once, in brackets if there are several.
        unique = list(dict.fromkeys(errors))
        text = unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
        raise SyncError(f"can't reconcile children for {parent['kind']} {name_of(parent)}: {text}")


def _delete(api: Api, resource: Resource, obj: Object) -> None:
    metadata = obj["metadata"]
    if "deletionTimestamp" in metadata:
        return
    log.info("delete %s %s", resource.kind, name_of(obj))
    # The uid keeps a newer object of the same name from being deleted.
    api.delete(resource, metadata["name"], metadata.get("namespace"), uid=metadata["uid"])


def _create(api: Api, resource: Resource, parent: Object, desired: Object) -> None:
    log.info("create %s %s", resource.kind, name_of(desired))
    # Recorded before anything is added: later, only what the hook itself answered may be removed.
    created = with_last_applied(desired, desired)
    owners = created["metadata"].get("ownerReferences") or []
    if not any(owner["uid"] == parent["metadata"]["uid"] for owner in owners):
        created["metadata"]["ownerReferences"] = [*owners, owner_reference(parent)]
    with _harmless("AlreadyExists"):  # any other refusal, for example by an admission policy, is an error
        api.create(resource, created)


def _update(api: Api, resource: Resource, observed: Object, desired: Object) -> None:
    then = updated(observed, desired)
    if same(then, observed) or "deletionTimestamp" in observed["metadata"]:
        return
    log.info("update %s %s", resource.kind, name_of(observed))
    with _harmless("NotFound", "Conflict"):  # it was changed meanwhile: the event causes another sync
        api.update(resource, then)


@contextmanager
def _harmless(*reasons: str) -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        if error.reason not in reasons:
            raise
        log.info("not done: %s", error)
