# team-a/entrance-in-place.internal
(set -e
stop() { printf '%s\n' "$@" >&2; exit 1; }
see() {
  looks=$1 text=$2; shift 2
  until seen=$("$@") && printf '%s\n' "$seen" | grep -F -- "$text" | grep -qvxF -- "$before"; do
    [ $((looks -= 1)) -gt 0 ] || { last=$(printf '%s\n' "$seen" | tail -n 1); return 1; }
    sleep 1
  done
}
before=
see 1 '00000002-0000-0000-0000-000000000000 2' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.metadata.resourceVersion}' -- ingress entrance-in-place.internal || stop 'Ingress team-a/entrance-in-place.internal has been changed since it was read: plan it again' "Last seen: $last"
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --resource-version=1 -- service entrance-in-place internal.ingress/host=internal.example.com internal.ingress/path-
see 120 'Ingress team-a/entrance-in-place.internal is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that Ingress team-a/entrance-in-place.internal is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service entrance-in-place internal.ingress/host- internal.ingress/path=/old'
before=
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "2", "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}, "annotations": {"metacontroller.k8s.io/decorator-controller": "ingress-manager"}, "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "entrance-in-place", "uid": "00000001-0000-0000-0000-000000000000", "controller": true, "blockOwnerDeletion": true}]}}' -- ingress entrance-in-place.internal
see 120 '00000002-0000-0000-0000-000000000000 {"ingressClassName":"nginx","rules":[{"host":"internal.example.com","http":{"paths":[{"backend":{"service":{"name":"entrance-in-place","port":{"number":80}}},"path":"/","pathType":"Prefix"}]}}]} {"apiVersion":' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec} {.metadata.annotations.metacontroller\.k8s\.io/last-applied-configuration}' -- ingress entrance-in-place.internal || stop 'After 120 s: Metacontroller has not written its record on Ingress team-a/entrance-in-place.internal, or the Ingress is not as planned: does the cluster have other settings?' "Last seen: $last" 'Plan it again to go on. To go back:' '  ingress-manager release team-a/entrance-in-place.internal --apply' '  kubectl annotate --namespace=team-a -- service entrance-in-place internal.ingress/host- internal.ingress/path=/old'
)
