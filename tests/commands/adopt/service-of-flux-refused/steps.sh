# team-a/service-of-flux-refused can't be adopted as it is. First:
#   # In Git, put on Service service-of-flux-refused:
#   #   ingress/http: "true"
#   #   ingress/host: "service-of-flux-refused.example.com"
#   # Then let Flux reconcile, and plan it again: ingress-manager adopt team-a/service-of-flux-refused
