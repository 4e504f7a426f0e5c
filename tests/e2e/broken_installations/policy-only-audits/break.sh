kubectl patch validatingadmissionpolicybinding ingress-manager-service-guard --type=merge --patch='{"spec": {"validationActions": ["Audit"]}}'
