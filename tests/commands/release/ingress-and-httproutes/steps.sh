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
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "42", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- ingress shop
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "43", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- httproute shop
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "44", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- httproute shop-0123456789
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.42
see 120 'Ingress team-a/shop is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that Ingress team-a/shop is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
before=
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.43
see 120 'HTTPRoute team-a/shop is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that HTTPRoute team-a/shop is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
before=
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.44
see 120 'HTTPRoute team-a/shop-0123456789 is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that HTTPRoute team-a/shop-0123456789 is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
before=
kubectl annotate --namespace=team-a -- service shop ingress/http- ingress/host- ingress-manager/moving-
sleep 5
see 1 '9a000000-0000-0000-0000-000000000002 ' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec}' -- ingress shop || stop 'Ingress team-a/shop does not stand any more as it was released' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.example.com ingress-manager/moving-' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
see 1 '9a000000-0000-0000-0000-000000000003 ' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec}' -- httproute shop || stop 'HTTPRoute team-a/shop does not stand any more as it was released' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.example.com ingress-manager/moving-' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
see 1 '9a000000-0000-0000-0000-000000000004 ' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec}' -- httproute shop-0123456789 || stop 'HTTPRoute team-a/shop-0123456789 does not stand any more as it was released' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress/http=true ingress/host=shop.example.com ingress-manager/moving-' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop --apply'
)
