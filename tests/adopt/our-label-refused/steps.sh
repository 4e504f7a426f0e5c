# team-a/our-label-refused can't be adopted as it is. Instead:
#   kubectl label ingress our-label-refused --namespace=team-a app.kubernetes.io/managed-by-
