kubectl delete crd decoratorcontrollers.metacontroller.k8s.io
