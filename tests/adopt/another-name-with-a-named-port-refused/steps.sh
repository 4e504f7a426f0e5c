# team-a/another-name-with-a-named-port-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   # Ingress named-port differs: spec.rules.http.paths.backend.service.port: http would become 80 for another-name-with-a-named-port-refused.example.com/, which is the same port
#   kubectl annotate service named-port --namespace=team-a ingress/http=true ingress/host=another-name-with-a-named-port-refused.example.com &&
#   kubectl wait --for=create ingress/named-port --namespace=team-a --timeout=60s &&
#   kubectl delete ingress another-name-with-a-named-port-refused --namespace=team-a
