kubectl patch deployment metacontroller --namespace=metacontroller --subresource=status --type=merge --patch='{"status": {"readyReplicas": null, "availableReplicas": null}}'
