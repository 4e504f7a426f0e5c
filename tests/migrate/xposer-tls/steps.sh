# Settings that say what the ConfigMap team-a/xposer says:
#   host: "{service}.example.org"
#   tls:
#     enabled: true
#     secret: "{service}"

# First stop Xposer: it would take its Ingresses away with its annotations. For example:
#   kubectl scale deployment/xposer --replicas=0 --namespace=NAMESPACE

kubectl annotate service shop --namespace=team-a ingress/http=true ingress/host=shop.example.org ingress/path=/shop ingress/tls-secret=shop-certificate

kubectl annotate service blog --namespace=team-a ingress/http=true ingress/host=blog.example.org ingress/path=/unused ingress/tls-secret=blog nginx.ingress.kubernetes.io/ssl-redirect=true

# When all is well, what only Xposer has read can go:
#   kubectl annotate service shop --namespace=team-a config.xposer.stakater.com/IngressURLPath- config.xposer.stakater.com/TLSSecretNameTemplate-
#   kubectl annotate service blog --namespace=team-a xposer.stakater.com/annotations-
