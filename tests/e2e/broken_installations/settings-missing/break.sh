configmap=$(kubectl get configmaps --namespace=ingress-manager --output=name | grep settings)
kubectl delete "$configmap" --namespace=ingress-manager
