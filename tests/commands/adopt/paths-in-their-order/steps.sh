# team-a/paths-in-their-order
(set -e
seen() { kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events | grep -F 'Ingress team-a/paths-in-their-order is in the way'; }
before=$(seen || true)
kubectl annotate --namespace=team-a --resource-version=1 -- service paths-in-their-order ingress/http=true ingress/host=paths.example.com 'ingress/routes=[{path: /z}, {path: /, pathType: Exact}, {path: /a}]'
until now=$(seen) && [ "$now" != "$before" ]; do sleep 1; done
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "2", "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}, "annotations": {"metacontroller.k8s.io/decorator-controller": "ingress-manager"}, "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "paths-in-their-order", "uid": "00000001-0000-0000-0000-000000000000", "controller": true, "blockOwnerDeletion": true}]}}' -- ingress paths-in-their-order
kubectl wait '--for=jsonpath={.metadata.annotations.metacontroller\.k8s\.io/last-applied-configuration}' --namespace=team-a --timeout=60s -- ingress/paths-in-their-order
)
