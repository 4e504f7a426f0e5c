set -e

# Settings that say what the ConfigMap team-a/exposecontroller says:
#   defaults:
#     host: "{service}.{namespace}.apps.example.com"
#     class: nginx

# First stop exposecontroller, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

(set -e
# The IngressClass has to be there before an Ingress names it.
kubectl get -- ingressclass nginx
# spec.ingressClassName: nothing would become "nginx", as its annotation kubernetes.io/ingress.class says; there has to be an IngressClass of that name
# spec.rules.http.paths.path: "" would become "/" for shop.team-a.apps.example.com, which is the same prefix
# spec.rules.http.paths.pathType: ImplementationSpecific would become Prefix for shop.team-a.apps.example.com
ingress-manager adopt team-a/shop --accept-changes=spec.ingressClassName --accept-changes=spec.rules.http.paths.path --accept-changes=spec.rules.http.paths.pathType --apply
)

# When all is well, and exposecontroller is gone for good, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service shop fabric8.io/expose-
