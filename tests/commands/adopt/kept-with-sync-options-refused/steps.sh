# team-a/kept-with-sync-options-refused can't be adopted as it is. First:
#   # In Git, put on Ingress kept-with-sync-options-refused, and let Argo CD sync:
#   #   argocd.argoproj.io/sync-options: "ServerSideApply=true,Prune=false"
#   # Take the Ingress out of Git. It stays.
#   # Then let Argo CD sync, and plan it again: ingress-manager adopt team-a/kept-with-sync-options-refused
