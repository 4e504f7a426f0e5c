kubectl delete gateways.gateway.networking.k8s.io ingress-manager --namespace=ingress-manager-gateway
