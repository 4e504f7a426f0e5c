# team-a/another-name-with-a-named-port-refused can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   # Ingress named-port differs: spec.rules.http.paths.backend.service.port: http would become 80 for another-name-with-a-named-port-refused.example.com/, which is the same port
#   kubectl annotate --namespace=team-a --resource-version=1 -- service named-port ingress/http=true ingress/host=another-name-with-a-named-port-refused.example.com
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/named-port || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service named-port ingress/http- ingress/host-'
#   kubectl delete --namespace=team-a -- ingress another-name-with-a-named-port-refused
#   )
