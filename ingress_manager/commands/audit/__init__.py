"""`ingress-manager audit`: problems in a cluster, and what new settings would change."""
