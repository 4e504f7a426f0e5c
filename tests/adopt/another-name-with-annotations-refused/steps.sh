# team-a/another-name-with-annotations-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   # Ingress name-with-annotations lacks cert-manager.io/cluster-issuer
#   kubectl annotate service name-with-annotations --namespace=team-a ingress/http=true ingress/host=another-name-with-annotations-refused.example.com &&
#   kubectl wait --for=create ingress/name-with-annotations --namespace=team-a --timeout=60s &&
#   kubectl delete ingress another-name-with-annotations-refused --namespace=team-a
