kubectl set image deployment/metacontroller --namespace=metacontroller metacontroller=ghcr.io/metacontroller/metacontroller:v5.0.0
