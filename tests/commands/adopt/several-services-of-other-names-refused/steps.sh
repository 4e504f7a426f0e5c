# team-a/several-services-of-other-names-refused can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a --resource-version=1 -- service other-a ingress/http=true ingress/host=other-names.example.com
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/other-a || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service other-a ingress/http- ingress/host-'
#   kubectl annotate --namespace=team-a --resource-version=2 -- service other-b ingress/http=true ingress/host=other-names.example.com ingress/path=/b
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/other-b || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service other-b ingress/http- ingress/host- ingress/path-' '  kubectl annotate --namespace=team-a -- service other-a ingress/http- ingress/host-'
#   kubectl delete --namespace=team-a -- ingress several-services-of-other-names-refused
#   )
