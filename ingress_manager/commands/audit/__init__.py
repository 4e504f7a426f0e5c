"""`ingress-manager audit`: the problems of a cluster, and what other settings would change."""
