"""The Ingress: an exposure written as a Kubernetes object. Nothing is decided here."""

from typing import Any

from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.outputs.metadata import make_metadata


def make_ingress(exposure: Exposure) -> list[Object]:
    """Return the one Ingress (networking.k8s.io/v1), with only the fields that we care about.

    Every field that the API server would default inside a list is given: Metacontroller replaces `rules` whole, so a
    default left out would look like drift and be rewritten for ever.
    """
    metadata = make_metadata(exposure, exposure.name, exposure.annotations)
    spec: dict[str, Any] = {}
    if exposure.ingress_class is not None:
        spec["ingressClassName"] = exposure.ingress_class
    if exposure.tls:
        spec["tls"] = [{"hosts": [rule.host for rule in exposure.rules]}]
        if exposure.tls_secret is not None:
            spec["tls"][0]["secretName"] = exposure.tls_secret
    spec["rules"] = [
        {
            "host": rule.host,
            "http": {
                "paths": [
                    {
                        "path": path.path,
                        "pathType": path.path_type,
                        "backend": {"service": {"name": exposure.name, "port": {"number": path.port}}},
                    }
                    for path in rule.paths
                ]
            },
        }
        for rule in exposure.rules
    ]
    return [{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}]
