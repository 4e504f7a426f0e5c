"""Ownership: whose the Ingress is that already bears the Service's name.

Metacontroller changes and deletes only its attachments: an Ingress whose controller is the Service (by uid) and that
carries Metacontroller's annotation. Any other Ingress of that name makes its create fail without a word to the
Service's owner, so the hook says it.
"""

from hooks.answers import Refused
from hooks.contract import ObservedIngress, OwnerReference, SyncRequest
from hooks.ingress import MANAGED_BY, MANAGED_BY_LABEL

DECORATOR_ANNOTATION = "metacontroller.k8s.io/decorator-controller"
"""Its value names the DecoratorController that made the object (pkg/controller/decorator of Metacontroller 4.17.2)."""


def refuse_disowned(request: SyncRequest) -> None:
    """Raise Refused (409) when the Ingress made for this Service has lost Metacontroller's annotation.

    Metacontroller would neither update nor delete it any more, not even when the Service opts out.
    """
    found = namesake(request)
    if found is None or carries_mark(found, request):
        return
    owner = controller_of(found)
    made_here = (found.metadata.labels or {}).get(MANAGED_BY_LABEL) == MANAGED_BY
    if made_here and owner is not None and owner.uid == request.object.metadata.uid:
        raise Refused(
            409,
            f"Ingress {found.metadata.namespace}/{found.metadata.name} was made for this Service but has lost its "
            f"annotation {DECORATOR_ANNOTATION}: {request.controller.metadata.name}, so it stays as it is; "
            "put the annotation back or delete the Ingress",
        )


def refuse_stranger(request: SyncRequest) -> None:
    """Raise Refused (409), naming it, when an Ingress that isn't this Service's has the Service's name."""
    found = namesake(request)
    if found is None:
        return
    service = request.object.metadata
    owner = controller_of(found)
    if owner is not None and (owner.api_version, owner.kind, owner.name) == ("v1", "Service", service.name):
        outlived_its_service = owner.uid != service.uid  # and is about to be garbage-collected
        if outlived_its_service or carries_mark(found, request):
            return
    controlled = f"controlled by {owner.kind} {owner.name}" if owner else "not made by ingress-manager"
    raise Refused(
        409,
        f"Ingress {found.metadata.namespace}/{found.metadata.name} is in the way: it is {controlled} "
        "and is left alone; once it is deleted, this Service gets its own",
    )


def namesake(request: SyncRequest) -> ObservedIngress | None:
    """Return the Ingress that has the Service's namespace and name, if there is one."""
    service = request.object.metadata
    return request.related.ingresses.get(f"{service.namespace}/{service.name}")


def controller_of(ingress: ObservedIngress) -> OwnerReference | None:
    """Return the one ownerReference whose `controller` is true (OwnerReference v1 meta), if there is one."""
    return next((owner for owner in ingress.metadata.owner_references or [] if owner.controller), None)


def carries_mark(ingress: ObservedIngress, request: SyncRequest) -> bool:
    """Return whether the DecoratorController that asks would know the Ingress as one that it made."""
    annotations = ingress.metadata.annotations or {}
    return annotations.get(DECORATOR_ANNOTATION) == request.controller.metadata.name
