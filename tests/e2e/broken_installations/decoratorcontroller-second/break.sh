kubectl create --filename=- <<END
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: older, labels: {broken: "true"}}
spec:
  resources: [{apiVersion: v1, resource: services}]
  attachments: [{apiVersion: networking.k8s.io/v1, resource: ingresses}]
  hooks:
    sync: {webhook: {path: /sync, service: {name: ingress-manager, namespace: ingress-manager}}}
END
