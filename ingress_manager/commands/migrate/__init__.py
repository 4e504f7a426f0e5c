"""`ingress-manager migrate`: from exposecontroller or Xposer."""
