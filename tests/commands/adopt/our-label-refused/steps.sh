# team-a/our-label-refused can't be adopted as it is. First:
#   kubectl label --namespace=team-a -- ingress our-label-refused app.kubernetes.io/managed-by-
