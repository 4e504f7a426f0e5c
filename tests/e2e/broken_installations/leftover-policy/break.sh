kubectl create --filename=- <<END
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ingress-manager-service-depth, labels: {broken: "true"}}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services]}]
  validations: [{expression: "true"}]
END
