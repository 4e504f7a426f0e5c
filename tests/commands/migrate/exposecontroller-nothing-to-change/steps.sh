set -e

# Settings that say what the ConfigMap team-a/exposecontroller says:
#   defaults:
#     host: "{service}-{namespace}.apps.example.com"
#     tls:
#       enabled: true
#       secret: "tls-{service}"
#       annotations:
#         kubernetes.io/tls-acme: "true"

# First stop exposecontroller, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

kubectl annotate --namespace=team-a -- service shop ingress/http=true

kubectl annotate --namespace=team-a -- service named ingress/http=true ingress/host=store-team-a.apps.example.com ingress/tls=false

# When all is well, and exposecontroller is gone for good, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service shop fabric8.io/expose-
#   kubectl annotate --namespace=team-a -- service named fabric8.io/expose- fabric8.io/host.name- jenkins-x.io/skip.tls-
