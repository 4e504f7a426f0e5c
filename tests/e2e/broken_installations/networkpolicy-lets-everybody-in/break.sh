kubectl patch networkpolicy ingress-manager --namespace=ingress-manager --type=merge --patch='{"spec": {"ingress": [{}]}}'
