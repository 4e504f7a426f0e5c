"""`ingress-manager check`: the installation, part by part, as it is, and what to do where it isn't as it should be.

table        all that is looked at, in its order: start reading here
lines        a line for each thing that was looked at, and how lines are printed
versions     which versions of Kubernetes, Metacontroller and the Gateway API are known to work
seen         what was read of the cluster, and why the rest could not be read
differences  how an object differs from the one that this version installs, of the manifests in installed/
engine, hook, policies, admission, gateways
             how each part is looked at: functions from what was seen to lines
"""
