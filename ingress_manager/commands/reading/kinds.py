"""The kinds of objects that commands go by, each with its apiVersion."""

SERVICES = "v1/Service"
INGRESSES = "networking.k8s.io/v1/Ingress"
HTTPROUTES = "gateway.networking.k8s.io/v1/HTTPRoute"
