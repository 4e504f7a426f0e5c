kubectl delete service ingress-manager --namespace=ingress-manager
