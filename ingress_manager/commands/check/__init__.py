"""`ingress-manager check`: the installation, part by part, as it is, and what to do where it isn't as it should be."""
