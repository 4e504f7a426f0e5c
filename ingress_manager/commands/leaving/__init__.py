"""`ingress-manager leaving`: what becomes of the Ingresses of a controller that goes."""
