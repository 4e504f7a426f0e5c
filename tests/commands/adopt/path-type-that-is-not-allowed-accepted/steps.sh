# team-a/path-type-that-is-not-allowed-accepted
(set -e
stop() { printf '%s\n' "$@" >&2; exit 1; }
seen() { kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events | grep -F 'Ingress team-a/path-type-that-is-not-allowed-accepted is in the way'; }
before=$(seen || true)
kubectl annotate --namespace=team-a --resource-version=1 -- service path-type-that-is-not-allowed-accepted ingress/http=true ingress/host=path-type-that-is-not-allowed-accepted.example.com
looks=60
until now=$(seen) && [ "$now" != "$before" ]; do
  [ $((looks -= 1)) -gt 0 ] || stop 'Metacontroller has not reported within 60 s that Ingress team-a/path-type-that-is-not-allowed-accepted is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' 'To go back:' '  kubectl annotate --namespace=team-a -- service path-type-that-is-not-allowed-accepted ingress/http- ingress/host-'
  sleep 1
done
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "2", "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}, "annotations": {"metacontroller.k8s.io/decorator-controller": "ingress-manager"}, "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "path-type-that-is-not-allowed-accepted", "uid": "00000001-0000-0000-0000-000000000000", "controller": true, "blockOwnerDeletion": true}]}, "spec": {"rules": [{"host": "path-type-that-is-not-allowed-accepted.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "path-type-that-is-not-allowed-accepted", "port": {"number": 80}}}}]}}]}}' -- ingress path-type-that-is-not-allowed-accepted
kubectl wait '--for=jsonpath={.metadata.annotations.metacontroller\.k8s\.io/last-applied-configuration}' --namespace=team-a --timeout=60s -- ingress/path-type-that-is-not-allowed-accepted || stop 'To go back:' '  ingress-manager release team-a/path-type-that-is-not-allowed-accepted --apply' '  kubectl annotate --namespace=team-a -- service path-type-that-is-not-allowed-accepted ingress/http- ingress/host-'
)
