kubectl annotate --namespace=team-a -- service shop ingress/http- ingress/host- ingress-manager/moving-
