# team-a/another-name-with-annotations-refused can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   # Ingress name-with-annotations lacks cert-manager.io/cluster-issuer
#   kubectl annotate --namespace=team-a --resource-version=1 -- service name-with-annotations ingress/http=true ingress/host=another-name-with-annotations-refused.example.com
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/name-with-annotations || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service name-with-annotations ingress/http- ingress/host-'
#   kubectl delete --namespace=team-a -- ingress another-name-with-annotations-refused
#   )
