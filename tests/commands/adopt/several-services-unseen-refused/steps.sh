# team-a/several-services-unseen-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   # Service several-services-unseen-cart can't be annotated by a command: ingress/host: "a\u202e" holds characters that a person would not see in a command, so none is made: take them out, with `kubectl edit`
