"""`ingress-manager audit --leaving ingress-nginx`: what becomes of hand-written Ingresses without ingress-nginx."""
