"""The stand-in: a small program that plays Metacontroller's part of the contract while developing.

`python -m devcluster.standin --kubeconfig FILE` watches DecoratorControllers and their parents, asks the hooks what
should exist, and creates, updates and deletes the attachments. It is for where there is no `metacontroller` program and
is never shipped. It does as Metacontroller 4.17.2 does with `--apply-strategy dynamic-apply` and hook version v2.

What it lacks it refuses by name, in a `CreateError` Event on the DecoratorController or a `SyncError` Event on the
parent, so that nothing passes here that would act otherwise there:

- selectors, `ignoreStatusChanges`, the hooks `finalize` and `customize`, `etag`, hook version v1, and every other field
  that is not in contract.py;
- answers that set the parent's labels, annotations or status: it never writes to a parent;
- the update methods RollingInPlace and RollingRecreate;
- attachments of a kind that the DecoratorController does not list.

What it does otherwise, on purpose:

- its Events and `managedFields` are signed `metacontroller-standin`; an Event is written within the sync, tried once;
- Events that differ only in their text are not combined after ten of them;
- network and JSON errors are in Python's words (`http error: Post "…": connection refused`, without `dial tcp …`);
- of a field that is twice in an answer the last one counts (Metacontroller refuses it);
- a watch that broke off is tried again every 0.8 seconds, not ever more slowly;
- when a resource had to be listed again, only what has changed meanwhile is synced;
- there is no `--cache-flush-interval`: parents are resynced all at once only where `resyncPeriodSeconds` says so;
- watches go on until the process ends, also when no DecoratorController needs them any longer;
- deleting or changing a DecoratorController waits for its syncs under way (Metacontroller cuts them off).
"""
