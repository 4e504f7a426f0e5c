# team-a/several-services-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   kubectl annotate service several-services-cart --namespace=team-a ingress/http=true ingress/host=several.example.com ingress/path=/cart ingress/port=8080 ingress/tls-secret=several &&
#   kubectl wait --for=create ingress/several-services-cart --namespace=team-a --timeout=60s &&
#   kubectl patch ingress several-services-refused --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "3"}, "spec": {"rules": [{"host": "several.example.com", "http": {"paths": [{"pathType": "Prefix", "backend": {"service": {"name": "several-services-refused", "port": {"number": 80}}}, "path": "/"}]}}], "tls": [{"hosts": ["several.example.com"], "secretName": "several"}]}}' &&
#   ingress-manager adopt team-a/several-services-refused --apply
