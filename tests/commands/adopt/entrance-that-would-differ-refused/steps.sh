# team-a/would-differ-admin can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   # Ingress would-differ.admin lacks nginx.ingress.kubernetes.io/proxy-read-timeout
#   # So it isn't made. A profile of the settings could say the rest: admin.ingress/profile.
