"""`ingress-manager adopt`: bring hand-written Ingresses under management."""
