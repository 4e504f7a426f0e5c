# team-a/kept-by-flux-refused can't be adopted as it is. First:
#   # In Git, put on Ingress kept-by-flux-refused, and let Flux reconcile:
#   #   kustomize.toolkit.fluxcd.io/prune: "disabled"
#   # In Git, put on Service kept-by-flux-refused:
#   #   ingress/http: "true"
#   #   ingress/host: "kept-by-flux-refused.example.com"
#   # Take the Ingress out of Git. It stays.
#   # Then let Flux reconcile, and plan it again: ingress-manager adopt team-a/kept-by-flux-refused
