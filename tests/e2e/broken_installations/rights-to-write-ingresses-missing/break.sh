kubectl patch clusterrole ingress-manager --type=json --patch='[{"op": "replace", "path": "/rules/1/verbs", "value": ["list", "watch", "create"]}]'
