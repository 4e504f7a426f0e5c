kubectl patch validatingwebhookconfiguration ingress-manager --type=json --patch='[{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 30}]'
