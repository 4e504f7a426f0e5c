"""A real Kubernetes control plane on a laptop, without containers: for the demo, the e2e tests and the benchmarks.

etcd, kube-apiserver and the garbage collector run as plain processes on loopback; the committed manifests are applied
to them with kubectl; Metacontroller (or the stand-in for it) and the hook run beside them, and if they are asked for,
Traefik and the 404 page. With `up`, the last three run as their Deployments say. Everything lives in one temporary
folder and ends with the process that started it. `python -m devcluster --help` says how to use it by hand.
"""
