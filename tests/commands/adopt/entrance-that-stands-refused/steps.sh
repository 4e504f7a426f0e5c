# team-a/old can't be adopted as it is. Instead:
#   (set -e
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/standing.admin
#   kubectl delete --namespace=team-a -- ingress old
#   )
