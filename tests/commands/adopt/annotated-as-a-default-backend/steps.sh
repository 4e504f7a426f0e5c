# team-a/annotated-as-a-default-backend
(set -e
stop() { printf '%s\n' "$@" >&2; exit 1; }
seen() { kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events | grep -F 'Ingress team-a/annotated-as-a-default-backend is in the way'; }
before=$(seen || true)
kubectl annotate --namespace=team-a --resource-version=1 -- service annotated-as-a-default-backend ingress/default-backend-
looks=60
until now=$(seen) && [ "$now" != "$before" ]; do
  [ $((looks -= 1)) -gt 0 ] || stop 'Metacontroller has not reported within 60 s that Ingress team-a/annotated-as-a-default-backend is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' 'To go back:' '  kubectl annotate --namespace=team-a -- service annotated-as-a-default-backend ingress/default-backend=true'
  sleep 1
done
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "2", "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}, "annotations": {"metacontroller.k8s.io/decorator-controller": "ingress-manager"}, "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "annotated-as-a-default-backend", "uid": "00000001-0000-0000-0000-000000000000", "controller": true, "blockOwnerDeletion": true}]}}' -- ingress annotated-as-a-default-backend
kubectl wait '--for=jsonpath={.metadata.annotations.metacontroller\.k8s\.io/last-applied-configuration}' --namespace=team-a --timeout=60s -- ingress/annotated-as-a-default-backend || stop 'To go back:' '  ingress-manager release team-a/annotated-as-a-default-backend --apply' '  kubectl annotate --namespace=team-a -- service annotated-as-a-default-backend ingress/default-backend=true'
)
