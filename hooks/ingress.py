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
    metadata: dict[str, Any] = {
        "name": exposure.name,
        "namespace": exposure.namespace,
        "labels": {MANAGED_BY_LABEL: MANAGED_BY},
    }
    if exposure.annotations:
        metadata["annotations"] = exposure.annotations
    spec: dict[str, Any] = {}
    if exposure.ingress_class is not None:
        spec["ingressClassName"] = exposure.ingress_class
    if exposure.tls is not None:
        spec["tls"] = [{"hosts": list(exposure.ports)}]
        if exposure.tls.secret is not None:
            spec["tls"][0]["secretName"] = exposure.tls.secret
    spec["rules"] = [
        {
            "host": host,
            "http": {
                "paths": [
                    {
                        "path": path,
                        "pathType": path_type,
                        "backend": {"service": {"name": exposure.name, "port": {"number": port}}},
                    }
                    for (path, path_type), port in of_host.items()
                ]
            },
        }
        for host, of_host in exposure.ports.items()
    ]
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}
