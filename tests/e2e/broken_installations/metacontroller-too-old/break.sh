kubectl set image deployment/metacontroller --namespace=metacontroller metacontroller=ghcr.io/metacontroller/metacontroller:v4.11.0
