kubectl patch validatingadmissionpolicy ingress-manager-depth --type=merge --patch='{"spec": {"failurePolicy": "Ignore"}}'
