# team-a/old
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
see 1 '00000002-0000-0000-0000-000000000000 2' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.metadata.resourceVersion}' -- ingress old || stop 'Ingress team-a/old has been changed since it was read: plan it again' "Last seen: $last"
see 120 '00000001-0000-0000-0000-000000000000 ingress-manager {"ingressClassName":"nginx","rules":[{"host":"admin.example.com","http":{"paths":[{"backend":{"service":{"name":"standing","port":{"number":80}}},"path":"/","pathType":"Prefix"}]}}]}' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.ownerReferences[?(@.controller==true)].uid} {.metadata.annotations.metacontroller\.k8s\.io/decorator-controller} {.spec}' -- ingress standing.admin || stop 'After 120 s: Ingress team-a/standing.admin does not stand as planned; the Events of its Service may say why' "Last seen: $last"
# No controller has given team-a/old an address, so nobody can see when the new ones are served.
sleep 10
see 1 '00000001-0000-0000-0000-000000000000 ingress-manager {"ingressClassName":"nginx","rules":[{"host":"admin.example.com","http":{"paths":[{"backend":{"service":{"name":"standing","port":{"number":80}}},"path":"/","pathType":"Prefix"}]}}]}' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.ownerReferences[?(@.controller==true)].uid} {.metadata.annotations.metacontroller\.k8s\.io/decorator-controller} {.spec}' -- ingress standing.admin || stop 'Ingress team-a/standing.admin does not stand as planned; the Events of its Service may say why' "Last seen: $last"
printf '%s' '{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "00000002-0000-0000-0000-000000000000", "resourceVersion": "2"}}' | kubectl delete --raw=/apis/networking.k8s.io/v1/namespaces/team-a/ingresses/old --filename=-
)
