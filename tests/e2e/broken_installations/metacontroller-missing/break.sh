kubectl delete deployment metacontroller --namespace=metacontroller
