kubectl delete deployment ingress-manager --namespace=ingress-manager
