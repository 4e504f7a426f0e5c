"""The stand-in: a small replacement for Metacontroller, for development only.

`python -m devcluster.standin --kubeconfig FILE` watches the first DecoratorController and its parents, asks the hook
for the desired objects, and creates, updates and deletes the attachments. It is used where `metacontroller` isn't
installed, and is never shipped. It supports every step of `make demo`, and never writes to a parent.

It merges as Metacontroller 4.17.2 does with `--apply-strategy dynamic-apply`, but is simpler. It syncs one parent at a
time, doesn't limit the overall rate of retries, writes a new Event each time, supports only the kinds that
ingress-manager creates, and restarts itself when its DecoratorController is changed or deleted.
"""
