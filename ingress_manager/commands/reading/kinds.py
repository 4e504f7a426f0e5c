"""The kinds of objects that commands go by."""

SERVICE, INGRESS, HTTPROUTE, LISTENERSET = "Service", "Ingress", "HTTPRoute", "ListenerSet"

SERVICES = "v1/Service"
INGRESSES = "networking.k8s.io/v1/Ingress"
HTTPROUTES = "gateway.networking.k8s.io/v1/HTTPRoute"
LISTENERSETS = "gateway.networking.k8s.io/v1/ListenerSet"
"""Each with its apiVersion, as `Item.kind` has it."""

VERSIONS = {SERVICE: SERVICES, INGRESS: INGRESSES, HTTPROUTE: HTTPROUTES, LISTENERSET: LISTENERSETS}
"""The kinds whose objects commands read and kubectl is told to change, each in the one version that is read."""

RESOURCES = {
    INGRESS: "ingresses.networking.k8s.io",
    HTTPROUTE: "httproutes.gateway.networking.k8s.io",
    LISTENERSET: "listenersets.gateway.networking.k8s.io",
}
"""What is made for Services, in the order in which `Observed` has it, as kubectl is asked for it. It may know others of
the same names, too."""

OF_GATEWAY_API = (RESOURCES[HTTPROUTE], RESOURCES[LISTENERSET])
"""What may be made, and a cluster may not know."""

LISTS = {
    "services": "/api/v1/services",
    RESOURCES[INGRESS]: "/apis/networking.k8s.io/v1/ingresses",
    "endpointslices.discovery.k8s.io": "/apis/discovery.k8s.io/v1/endpointslices",
}
"""Of what there may be ten thousand: where the API server lists those of all namespaces."""
