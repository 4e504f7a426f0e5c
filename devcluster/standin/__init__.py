"""The stand-in: a small program that does what Metacontroller does, for development.

`python -m devcluster.standin --kubeconfig FILE` watches DecoratorControllers and their parents, asks the hooks what
should exist, and creates, updates and deletes the attachments. It is used where there is no `metacontroller` program,
and it is never shipped. It acts as Metacontroller 4.17.2 with `--apply-strategy dynamic-apply` and hook version v2.

It knows the fields of a DecoratorController and of an answer that are in contract.py. Any other, and any other update
method than InPlace, it refuses by name, in a `CreateError` Event on the DecoratorController or a `SyncError` Event on
the parent: so nothing works here that would work differently with Metacontroller. It never writes to a parent.

These differences are on purpose:

- its Events and `managedFields` name it `metacontroller-standin`; an Event is written during the sync, and tried once;
- Events are neither combined nor dropped, however many there are;
- network and JSON errors are in Python's words (`http error: Post "…": connection refused`, without `dial tcp …`);
- of a field that is twice in an answer the last one counts (Metacontroller refuses it);
- when a watch failed, the resource is listed again every 0.8 seconds, without back-off, and only the objects that have
  changed are synced;
- there is no `--cache-flush-interval`: parents are resynced all at once only where `resyncPeriodSeconds` says so;
- when a DecoratorController is deleted or changed, the process begins anew, with those that there are now.
"""
