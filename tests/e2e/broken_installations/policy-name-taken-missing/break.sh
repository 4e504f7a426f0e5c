kubectl delete validatingadmissionpolicy ingress-manager-name-taken
