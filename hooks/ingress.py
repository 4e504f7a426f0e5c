"""The Ingress: an exposure written as a Kubernetes object. Nothing is decided here."""

from typing import Any

from hooks.exposure import Exposure

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "ingress-manager"


def ingress(exposure: Exposure) -> dict[str, Any]:
    """Return the Ingress (networking.k8s.io/v1), built afresh with only the fields that we care about.

    Every field that the API server would default inside a list is given: Metacontroller replaces `rules` whole, so a
    default left out would look like drift and be rewritten for ever.
    """
    backend = {"service": {"name": exposure.name, "port": {"number": exposure.port}}}
    path = {"path": exposure.path, "pathType": exposure.path_type, "backend": backend}
    spec: dict[str, Any] = {"rules": [{"host": exposure.host, "http": {"paths": [path]}}]}
    if exposure.ingress_class is not None:
        spec["ingressClassName"] = exposure.ingress_class
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": exposure.name,
            "namespace": exposure.namespace,
            "labels": {MANAGED_BY_LABEL: MANAGED_BY},
        },
        "spec": spec,
    }
