"""`ingress-manager adopt`: a hand-written Ingress becomes ingress-manager's."""
