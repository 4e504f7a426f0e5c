"""`ingress-manager check`: check each part of the installation, and print remedies for problems."""
