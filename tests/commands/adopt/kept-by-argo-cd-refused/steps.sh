# team-a/kept-by-argo-cd-refused can't be adopted as it is. First:
#   kubectl annotate --namespace=team-a -- ingress kept-by-argo-cd-refused argocd.argoproj.io/sync-options=Prune=false
#   # Take the Ingress out of Git. It stays.
#   # Then let Argo CD sync, and plan it again: ingress-manager adopt team-a/kept-by-argo-cd-refused
