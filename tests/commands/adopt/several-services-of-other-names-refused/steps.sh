# team-a/several-services-of-other-names-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a -- service other-a ingress/http=true ingress/host=other-names.example.com &&
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/other-a &&
#   kubectl annotate --namespace=team-a -- service other-b ingress/http=true ingress/host=other-names.example.com ingress/path=/b &&
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/other-b &&
#   kubectl delete --namespace=team-a -- ingress several-services-of-other-names-refused
