"""`ingress-manager check`: check each part of the installation, and say how to fix what is wrong."""
