"""`ingress-manager status`: what is exposed, by which Service, and whether it is served."""
