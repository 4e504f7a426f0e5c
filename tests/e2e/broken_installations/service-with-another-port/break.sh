kubectl patch service ingress-manager --namespace=ingress-manager --type=json --patch='[{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]'
