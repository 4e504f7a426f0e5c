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
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "42", "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null, "ingress/not-copied": null, "ingress/added-by-settings": null}, "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Shop", "name": "shop", "uid": "1"}]}}' -- ingress shop
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.42
see 120 'Ingress team-a/shop is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that Ingress team-a/shop is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
before=
kubectl annotate --namespace=team-a -- service shop ingress/http- ingress/host- ingress-manager/moving-
sleep 5
see 1 '9a000000-0000-0000-0000-000000000002 ' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec}' -- ingress shop || stop 'Ingress team-a/shop does not stand any more as it was released' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.example.com ingress-manager/moving-' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
)
