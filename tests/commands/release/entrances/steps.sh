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
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "46", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- ingress shop.internal
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "44", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- httproute shop.internal.redirect
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.46
see 120 'Ingress team-a/shop.internal is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that Ingress team-a/shop.internal is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
before=
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.44
see 120 'HTTPRoute team-a/shop.internal.redirect is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that HTTPRoute team-a/shop.internal.redirect is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
before=
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.45
sleep 10
kubectl annotate --namespace=team-a -- service shop ingress/http- internal.ingress/http- internal.ingress/host- other.ingress/http- ingress-manager/moving-
sleep 5
see 1 '9a000000-0000-0000-0000-000000000002 ' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec}' -- ingress shop || stop 'Ingress team-a/shop does not stand any more as it was released' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress/http=false internal.ingress/http=true internal.ingress/host=shop.internal.example.com other.ingress/http=true ingress-manager/moving-' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
see 1 '9a000000-0000-0000-0000-000000000002 ' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec}' -- ingress shop.internal || stop 'Ingress team-a/shop.internal does not stand any more as it was released' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress/http=false internal.ingress/http=true internal.ingress/host=shop.internal.example.com other.ingress/http=true ingress-manager/moving-' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
see 1 '9a000000-0000-0000-0000-000000000004 ' kubectl get --namespace=team-a --ignore-not-found '--output=jsonpath={.metadata.uid} {.spec}' -- httproute shop.internal.redirect || stop 'HTTPRoute team-a/shop.internal.redirect does not stand any more as it was released' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress/http=false internal.ingress/http=true internal.ingress/host=shop.internal.example.com other.ingress/http=true ingress-manager/moving-' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
)
