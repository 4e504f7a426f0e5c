"""`ingress-manager settings`: whether the hook would start with a settings file."""
