"""The hook: Metacontroller POSTs the state of a Service; the answer is the objects that should exist for it.

`sync` and `admission` are pure; `reporting` remembers what was reported; the others are shells. The image runs `hooks`;
`pip install ingress-manager` doesn't install it.
"""
