set -e

# Settings that say what the ConfigMap tools/exposecontroller says:
#   defaults:
#     host: example.org
#     tls:
#       enabled: true
#       secret: wildcard

# First stop exposecontroller, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=example.org ingress/path=/team-a/store/ ingress/port=8080 ingress/tls-secret=wildcard

# When all is well, and exposecontroller is gone for good, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service shop fabric8.io/ingress.name- fabric8.io/exposePort- fabric8.io/inject- api.service.kubernetes.io/path- expose.config.fabric8.io/config-yaml-
