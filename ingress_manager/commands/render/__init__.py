"""`ingress-manager render`: what Services become."""
