kubectl patch deployment ingress-manager --namespace=ingress-manager --subresource=status --type=merge --patch='{"status": {"readyReplicas": 0, "availableReplicas": 0}}'
