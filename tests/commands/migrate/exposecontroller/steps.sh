# Settings that say what the ConfigMap team-a/exposecontroller says:
#   defaults:
#     host: "{service}.{namespace}.apps.example.com"
#     class: nginx
#     tls:
#       enabled: true
#       secret: "tls-{service}"
#       annotations:
#         kubernetes.io/tls-acme: "true"

# First stop exposecontroller: it would take its Ingresses away with its annotations. For example:
#   kubectl scale --replicas=0 --namespace=NAMESPACE -- deployment/exposecontroller

kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.team-a.apps.example.com ingress/path=/shop ingress/port=8080 ingress/tls-secret=tls-shop nginx.ingress.kubernetes.io/proxy-read-timeout=300

ingress-manager adopt team-a/shop --apply

(set -e
stop() { printf '%s\n' "$@" >&2; exit 1; }
# Its Ingress is called admin, the new one release-admin.
# Where ingress-nginx's admission webhook is installed, it denies the new one until the old one is gone:
# then delete the old one first.
kubectl annotate --namespace=team-a -- service release-admin ingress/http=true ingress/host=admin.team-a.internal.example.com
kubectl wait --for=create --namespace=team-a --timeout=60s -- ingress/release-admin || stop 'To go back:' '  kubectl annotate --namespace=team-a -- service release-admin ingress/http- ingress/host-'
kubectl delete --namespace=team-a -- ingress admin
)

kubectl annotate --namespace=team-a -- service by-path ingress/http=true ingress/host=apps.example.com ingress/path=/team-a/by-path/ ingress/tls-secret=tls-by-path

kubectl annotate --namespace=team-a -- service path-without-a-slash ingress/http=true ingress/host=path-without-a-slash.team-a.apps.example.com ingress/path=/shop ingress/tls-secret=tls-path-without-a-slash

# When all is well, what only exposecontroller has read can go:
#   kubectl annotate --namespace=team-a -- service shop fabric8.io/expose- fabric8.io/exposeUrl- fabric8.io/ingress.path- fabric8.io/exposePort- fabric8.io/ingress.annotations-
#   kubectl annotate --namespace=team-a -- service release-admin fabric8.io/use.internal.domain- fabric8.io/exposeHostNameAs- jenkins-x.io/skip.tls-
#   kubectl annotate --namespace=team-a -- service by-path fabric8.io/expose- fabric8.io/path.mode-
#   kubectl annotate --namespace=team-a -- service path-without-a-slash fabric8.io/expose- fabric8.io/ingress.path-
