# team-a/several-services-of-other-names-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate service other-a --namespace=team-a ingress/http=true ingress/host=other-names.example.com &&
#   kubectl wait --for=create ingress/other-a --namespace=team-a --timeout=60s &&
#   kubectl annotate service other-b --namespace=team-a ingress/http=true ingress/host=other-names.example.com ingress/path=/b &&
#   kubectl wait --for=create ingress/other-b --namespace=team-a --timeout=60s &&
#   kubectl delete ingress several-services-of-other-names-refused --namespace=team-a
