# team-a/another-name-refused can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a --resource-version=1 -- service another-name ingress/http=true ingress/host=another-name-refused.example.com
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/another-name || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service another-name ingress/http- ingress/host-'
#   kubectl delete --namespace=team-a -- ingress another-name-refused
#   )
