"""`ingress-manager play`: a page in a browser that shows what becomes of what is typed."""
