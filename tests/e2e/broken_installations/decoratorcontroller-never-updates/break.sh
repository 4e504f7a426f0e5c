kubectl patch decoratorcontroller ingress-manager --type=json --patch='[{"op": "replace", "path": "/spec/attachments/0/updateStrategy/method", "value": "OnDelete"}]'
