(set -e
stop() { printf '%s\n' "$@" >&2; exit 1; }
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "42", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- ingress shop
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "46", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- ingress shop.internal
kubectl patch --namespace=team-a --type=merge '--patch={"metadata": {"resourceVersion": "44", "labels": {"app.kubernetes.io/managed-by": null}, "annotations": {"metacontroller.k8s.io/decorator-controller": null, "metacontroller.k8s.io/last-applied-configuration": null}, "ownerReferences": null}}' -- httproute shop.internal.redirect
seen() { kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events | grep -F 'Ingress team-a/shop.internal is in the way'; }
before=$(seen || true)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.46
looks=60
until now=$(seen) && [ "$now" != "$before" ]; do
  [ $((looks -= 1)) -gt 0 ] || stop 'Metacontroller has not reported within 60 s that Ingress team-a/shop.internal is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' 'To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
  sleep 1
done
seen() { kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events | grep -F 'HTTPRoute team-a/shop.internal.redirect is in the way'; }
before=$(seen || true)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.44
looks=60
until now=$(seen) && [ "$now" != "$before" ]; do
  [ $((looks -= 1)) -gt 0 ] || stop 'Metacontroller has not reported within 60 s that HTTPRoute team-a/shop.internal.redirect is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' 'To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
  sleep 1
done
seen() { kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events | grep -F 'Ingress team-a/shop.other is in the way'; }
before=$(seen || true)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.45
looks=60
until now=$(seen) && [ "$now" != "$before" ]; do
  [ $((looks -= 1)) -gt 0 ] || stop 'Metacontroller has not reported within 60 s that Ingress team-a/shop.other is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' 'To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-' '  ingress-manager adopt team-a/shop.internal --apply' '  ingress-manager adopt team-a/shop --apply'
  sleep 1
done
kubectl annotate --namespace=team-a -- service shop ingress/http- internal.ingress/http- internal.ingress/host- other.ingress/http- ingress-manager/moving-
)
