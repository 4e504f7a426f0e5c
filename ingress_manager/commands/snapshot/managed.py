"""The marks of a managed object: Metacontroller's annotations, the Service as its controller, and our label.

Source: Metacontroller's decorator controller. It manages an object if an annotation names the DecoratorController and
the object's controller is the parent (here, the Service). Metacontroller ignores the label.
"""

from collections.abc import Iterable
from typing import Any

from ingress_manager.commands.snapshot.items import Item, mappings
from ingress_manager.core.annotations import PREFIX, PROFILE
from ingress_manager.core.copying import COPIED, FINGERPRINT, MANAGED_BY, MANAGED_BY_LABEL, NOT_COPIED
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Object
from ingress_manager.core.vocabulary import OLD_CLASS, READ_FROM_SERVICES, is_for_controllers, is_read_from_services

CONTROLLER = "ingress-manager"
"""The name of the DecoratorController in every installation. Metacontroller and the admission policies recognize
managed objects by it, so a cluster can have only one installation."""

RECORDS = (DECORATOR, LAST_APPLIED, NOT_COPIED, COPIED, PROFILE, FINGERPRINT)
"""The annotations that Metacontroller and ingress-manager write on managed objects."""

BOOKKEEPING = (
    *("kubectl.kubernetes.io/", "meta.helm.sh/", "helm.sh/", "app.kubernetes.io/", "argocd.argoproj.io/"),
    *("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "field.cattle.io/", "objectset.rio.cattle.io/"),
    *(f"ingress.kubernetes.io/{name}" for name in ("backends", "forwarding-rule", "https-forwarding-rule", "ssl-cert")),
    *(f"ingress.kubernetes.io/{name}" for name in ("target-proxy", "https-target-proxy", "url-map", "static-ip")),
    *(PREFIX, "ingress-manager/", "metacontroller.k8s.io/", OLD_CLASS),
)
"""Prefixes of annotations and labels that a recreated object doesn't need: the marks of tools, controllers' records of
objects that they created, and the class, which is in spec.ingressClassName. Sources: the documentation of Helm,
Argo CD, Flux, Rancher and ingress-gce."""


def owners(item: Item) -> list[Object]:
    return mappings(item.metadata.get("ownerReferences"))


def controller_of(item: Item) -> Object:
    """Return the owner reference of an object's controller, or {} if it has none."""
    return next((owner for owner in owners(item) if owner.get("controller") is True), {})


def is_decorated(item: Item) -> bool:
    return item.annotations.get(DECORATOR) == CONTROLLER


def is_labelled(item: Item) -> bool:
    return item.labels.get(MANAGED_BY_LABEL) == MANAGED_BY


def is_managed(item: Item) -> bool:
    """Return whether an object is managed: it has Metacontroller's annotation, and a Service controls it."""
    return is_decorated(item) and controller_of(item).get("kind") == "Service"


def is_made_for(item: Item, service: Item) -> bool:
    return is_managed(item) and controller_of(item).get("uid") == service.metadata.get("uid")


def copied_from(service: Item, objects: Iterable[Item]) -> list[str]:
    """Return the sorted keys of annotations copied to `objects`, except any that controllers read from Services."""
    same = {pair for item in objects for pair in item.annotations.items()} & service.annotations.items()
    return [key for key, _ in sorted(same) if is_for_controllers(key) and not is_read_from_services(key)]


def is_read_from_services_alone(key: str) -> bool:
    """Return whether controllers read an annotation only from Services, not from Ingresses."""
    return bool((match := READ_FROM_SERVICES.fullmatch(key)) and match["alone"])


def patch_to_own(item: Item, service: Item) -> dict[str, Any]:
    """Return the metadata of a merge patch that makes a Service the owner of an object that has no owner."""
    reference = {"apiVersion": "v1", "kind": "Service", "name": service.name, "uid": service.metadata.get("uid")}
    reference |= {"controller": True, "blockOwnerDeletion": True}
    annotations: dict[str, Any] = {DECORATOR: CONTROLLER}
    if LAST_APPLIED in item.annotations:
        # With an old record, Metacontroller would remove the fields that only the record has.
        annotations[LAST_APPLIED] = None
    marks = {"labels": {MANAGED_BY_LABEL: MANAGED_BY}, "annotations": annotations, "ownerReferences": [reference]}
    return {"resourceVersion": item.metadata.get("resourceVersion"), **marks}


def operations_to_disown(item: Item) -> list[dict[str, Any]]:
    """Return a JSON patch (RFC 6902) that releases a managed object.

    The patch has no resourceVersion, so that many objects can share it. Its `test` operations make the API server
    reject the patch if the object is no longer managed. One patch removes everything, because an admission policy
    rejects a patch that removes the owner and leaves Metacontroller's annotation.
    """
    marks = [("annotations", key) for key in RECORDS if key in item.annotations]
    marks += [("labels", MANAGED_BY_LABEL)] if is_labelled(item) else []
    decorator, *others = (f"/metadata/{group}/{key.replace('/', '~1')}" for group, key in marks)
    owner = f"/metadata/ownerReferences/{owners(item).index(controller_of(item))}"
    tests = {decorator: CONTROLLER, f"{owner}/kind": "Service", f"{owner}/controller": True}
    tested = [{"op": "test", "path": path, "value": value} for path, value in tests.items()]
    return [*tested, *({"op": "remove", "path": path} for path in (decorator, *others, owner))]
