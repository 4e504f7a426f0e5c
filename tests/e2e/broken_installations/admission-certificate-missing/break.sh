kubectl delete secret ingress-manager-admission-tls --namespace=ingress-manager
