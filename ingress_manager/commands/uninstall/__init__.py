"""`ingress-manager uninstall`: ingress-manager goes."""
