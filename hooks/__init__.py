"""The hook: Metacontroller POSTs a Service; the hook answers with the objects that should exist for this Service.

`sync` and `admission` are pure; `reporting` remembers what was reported; the other modules do the I/O. The image runs
`hooks`; `pip install ingress-manager` doesn't install it.
"""
