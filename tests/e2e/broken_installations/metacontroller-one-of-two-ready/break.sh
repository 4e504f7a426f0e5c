kubectl patch deployment metacontroller --namespace=metacontroller --subresource=status --type=merge --patch='{"status": {"readyReplicas": 1, "availableReplicas": 1}}'
