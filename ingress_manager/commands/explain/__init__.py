"""`ingress-manager explain`: what a word means."""
