set -e

# Stop ingress-manager. What it has made is served on.
kubectl delete --ignore-not-found -- decoratorcontroller ingress-manager
kubectl delete --namespace=ingress-manager --cascade=foreground --ignore-not-found -- deployment ingress-manager

# Remove what it has made, 2 in all: from here on, nothing serves the Services.
kubectl delete --namespace=team-a --ignore-not-found -- ingress shop
kubectl delete --namespace=team-a --ignore-not-found -- httproute shop

# Take the annotations off the Services. Whoever keeps Services in Git takes them off there.
kubectl annotate --namespace=team-a -- service shop ingress/host- ingress/http- ingress/path- internal.ingress/http- internal.ingress/path-
kubectl annotate --namespace=team-b -- service shop ingress/host- ingress/http- ingress/path- internal.ingress/http- internal.ingress/path-

# Remove the admission policies, the rights, and the hook's namespace.
kubectl delete --ignore-not-found -- validatingadmissionpolicybinding,validatingadmissionpolicy ingress-manager-depth ingress-manager-name-taken ingress-manager-owner-guard ingress-manager-service-guard ingress-manager-httproute-name-taken
kubectl delete --ignore-not-found -- clusterrolebinding,clusterrole ingress-manager
kubectl delete --ignore-not-found -- namespace ingress-manager

# Remove Metacontroller. It works for nobody else.
kubectl delete --ignore-not-found -- namespace metacontroller
kubectl delete --ignore-not-found -- crd compositecontrollers.metacontroller.k8s.io controllerrevisions.metacontroller.k8s.io decoratorcontrollers.metacontroller.k8s.io
kubectl delete --ignore-not-found -- clusterrolebinding,clusterrole ingress-manager-metacontroller
