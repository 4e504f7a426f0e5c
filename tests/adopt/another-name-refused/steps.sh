# team-a/another-name-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate service another-name --namespace=team-a ingress/http=true ingress/host=another-name-refused.example.com &&
#   kubectl wait --for=create ingress/another-name --namespace=team-a --timeout=60s &&
#   kubectl delete ingress another-name-refused --namespace=team-a
