kubectl patch service ingress-manager-admission --namespace=ingress-manager --type=merge --patch='{"spec": {"selector": {"app.kubernetes.io/name": "other"}}}'
