# team-a/kept-by-helm-refused can't be adopted as it is. First:
#   kubectl annotate --namespace=team-a -- ingress kept-by-helm-refused helm.sh/resource-policy=keep
#   # In the chart, put on Service kept-by-helm-refused:
#   #   ingress/http: "true"
#   #   ingress/host: "kept-by-helm-refused.example.com"
#   # Take the Ingress out of the chart. It stays.
#   # Then run `helm upgrade`, and plan it again: ingress-manager adopt team-a/kept-by-helm-refused
