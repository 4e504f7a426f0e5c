# team-a/several-services-by-a-profile-of-httproutes-refused can't be adopted as it is. Instead:
#   # ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has.
#   # Service cart has a profile by which it gets no Ingress: see outputs.
