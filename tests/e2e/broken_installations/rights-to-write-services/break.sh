kubectl patch clusterrole ingress-manager --type=json --patch='[{"op": "add", "path": "/rules/0/verbs/-", "value": "update"}]'
