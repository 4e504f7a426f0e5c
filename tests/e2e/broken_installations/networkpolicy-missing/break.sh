kubectl delete networkpolicy ingress-manager --namespace=ingress-manager
