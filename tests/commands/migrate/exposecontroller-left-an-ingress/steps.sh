# Settings that say what the ConfigMap team-a/exposecontroller says:
#   defaults:
#     host: "{service}.{namespace}.apps.example.com"
#     class: nginx

# First stop exposecontroller: it would take its Ingresses away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.team-a.apps.example.com

# spec.ingressClassName: nothing would become "nginx", as its annotation kubernetes.io/ingress.class says; there has to be an IngressClass of that name
# spec.rules.http.paths.path: "" would become "/" for shop.team-a.apps.example.com
# spec.rules.http.paths.pathType: ImplementationSpecific would become Prefix for shop.team-a.apps.example.com
ingress-manager adopt team-a/shop --accept-changes=spec.ingressClassName --accept-changes=spec.rules.http.paths.path --accept-changes=spec.rules.http.paths.pathType --apply

# When all is well, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service shop fabric8.io/expose-
