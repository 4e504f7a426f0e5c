# team-a/several-services-and-a-default-backend-refused can't be adopted as it is. Instead:
#   (set -e
#   stop() { printf '%s\n' "$@" >&2; exit 1; }
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate --namespace=team-a --resource-version=2 -- service several-blog ingress/http=true ingress/host=blog.example.com ingress/tls-secret=blog
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/several-blog || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service several-blog ingress/http- ingress/host- ingress/tls-secret-'
#   kubectl annotate --namespace=team-a --resource-version=3 -- service fallback ingress/http=true ingress/default-backend=true 'ingress/certificates=[{hosts: [of-no-rule.example.com], secret: other}]'
#   kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/fallback || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service fallback ingress/http- ingress/default-backend- ingress/certificates-' '  kubectl annotate --namespace=team-a -- service several-blog ingress/http- ingress/host- ingress/tls-secret-'
#   kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "4"}, "spec": {"rules": [{"host": "shop.several.example.com", "http": {"paths": [{"pathType": "Prefix", "backend": {"service": {"name": "several-services-and-a-default-backend-refused", "port": {"number": 80}}}, "path": "/"}]}}], "tls": [{"hosts": ["*.several.example.com"], "secretName": "wild"}], "defaultBackend": null}}' -- ingress several-services-and-a-default-backend-refused
#   ingress-manager adopt team-a/several-services-and-a-default-backend-refused --apply
#   )
