# team-a/hosts
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
see 1 '00000002-0000-0000-0000-000000000000 2' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.metadata.resourceVersion}' -- ingress hosts || stop 'Ingress team-a/hosts has been changed since it was read: plan it again' "Last seen: $last"
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --resource-version=1 -- service hosts ingress/http=true 'ingress/host=www.hosts.example.com, hosts.example.com'
see 120 'Ingress team-a/hosts is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=00000001-0000-0000-0000-000000000000,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that Ingress team-a/hosts is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service hosts ingress/http- ingress/host-'
before=
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "2", "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}, "annotations": {"metacontroller.k8s.io/decorator-controller": "ingress-manager"}, "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "hosts", "uid": "00000001-0000-0000-0000-000000000000", "controller": true, "blockOwnerDeletion": true}]}}' -- ingress hosts
see 120 '00000002-0000-0000-0000-000000000000 {"ingressClassName":"nginx","rules":[{"host":"www.hosts.example.com","http":{"paths":[{"backend":{"service":{"name":"hosts","port":{"number":80}}},"path":"/","pathType":"Prefix"}]}},{"host":"hosts.example.com","http":{"paths":[{"backend":{"service":{"name":"hosts","port":{"number":80}}},"path":"/","pathType":"Prefix"}]}}]} {"apiVersion":' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec} {.metadata.annotations.metacontroller\.k8s\.io/last-applied-configuration}' -- ingress hosts || stop 'After 120 s: Metacontroller has not written its record on Ingress team-a/hosts, or the Ingress is not as planned: does the cluster have other settings?' "Last seen: $last" 'Plan it again to go on. To go back:' '  ingress-manager release team-a/hosts --apply' '  kubectl annotate --namespace=team-a -- service hosts ingress/http- ingress/host-'
)
