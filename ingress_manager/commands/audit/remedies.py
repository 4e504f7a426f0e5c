"""Remedies: the kubectl commands that fix what `audit` finds. A word in capitals is for a person to fill in."""

from ingress_manager.commands.plans import steps
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view import managed
from ingress_manager.core.annotations import HTTP, KEYS, PREFIX, PROFILE
from ingress_manager.core.copying import MANAGED_BY_LABEL
from ingress_manager.core.errors import Problem, Reason, Refused
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.text import nearest
from ingress_manager.core.vocabulary import protects

SYNC_ALL: Command = (
    *("kubectl", "rollout", "restart", "--namespace=metacontroller"),
    *("--", "deployment", "metacontroller"),
)
"""Metacontroller syncs every Service when it starts."""

TAKEN_OFF = {
    Reason.ANNOTATION_NOT_ALLOWED,
    Reason.CLASS_NOT_ALLOWED,
    Reason.CONTRADICTION,
    Reason.NOT_IN_INGRESS,
    Reason.UNKNOWN_ANNOTATION,
}
"""Reasons for which the annotation can go, unless it protects, or says by which entrance the Service is served."""

VALUED = {
    Reason.AMBIGUOUS_PORT,
    Reason.HOST_NOT_ALLOWED,
    Reason.HTTPS_PORT,
    Reason.INVALID_DEFAULT_HOST,
    Reason.INVALID_VALUE,
    Reason.PATH_TYPE_NOT_ALLOWED,
    Reason.PROFILE_NOT_ALLOWED,
    Reason.UNKNOWN_PORT,
    Reason.UNKNOWN_PROFILE,
}
"""Reasons for which the annotation needs another value. For all others, a person looks at the whole Service."""


def correct(service: Item, refused: Refused) -> Command:
    """Return the command with which a Service is corrected; `kubectl edit`, unless all of it is sure.

    None where it is the administrator who has to do something.
    """
    if any(problem.reason is Reason.NO_HTTPROUTES for problem in refused.problems):
        return ()
    corrections = [_correction(service, problem) for problem in refused.problems]
    if refused.more or not all(corrections):
        return kubectl("edit", service)
    changes: dict[str, str] = {}
    for each in corrections:
        # What is stated for one problem isn't taken off for another.
        changes |= {key: change for key, change in each.items() if changes.get(key, "-")[-1] == "-"}
    overwrite = any(change[-1] != "-" for change in changes.values())
    return steps.annotate(service, changes=changes.values(), overwrite=overwrite)


def _correction(service: Item, problem: Problem) -> dict[str, str]:
    """Return the changes of annotations that fix a problem, by their keys; none where a person has to think."""
    key, value = problem.annotation, service.annotations.get(problem.annotation, "")
    begin, _, end = key.rpartition(PREFIX)
    near = nearest(f"{PREFIX}{end}", KEYS, PREFIX) if problem.reason is Reason.UNKNOWN_ANNOTATION else ""
    if near and f"{begin}{near}" not in service.annotations and value.isprintable():
        return {key: f"{key}-", f"{begin}{near}": f"{begin}{near}={value}"}
    if key and problem.reason in TAKEN_OFF and not (protects(key) or key.endswith((PROFILE, HTTP.key))):
        return {key: f"{key}-"}
    # What is "true" is no wrong value: the key has the name of an entrance that can't be one.
    return {key: f"{key}=VALUE"} if key and problem.reason in VALUED and value != "true" else {}


def attach(observed: Item, service: Item) -> Command:
    """Return the command after which Metacontroller takes an object for the one that it made for a Service."""
    change = managed.patch_to_own(observed, service)
    # What it was when it was read may be long ago, and its controller writes its status.
    del change["resourceVersion"]
    return steps.patch(observed, {"metadata": change})


def disown(item: Item) -> Command:
    """Return the command after which an object doesn't say any more that it is ours."""
    off = {"labels": {MANAGED_BY_LABEL: None}, "annotations": {DECORATOR: None}}
    return steps.patch(item, {"metadata": off})
