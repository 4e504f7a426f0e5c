# team-a/another-name-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a -- service another-name ingress/http=true ingress/host=another-name-refused.example.com &&
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/another-name &&
#   kubectl delete --namespace=team-a -- ingress another-name-refused
