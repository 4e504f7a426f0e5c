"""The stand-in: a small replacement for Metacontroller, for development only.

`python -m devcluster.standin --kubeconfig FILE` watches the first DecoratorController and its parents, asks the hook
for the desired objects, and creates, updates and deletes the attachments. It is used where `metacontroller` isn't
installed, and is never shipped. It supports every step of `make demo`, and never writes to a parent.

It merges objects as Metacontroller 4.17.2 does with `--apply-strategy dynamic-apply`. Otherwise, it is simpler: it
syncs one parent at a time, doesn't limit the overall rate of retries, never combines repeated Events, supports only the
kinds that ingress-manager creates, and restarts itself when its DecoratorController is changed or deleted.
"""
