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
before=$(kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events)
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.42
see 120 'Ingress team-a/shop is in the way' kubectl get --namespace=team-a --field-selector=involvedObject.uid=2f0b6f1c-0000-0000-0000-000000000001,reason=SyncError '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\n"}{end}' -- events || stop 'After 120 s: Metacontroller has not reported that Ingress team-a/shop is in the way. Where the settings pause ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without' "Last seen: $last" 'Plan it again to go on. To go back:' '  kubectl annotate --namespace=team-a -- service shop ingress-manager/moving-'
before=
kubectl annotate --namespace=team-a -- service shop ingress/http- ingress/host- ingress-manager/moving-
)
