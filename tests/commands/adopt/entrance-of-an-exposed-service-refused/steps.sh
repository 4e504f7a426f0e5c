# team-a/exposed-service-admin can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a --resource-version=1 -- service exposed-service admin.ingress/http=true admin.ingress/host=admin.example.com
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/exposed-service.admin || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service exposed-service admin.ingress/http- admin.ingress/host-'
#   kubectl delete --namespace=team-a -- ingress exposed-service-admin
#   )
