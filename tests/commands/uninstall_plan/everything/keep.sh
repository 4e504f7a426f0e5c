set -e

# Stop ingress-manager. What it has made is served on.
kubectl delete --ignore-not-found -- decoratorcontroller ingress-manager
kubectl delete --namespace=ingress-manager --cascade=foreground --ignore-not-found -- deployment ingress-manager

# Release what it has made, 2 in all: it stays, also when its Service is deleted.
printf '%s' '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"namespace": "team-a", "name": "shop"}}, {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"namespace": "team-a", "name": "shop"}}]}' | kubectl patch --filename=- --type=json '--patch=[{"op": "test", "path": "/metadata/annotations/metacontroller.k8s.io~1decorator-controller", "value": "ingress-manager"}, {"op": "test", "path": "/metadata/labels/app.kubernetes.io~1managed-by", "value": "ingress-manager"}, {"op": "test", "path": "/metadata/ownerReferences/0/kind", "value": "Service"}, {"op": "test", "path": "/metadata/ownerReferences/0/controller", "value": true}, {"op": "remove", "path": "/metadata/annotations/metacontroller.k8s.io~1decorator-controller"}, {"op": "remove", "path": "/metadata/annotations/metacontroller.k8s.io~1last-applied-configuration"}, {"op": "remove", "path": "/metadata/labels/app.kubernetes.io~1managed-by"}, {"op": "remove", "path": "/metadata/ownerReferences/0"}]'

# Take the annotations off the Services. Whoever keeps Services in Git takes them off there.
printf '%s' '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "team-a", "name": "shop"}}, {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "team-b", "name": "shop"}}]}' | kubectl annotate --filename=- -- ingress/host- ingress/http- ingress/path- internal.ingress/http- internal.ingress/path-

# Remove the webhook, the admission policies and the rights.
kubectl delete --ignore-not-found -- validatingwebhookconfiguration ingress-manager
kubectl delete --ignore-not-found -- validatingadmissionpolicybinding,validatingadmissionpolicy ingress-manager-depth ingress-manager-name-taken ingress-manager-owner-guard ingress-manager-service-guard ingress-manager-httproute-name-taken
kubectl delete --ignore-not-found -- clusterrolebinding,clusterrole ingress-manager ingress-manager-aggregate-to-view ingress-manager-viewer

# Remove the hook's namespace, and Metacontroller, which works for nobody else.
kubectl delete --ignore-not-found -- namespace ingress-manager metacontroller
kubectl delete --ignore-not-found -- crd compositecontrollers.metacontroller.k8s.io controllerrevisions.metacontroller.k8s.io decoratorcontrollers.metacontroller.k8s.io
kubectl delete --ignore-not-found -- clusterrolebinding,clusterrole ingress-manager-metacontroller
