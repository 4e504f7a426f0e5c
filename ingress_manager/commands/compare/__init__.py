"""`ingress-manager compare`: whether two controllers answer alike."""
