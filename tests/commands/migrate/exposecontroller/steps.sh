set -e

# Settings that say what the ConfigMap team-a/exposecontroller says:
#   defaults:
#     host: "{service}.{namespace}.apps.example.com"
#     class: nginx
#     tls:
#       enabled: true
#       secret: "tls-{service}"
#       annotations:
#         kubernetes.io/tls-acme: "true"

# First stop exposecontroller, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

# spec.rules.http.paths.path: "/shop/" would become "/shop" for shop.team-a.apps.example.com/shop/
# spec.rules.http.paths.pathType: ImplementationSpecific would become Prefix for shop.team-a.apps.example.com/shop/
# spec.rules.http.paths.backend.service.port: alternative would become 8080 for shop.team-a.apps.example.com/shop/, which is the same port
ingress-manager adopt team-a/shop --accept-changes=spec.rules.http.paths.path --accept-changes=spec.rules.http.paths.pathType --accept-changes=spec.rules.http.paths.backend.service.port --apply

# spec.rules.http.paths.path: "" would become "/" for admin.team-a.internal.example.com, which is the same prefix
# spec.rules.http.paths.pathType: ImplementationSpecific would become Prefix for admin.team-a.internal.example.com
ingress-manager adopt team-a/admin --accept-changes=spec.rules.http.paths.path --accept-changes=spec.rules.http.paths.pathType --apply

kubectl annotate --namespace=team-a -- service by-path ingress/http=true ingress/host=apps.example.com ingress/path=/team-a/by-path/ ingress/tls-secret=tls-by-path

kubectl annotate --namespace=team-a -- service path-without-a-slash ingress/http=true ingress/host=path-without-a-slash.team-a.apps.example.com ingress/path=/shop ingress/tls-secret=tls-path-without-a-slash

# When all is well, and exposecontroller is gone for good, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service shop fabric8.io/expose- fabric8.io/exposeUrl- fabric8.io/ingress.path- fabric8.io/exposePort- fabric8.io/ingress.annotations-
#   kubectl annotate --namespace=team-a -- service release-admin fabric8.io/use.internal.domain- fabric8.io/exposeHostNameAs- jenkins-x.io/skip.tls-
#   kubectl annotate --namespace=team-a -- service by-path fabric8.io/expose- fabric8.io/path.mode-
#   kubectl annotate --namespace=team-a -- service path-without-a-slash fabric8.io/expose- fabric8.io/ingress.path-
