set -e

# Settings that say what the ConfigMap team-a/exposecontroller says:
#   defaults:
#     host: "{service}.{namespace}.apps.example.com"
#     tls:
#       enabled: true
#       secret: "tls-{service}"
#       annotations:
#         kubernetes.io/tls-acme: "true"

# First stop exposecontroller, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

kubectl annotate --namespace=team-a -- service without-tls ingress/http=true ingress/tls=false

# When all is well, and exposecontroller is gone for good, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service without-tls fabric8.io/expose- jenkins-x.io/skip.tls- fabric8.io/ingress.annotations-
