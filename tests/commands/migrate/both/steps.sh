set -e

# Settings that say what the ConfigMap team-a/xposer says:
#   defaults:
#     tls:
#       enabled: true
#       secret: "{service}-cert"

# First stop exposecontroller, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

kubectl annotate --namespace=team-a -- service of-exposecontroller ingress/http=true ingress/host=shop.example.org

# When all is well, and exposecontroller is gone for good, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service of-exposecontroller fabric8.io/exposeUrl-

# First stop Xposer, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/xposer
