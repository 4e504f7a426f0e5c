# team-a/name-of-another-service
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
see 1 '00000003-0000-0000-0000-000000000000 3' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.metadata.resourceVersion}' -- ingress name-of-another-service || stop 'Ingress team-a/name-of-another-service has been changed since it was read: plan it again' "Last seen: $last"
kubectl annotate --namespace=team-a --resource-version=2 -- service led-to ingress/http=true ingress/host=name-of-another-service.example.com
see 120 '00000002-0000-0000-0000-000000000000 ingress-manager {"ingressClassName":"nginx","rules":[{"host":"name-of-another-service.example.com","http":{"paths":[{"backend":{"service":{"name":"led-to","port":{"number":80}}},"path":"/","pathType":"Prefix"}]}}]}' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.ownerReferences[?(@.controller==true)].uid} {.metadata.annotations.metacontroller\.k8s\.io/decorator-controller} {.spec}' -- ingress led-to || stop 'After 120 s: Ingress team-a/led-to does not stand as planned; the Events of its Service may say why' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service led-to ingress/http- ingress/host-'
# No controller has given team-a/name-of-another-service an address, so nobody can see when the new ones are served.
sleep 10
see 1 '00000002-0000-0000-0000-000000000000 ingress-manager {"ingressClassName":"nginx","rules":[{"host":"name-of-another-service.example.com","http":{"paths":[{"backend":{"service":{"name":"led-to","port":{"number":80}}},"path":"/","pathType":"Prefix"}]}}]}' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.ownerReferences[?(@.controller==true)].uid} {.metadata.annotations.metacontroller\.k8s\.io/decorator-controller} {.spec}' -- ingress led-to || stop 'Ingress team-a/led-to does not stand as planned; the Events of its Service may say why' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service led-to ingress/http- ingress/host-'
printf '%s' '{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "00000003-0000-0000-0000-000000000000", "resourceVersion": "3"}}' | kubectl delete --raw=/apis/networking.k8s.io/v1/namespaces/team-a/ingresses/name-of-another-service --filename=-
)
