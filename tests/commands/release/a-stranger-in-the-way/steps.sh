(set -e
kubectl annotate --namespace=team-a --overwrite -- service shop ingress-manager/moving=50.42
sleep 10
kubectl annotate --namespace=team-a -- service shop ingress/http- ingress/host- ingress-manager/moving-
)
