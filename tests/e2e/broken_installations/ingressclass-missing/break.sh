kubectl delete ingressclass ingress-manager
