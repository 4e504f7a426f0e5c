# Settings that say what the ConfigMap tools/exposecontroller says:
#   host: example.org
#   tls:
#     enabled: true
#     secret: wildcard

# First stop exposecontroller: it would take its Ingresses away with its annotations. For example:
#   kubectl scale deployment/exposecontroller --replicas=0 --namespace=NAMESPACE

kubectl annotate service shop --namespace=team-a ingress/http=true ingress/host=example.org ingress/path=/team-a/store/ ingress/port=8080 ingress/tls-secret=wildcard

# When all is well, what only exposecontroller has read can go:
#   kubectl annotate service shop --namespace=team-a fabric8.io/ingress.name- fabric8.io/exposePort- fabric8.io/inject- api.service.kubernetes.io/path- expose.config.fabric8.io/config-yaml-
