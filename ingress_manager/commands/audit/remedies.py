"""Remedies: the kubectl commands that fix what `audit` finds. A word in capitals is for a person to fill in."""

from collections.abc import Iterable, Mapping

from ingress_manager.commands.plans import steps
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view import managed
from ingress_manager.commands.view.entrances import annotations_of
from ingress_manager.commands.view.look import ServiceView
from ingress_manager.commands.view.managed import CONTROLLER
from ingress_manager.commands.view.objects import ObjectView
from ingress_manager.core.annotations import HTTP, KEYS, PREFIX, PROFILE
from ingress_manager.core.copying import MANAGED_BY_LABEL
from ingress_manager.core.entrances import MOST_ENTRANCES, begin_of, is_entrance_name, read_entrances
from ingress_manager.core.errors import Reason, Refused
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.text import nearest

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
}
"""Reasons for which the annotation can go; for others it needs another value."""


def annotate(item: Item, changes: Iterable[str]) -> Command:
    """Return the command that changes annotations: each change is KEY=VALUE, or KEY- to take it off."""
    words = list(changes)
    return steps.annotate(item, changes=words, overwrite=any(not word.endswith("-") for word in words))


def state(service: Item, annotations: Mapping[str, str]) -> Command:
    """Return the command that gives a Service annotations, whose values somebody else has written."""
    if not all(text.isprintable() for text in annotations.values()):
        return kubectl("edit", service)
    return steps.annotating(service, annotations).command


def attach(observed: ObjectView, service: ServiceView) -> Command:
    """Return the command after which Metacontroller takes an object for the one that it made for a Service."""
    if observed.owner_uid == service.service.metadata.uid:
        return annotate(observed.item, [f"{DECORATOR}={CONTROLLER}"])
    change = managed.patch_to_own(observed.item, service.item)
    # What it was when it was read may be long ago, and its controller writes its status.
    del change["resourceVersion"]
    return steps.patch(observed.item, {"metadata": change})


def disown(item: Item) -> Command:
    """Return the command after which an object doesn't say any more that it is ours."""
    off = {"labels": {MANAGED_BY_LABEL: None}, "annotations": {DECORATOR: None}}
    return steps.patch(item, {"metadata": off})


def correct(item: Item, refused: Refused) -> Command:
    """Return the command with which a Service is corrected, as far as it can be known."""
    words: dict[str, str] = {}
    entrances = read_entrances(item.annotations)
    for problem in refused.problems:
        if problem.reason is Reason.EXTERNAL_NAME:
            return annotate(item, [f"{begin_of(entrance)}{HTTP.key}-" for entrance in entrances])
        if problem.reason is Reason.NO_HTTPROUTES:
            return "kubectl", "apply", f"--kustomize={problem.sentence.rpartition(' ')[2]}"
        if problem.reason is Reason.PROTECTION_LOST:
            return kubectl("edit", item)  # a command that takes it off would open what is closed
        entrance = problem.annotation.partition(f".{PREFIX}")[0]
        entrance = entrance if entrance in entrances else ""
        too_many = len(entrances) - ("" in entrances) > MOST_ENTRANCES
        if entrance and (too_many or not is_entrance_name(entrance)):
            return kubectl("edit", item)  # all its annotations need another name, or one of the others has to go
        if problem.annotation:
            begin = begin_of(entrance)
            own = annotations_of(entrance, item.annotations)
            correction = _correction(own, problem.annotation.removeprefix(begin), problem.reason)
            changes = {f"{begin}{key}": f"{begin}{word}" for key, word in correction.items()}
            # What is stated for one problem isn't taken off for another.
            words |= {key: word for key, word in changes.items() if words.get(key, "-")[-1] == "-"}
        elif problem.reason is not Reason.ANNOTATION_NOT_ALLOWED:  # that one only says what isn't copied
            return kubectl("edit", item)
    return kubectl("edit", item) if refused.more else annotate(item, words.values())


def _correction(annotations: Mapping[str, str], key: str, reason: Reason) -> dict[str, str]:
    """Return the changes of an entrance's `annotations` that fix a problem with one of them, by their keys."""
    if reason is Reason.UNKNOWN_ANNOTATION:
        near, value = nearest(key, KEYS, PREFIX), annotations[key]
        meant = near and near not in annotations and value.isprintable()
        return {key: f"{key}-"} | ({near: f"{near}={value}"} if meant else {})
    if reason is Reason.NOT_IN_HTTPROUTE and key == "ingress/tls-secret" and key in annotations:
        return {key: f"{key}-", "ingress/tls": "ingress/tls=true"}
    if key == PROFILE:
        # Without it the Service would be served by another entrance, perhaps one for everybody.
        return {key: f"{key}=VALUE"}
    if reason is Reason.NOT_IN_HTTPROUTE and key == "ingress/tls-redirect":
        return {key: f"{key}=false"}
    if reason in TAKEN_OFF or (reason, key) == (Reason.NOT_IN_HTTPROUTE, "ingress/class"):
        return {key: f"{key}-"}
    return {key: f"{key}=VALUE"}


def other_host(item: Item, entrance: str) -> Command:
    """Return the command that gives an entrance of a Service another host."""
    begin = begin_of(entrance)
    if f"{begin}ingress/routes" in item.annotations:
        return kubectl("edit", item)
    return annotate(item, [f"{begin}ingress/host=HOST"])
