"""The stand-in: a small program that does what Metacontroller does, for development.

`python -m devcluster.standin --kubeconfig FILE` watches the first DecoratorController and its parents, asks the hook
what should exist, and creates, updates and deletes the attachments. It is used where there is no `metacontroller`
program, and it is never shipped. It plays the story of `make demo`, and never writes to a parent.

It merges as Metacontroller 4.17.2 does with `--apply-strategy dynamic-apply`. Where Metacontroller does more, it is
plain: it works on one parent at a time; repeats what has failed without a limit for all together; writes a new Event
each time; knows the kinds of attachments that ingress-manager has; and, when its DecoratorController changes or goes,
begins again.
"""
