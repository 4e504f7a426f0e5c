"""`ingress-manager check`: the installation, part by part, as it is, and what to do where it isn't as it should be.

table      all that is looked at, in its order: start reading here
cluster    what is read of a cluster, when it is asked for
lines      a line for each thing that was looked at, and how lines are printed
versions   which versions of Kubernetes, Metacontroller and the Gateway API are known to work
expected   what this version installs, of the manifests in installed/, and how an object differs from it
metacontroller, hook, provided
           how each part is looked at: functions from a cluster to lines
"""
