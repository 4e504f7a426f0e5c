configmap=$(kubectl get configmaps --namespace=ingress-manager --output=name | grep settings)
kubectl patch "$configmap" --namespace=ingress-manager --type=merge --patch='{"data": {"settings.yaml": "defaults: {clas: nginx}"}}'
