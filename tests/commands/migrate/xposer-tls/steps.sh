set -e

# Settings that say what the ConfigMap team-a/xposer says:
#   defaults:
#     host: "{service}.example.org"
#     tls:
#       enabled: true
#       secret: "{service}"

# First stop Xposer, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/xposer

kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.example.org ingress/path=/shop ingress/tls-secret=shop-certificate

kubectl annotate --namespace=team-a -- service blog ingress/http=true ingress/host=blog.example.org ingress/path=/unused ingress/tls-secret=blog nginx.ingress.kubernetes.io/ssl-redirect=true

# When all is well, and Xposer is gone for good, what only Xposer has read can go:
#   kubectl annotate --namespace=team-a -- service shop config.xposer.stakater.com/IngressURLPath- config.xposer.stakater.com/TLSSecretNameTemplate-
#   kubectl annotate --namespace=team-a -- service blog xposer.stakater.com/annotations-
