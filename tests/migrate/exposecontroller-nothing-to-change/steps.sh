# Settings that say what the ConfigMap team-a/exposecontroller says:
#   host: "{service}-{namespace}.apps.example.com"
#   tls:
#     enabled: true
#     secret: "tls-{service}"
#     annotations:
#       kubernetes.io/tls-acme: "true"

# First stop exposecontroller: it would take its Ingresses away with its annotations. For example:
#   kubectl scale deployment/exposecontroller --replicas=0 --namespace=NAMESPACE

kubectl annotate service shop --namespace=team-a ingress/http=true

kubectl annotate service named --namespace=team-a ingress/http=true ingress/host=store-team-a.apps.example.com ingress/tls=false

# When all is well, what only exposecontroller has read can go:
#   kubectl annotate service shop --namespace=team-a fabric8.io/expose-
#   kubectl annotate service named --namespace=team-a fabric8.io/expose- fabric8.io/host.name- jenkins-x.io/skip.tls-
