kubectl scale deployment ingress-manager --namespace=ingress-manager --replicas=0
