kubectl patch decoratorcontroller ingress-manager --type=json --patch='[{"op": "remove", "path": "/spec/attachments/1"}]'
