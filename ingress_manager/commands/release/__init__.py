"""`ingress-manager release`: an Ingress of ingress-manager's becomes one of nobody's."""
