"""The hook, which sends Metacontroller the objects that should exist for a Service, and the admission webhook.

`sync` and `admission` are pure, `reporting` remembers what was reported, and the other modules do the I/O. The image
runs this package; `pip install ingress-manager` doesn't install it.
"""
