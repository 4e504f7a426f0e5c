# team-a/kept-by-helm
(set -e
seen() { kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events | grep -F 'Ingress team-a/kept-by-helm is in the way'; }
before=$(seen || true)
kubectl annotate --namespace=team-a --resource-version=1 -- service kept-by-helm ingress/http=true ingress/host=kept-by-helm.example.com
until now=$(seen) && [ "$now" != "$before" ]; do sleep 1; done
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "2", "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}, "annotations": {"metacontroller.k8s.io/decorator-controller": "ingress-manager"}, "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "kept-by-helm", "uid": "00000001-0000-0000-0000-000000000000", "controller": true, "blockOwnerDeletion": true}]}}' -- ingress kept-by-helm
kubectl wait '--for=jsonpath={.metadata.annotations.metacontroller\.k8s\.io/last-applied-configuration}' --namespace=team-a --timeout=60s -- ingress/kept-by-helm
)
