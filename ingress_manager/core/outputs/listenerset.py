"""The ListenerSets: each host of an exposure as a listener of a Gateway, with the Service's own certificate.

One for each host: Metacontroller takes the items of a list that all have a port for those of a map by their ports, so
that of several listeners at one port the last one would be left. Source: the Gateway API reference, ListenerSet v1.
"""

from hashlib import sha256

from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import API_VERSIONS, GATEWAY_API, Object
from ingress_manager.core.outputs.metadata import make_metadata, name_of
from ingress_manager.core.routing import Listeners, Parent
from ingress_manager.core.syntax import EVERY_HOST

ISSUERS = frozenset(["cert-manager.io/issuer", "cert-manager.io/cluster-issuer"])
"""The annotations by which cert-manager makes the certificates."""


def make_listenersets(exposure: Exposure, parent: Parent | Listeners) -> list[Object]:
    """Return the ListenerSets (gateway.networking.k8s.io/v1); none where a listener of the Gateway serves it.

    As with HTTPRoutes, every field is given that the API server would default inside a list.
    """
    if isinstance(parent, Parent):
        return []
    names = {rule.host: name_of(exposure, [rule.host]) for rule in exposure.rules}
    return [make_one(exposure, parent, host, name) for host, name in names.items()]


def make_one(exposure: Exposure, parent: Listeners, host: str, name: str) -> Object:
    """Return the ListenerSet of a host."""
    gateway, secret, annotations = parent.gateway, exposure.basis.secret, parent.annotations
    # cert-manager makes one certificate for a Secret: of the hosts of an Ingress, or of one ListenerSet.
    if name != exposure.basis.name and not ISSUERS.isdisjoint(annotations):
        secret = f"{secret}-{sha256(host.encode()).hexdigest()[:8]}"
    elif exposure.basis.policy.makes_ingresses:
        annotations = {key: value for key, value in annotations.items() if key not in ISSUERS}
    listener = {
        "name": "https",
        **({} if host == EVERY_HOST else {"hostname": host}),
        "port": parent.port,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]},
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    of_gateway = {"group": GATEWAY_API, "kind": "Gateway", "namespace": gateway.namespace, "name": gateway.name}
    return {
        "apiVersion": API_VERSIONS["ListenerSet"],
        "kind": "ListenerSet",
        "metadata": make_metadata(exposure, name, annotations),
        "spec": {"parentRef": of_gateway, "listeners": [listener]},
    }
