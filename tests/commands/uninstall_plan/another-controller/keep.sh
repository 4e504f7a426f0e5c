set -e

# Stop ingress-manager. What it has made is served on.
kubectl delete --ignore-not-found -- decoratorcontroller ingress-manager
kubectl delete --namespace=ingress-manager --cascade=foreground --ignore-not-found -- deployment ingress-manager

# Remove the webhook, the admission policies and the rights.
kubectl delete --ignore-not-found -- validatingwebhookconfiguration ingress-manager
kubectl delete --ignore-not-found -- validatingadmissionpolicybinding,validatingadmissionpolicy ingress-manager-depth ingress-manager-name-taken ingress-manager-owner-guard ingress-manager-service-guard ingress-manager-httproute-name-taken
kubectl delete --ignore-not-found -- clusterrolebinding,clusterrole ingress-manager ingress-manager-aggregate-to-view ingress-manager-viewer

# Remove the hook's namespace.
kubectl delete --ignore-not-found -- namespace ingress-manager

# Metacontroller stays: it also works for CompositeController blue.
