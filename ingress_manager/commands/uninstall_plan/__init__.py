"""`ingress-manager uninstall-plan`: the commands after which ingress-manager can go."""
