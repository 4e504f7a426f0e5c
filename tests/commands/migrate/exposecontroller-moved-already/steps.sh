set -e

# Settings that say what the ConfigMap team-a/exposecontroller says:
#   defaults:
#     host: "{service}.{namespace}.apps.example.com"

# First stop exposecontroller, and whatever starts it again: it writes its Ingresses back, and takes them away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

kubectl annotate --namespace=team-a -- service new ingress/http=true ingress/host=new.team-a.apps.example.com

# When all is well, and exposecontroller is gone for good, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service adopted fabric8.io/expose-
#   kubectl annotate --namespace=team-a -- service annotated fabric8.io/expose-
#   kubectl annotate --namespace=team-a -- service new fabric8.io/expose-
