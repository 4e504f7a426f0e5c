kubectl scale deployment metacontroller --namespace=metacontroller --replicas=0
