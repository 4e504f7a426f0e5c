"""Runs a real Kubernetes control plane on a laptop, without containers, for the demo, the e2e tests and the benchmarks.

etcd, kube-apiserver and kube-controller-manager run as plain processes on loopback. kubectl applies the committed
manifests. The hook and Metacontroller (or the stand-in for it) run beside them, and on request also Traefik,
the 404 page and the admission hook. With `up`, changes to Deployments reload the settings or restart the engine.
When the process that started the cluster ends, all processes end, and their temporary folder is removed.
"""
