"""`ingress-manager audit`: what of a cluster needs a person, and what other settings would change."""
