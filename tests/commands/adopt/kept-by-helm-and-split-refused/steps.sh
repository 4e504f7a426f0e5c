# team-a/kept-by-helm-and-split-refused can't be adopted as it is. First:
#   kubectl annotate --namespace=team-a -- ingress kept-by-helm-and-split-refused helm.sh/resource-policy=keep
#   # Take the Ingress out of the chart. It stays.
#   # Then run `helm upgrade`, and plan it again: ingress-manager adopt team-a/kept-by-helm-and-split-refused
