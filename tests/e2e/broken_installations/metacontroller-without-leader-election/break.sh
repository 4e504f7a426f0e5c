kubectl patch deployment metacontroller --namespace=metacontroller --type=json --patch='[{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": []}]'
