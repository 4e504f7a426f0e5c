# team-a/several-services-refused can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a --resource-version=2 -- service several-services-cart ingress/http=true ingress/host=several.example.com ingress/path=/cart ingress/port=8080 ingress/tls-secret=several
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/several-services-cart || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service several-services-cart ingress/http- ingress/host- ingress/path- ingress/port- ingress/tls-secret-'
#   kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "3"}, "spec": {"rules": [{"host": "several.example.com", "http": {"paths": [{"pathType": "Prefix", "backend": {"service": {"name": "several-services-refused", "port": {"number": 80}}}, "path": "/"}]}}], "tls": [{"hosts": ["several.example.com"], "secretName": "several"}]}}' -- ingress several-services-refused
#   ingress-manager adopt team-a/several-services-refused --apply
#   )
