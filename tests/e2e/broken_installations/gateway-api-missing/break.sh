kubectl delete crd httproutes.gateway.networking.k8s.io
