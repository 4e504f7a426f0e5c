# team-a/several-services-without-a-host-refused can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a --resource-version=1 -- service lost-a ingress/http=true ingress/host=lost.example.com
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/lost-a || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service lost-a ingress/http- ingress/host-'
#   # There is no Service lost-gone that could be annotated.
#   # Service lost-regex can't have one: ingress/path: "/re(gex" must not hold * ( ) or +, which are a wildcard or a regular expression to some controllers
#   kubectl annotate --namespace=team-a --resource-version=2 -- service lost-b ingress/http=true 'ingress/host=*' ingress/path=/b
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/lost-b || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service lost-b ingress/http- ingress/host- ingress/path-' '  kubectl annotate --namespace=team-a -- service lost-a ingress/http- ingress/host-'
#   # Take the paths that have moved out of the old Ingress. It stays for the others.
#   )
