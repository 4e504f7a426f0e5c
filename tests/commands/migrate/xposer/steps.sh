set -e

# Settings that say what the ConfigMap tools/xposer says:
#   defaults:
#     host: "{service}.{namespace}.example.com"

# First stop Xposer, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/xposer

kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.example.org ingress/path=/store ingress/port=8443 ingress/class=internal ingress/tls-secret=shop-team-a-cert

kubectl annotate --namespace=team-b -- service plain ingress/http=true ingress/host=plain.team-b.example.com

# When all is well, and Xposer is gone for good, what only Xposer has read can go:
#   kubectl annotate --namespace=team-a -- service shop config.xposer.stakater.com/IngressNameTemplate- config.xposer.stakater.com/IngressURLTemplate- config.xposer.stakater.com/Domain- config.xposer.stakater.com/TLS- config.xposer.stakater.com/DefaultBackend- xposer.stakater.com/annotations-
