kubectl patch service ingress-manager --namespace=ingress-manager --patch='{"spec": {"selector": {"app.kubernetes.io/name": "other"}}}'
