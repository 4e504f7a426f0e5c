"""`check`: Metacontroller, its CRDs, our DecoratorController, and the rights that it has. The pure part."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product

from ingress_manager.commands.check.differences import differences, missing_fields
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.check.seen import (
    METACONTROLLER,
    Right,
    Seen,
    condition,
    containers,
    images,
    name_of_image,
    number,
    tag_of_image,
)
from ingress_manager.commands.check.versions import METACONTROLLER as KNOWN
from ingress_manager.commands.check.versions import by_version
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.installations import CONTROLLER, RESOURCE
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.core.kubernetes import Object

PART = "Metacontroller"
INSTALL_CRDS = "Install the CRDs of its release, as metacontroller/README.md says."
AGAIN = "Apply this version's in the way in which it was installed, with your settings: docs/upgrade.md says how."
"""No command: over an installation by Helm, or with settings or a namespace of its own, it would change more."""

BREAKING = (
    "spec.resources",
    "spec.attachments",
    "spec.hooks.finalize",
    "spec.hooks.sync.version",
    "spec.hooks.sync.webhook.path",
)
"""Fields of the DecoratorController without which Services don't get their Ingresses, or can't be deleted."""

READING = ("list", "watch")
OWN_RIGHTS = (
    *(Right(verb, "metacontroller.k8s.io", "decoratorcontrollers") for verb in READING),
    *(Right(verb, "metacontroller.k8s.io", "compositecontrollers") for verb in READING),
    *(Right(verb, "", "namespaces") for verb in READING),
    *(Right(verb, "", "events") for verb in ("create", "patch")),
)
"""What Metacontroller needs for itself: metacontroller/install/rbac.yaml."""

_REQUIREMENT = re.compile(r"\s*(?P<key>[\w./-]+)\s*(?P<sign>==?|!=)\s*(?P<value>[\w.-]*)\s*")

EVERYTHING = Right("*", "*", "*")
"""What Metacontroller's own manifests grant: every verb on every resource."""

NEVER = (EVERYTHING, *(Right(verb, "", "services") for verb in ("create", "update", "patch", "delete")))
"""The rights that Metacontroller must not have: a Service is never written to, and what a hook answers is made."""


def metacontroller(seen: Seen) -> Iterator[Line]:
    """Yield whether Metacontroller runs, in which version."""
    yield from seen.unknown(PART, "Deployment", "Deployments")
    yield from seen.unknown(PART, "StatefulSet", "StatefulSets")
    engines = seen.engines()
    if not engines:
        if not {"Deployment", "StatefulSet"} & seen.unread.keys():
            sentence = (
                "no Deployment and no StatefulSet runs Metacontroller, so that nothing is made and nothing removed"
            )
            yield Line(PART, State.WRONG, sentence, "Install it: docs/install.md says how.")
        return
    for engine in engines:
        [image] = [each for each in images(engine) if name_of_image(each) == METACONTROLLER][:1]
        yield by_version(PART, PART, tag_of_image(image) or image, KNOWN)
        yield from replicas(PART, engine)
        wanted = number(at(engine, "spec", "replicas"), 1)
        words = [
            str(each) for found in containers(engine) for key in ("command", "args") for each in found.get(key) or ()
        ]
        if wanted > 1 and not {"--leader-election", "--leader-election=true"} & set(words):
            sentence = f"{engine} has {wanted} replicas without --leader-election: all of them write"
            yield Line(PART, State.WRONG, sentence, "Add --leader-election to its arguments, or have one replica.")
        yield from arguments(engine, words, seen.controller)
    if len(engines) > 1:
        names = ", ".join(map(str, engines))
        yield Line(PART, State.WARNING, f"several run it: {names}; each writes what the others write", "Keep one.")


def arguments(engine: Item, words: Sequence[str], controller: Item | None) -> Iterator[Line]:
    """Yield which of Metacontroller's arguments make it do harm, or nothing for us."""
    if argument(words, "apply-strategy") == "server-side-apply":
        sentence = f"{engine} has --apply-strategy=server-side-apply, by which it would overwrite what others have made"
        yield Line(PART, State.WRONG, sentence, "Take that argument out.")
    selector = argument(words, "target-label-selector")
    if not selector or controller is None:
        return
    does_fit = fits(selector, controller.labels)
    told = f"{engine} has --target-label-selector={selector}"
    look: Command = ("kubectl", "get", "--show-labels", "--", "decoratorcontroller", CONTROLLER)
    if does_fit is None:
        sentence = f"{told}: whether that fits the labels of our DecoratorController isn't known"
        yield Line(PART, State.UNKNOWN, sentence, "Compare them.", look)
    elif not does_fit:
        sentence = f"{told}, which leaves out our DecoratorController, so that nothing is made and nothing removed"
        yield Line(PART, State.WRONG, sentence, "Give the DecoratorController those labels, by a patch of yours.", look)


def argument(words: Sequence[str], name: str) -> str:
    """Return the last value of an argument, which has one or two dashes, and = or a space; "" where it isn't there."""
    value = ""
    for word, following in pairwise((*words, "")):
        stated, equals, given = word.partition("=")
        if stated in {f"-{name}", f"--{name}"}:
            value = given if equals else following
    return value


def fits(selector: str, labels: Mapping[str, str]) -> bool | None:
    """Return whether a label selector as text fits; None where it has more in it than = and !=."""
    found = [_REQUIREMENT.fullmatch(each) for each in selector.split(",")]
    if not all(found):
        return None
    return all((labels.get(each["key"]) == each["value"]) is (each["sign"] != "!=") for each in found if each)


def replicas(part: str, item: Item) -> Iterator[Line]:
    """Yield how many replicas of a Deployment or StatefulSet are ready."""
    wanted, ready = number(at(item, "spec", "replicas"), 1), number(at(item, "status", "readyReplicas"))
    look: Command = ("kubectl", "describe", f"--namespace={item.namespace}", "--", str(item.object["kind"]), item.name)
    if wanted == 0:
        scale: Command = ("kubectl", "scale", f"--namespace={item.namespace}", "--replicas=2", "--", *look[-2:])
        yield Line(part, State.WRONG, f"{item} is scaled to 0 replicas", "Scale it up.", scale)
        return
    why = condition(at(item, "status"), "ReplicaFailure").get("message") or ""
    because = f": {why}" if why else ""
    told = f"{item} has {ready} of {wanted} replicas ready"
    if ready == 0:
        yield Line(part, State.WRONG, f"{told}{because}", "See why its Pods don't start.", look)
    elif ready < wanted:
        yield Line(part, State.WARNING, f"{told}{because}", "See why the others don't start.", look)
    else:
        yield Line(part, State.OK, told)


def crds(seen: Seen) -> Iterator[Line]:
    """Yield whether Metacontroller's CRD is there and knows the fields that we use."""
    part, kind = "CRDs", "CustomResourceDefinition"
    yield from seen.unknown(part, kind, "CRDs")
    if kind in seen.unread:
        return
    crd = seen.one(kind, RESOURCE)
    if crd is None:
        yield Line(part, State.WRONG, f"the CRD {RESOURCE} isn't there", INSTALL_CRDS)
        return
    established = condition(at(crd, "status"), "Established")
    if established.get("status") != "True":
        why = established.get("message") or "its status doesn't say why"
        yield Line(part, State.WRONG, f"the CRD {RESOURCE} is not established: {why}", INSTALL_CRDS)
        return
    versions = [each for each in mappings(at(crd, "spec", "versions")) if each.get("name") == "v1alpha1"]
    schema = at(versions[0], "schema", "openAPIV3Schema", "properties", "spec") if versions else None
    [ours] = seen.expected_of("DecoratorController", "listenerset")
    missing = sorted(set(missing_fields(ours["spec"], schema)))
    if not versions or not versions[0].get("served"):
        yield Line(part, State.WRONG, f"the CRD {RESOURCE} has no version v1alpha1 that is served", INSTALL_CRDS)
    elif missing:
        sentence = f"the CRD {RESOURCE} is an older one: it doesn't know {', '.join(missing)}"
        yield Line(part, State.WRONG, sentence, INSTALL_CRDS)
    else:
        yield Line(part, State.OK, f"the CRD {RESOURCE} is established, with all fields that are used")


def decorator(seen: Seen) -> Iterator[Line]:
    """Yield whether the DecoratorController is as this version has it."""
    part = "DecoratorController"
    yield from seen.unknown(part, part, "DecoratorControllers")
    if part in seen.unread:
        return
    controller = seen.controller
    if controller is None:
        sentence = f"the DecoratorController {CONTROLLER} isn't there, so that Metacontroller does nothing"
        yield Line(part, State.WRONG, sentence, AGAIN)
    else:
        [ours] = seen.expected_of(part, seen.folder)
        found = list(differences(at_its_hook(ours, controller)["spec"], at(controller, "spec")))
        for path, what in found:
            is_breaking = path.startswith(BREAKING)
            state = State.WRONG if is_breaking else State.WARNING
            yield Line(part, state, f"{path} {what}", AGAIN if is_breaking else f"If nobody wants it so: {AGAIN}")
        if not found:
            yield Line(part, State.OK, f"the DecoratorController {CONTROLLER} is as this version has it")


def at_its_hook(ours: Object, found: Item) -> Object:
    """Return our DecoratorController with the Service that the other one names, or its URL: they may be others."""
    webhook = ours["spec"]["hooks"]["sync"]["webhook"]
    stated = at(found, "spec", "hooks", "sync", "webhook", "service")
    names = {key: stated[key] for key in ("name", "namespace") if key in stated} if isinstance(stated, dict) else {}
    there = {**webhook, "service": {**webhook["service"], **names}}
    url = at(found, "spec", "hooks", "sync", "webhook", "url")
    if not stated and str(url).endswith(webhook["path"]):
        there = {"timeout": webhook["timeout"], "url": url}
    sync = {**ours["spec"]["hooks"]["sync"], "webhook": there}
    return {**ours, "spec": {**ours["spec"], "hooks": {"sync": sync}}}


def needed(seen: Seen) -> list[tuple[str, tuple[Right, ...]]]:
    """Return the rights that Metacontroller has to have, and what each group of them is for."""
    groups = []
    for rule in (rule for role in seen.expected_of("ClusterRole", seen.folder) for rule in role["rules"]):
        verbs = [verb for verb in rule["verbs"] if verb != "get"]
        kinds = product(rule["apiGroups"], rule["resources"])
        group = tuple(Right(verb, *kind) for kind in kinds for verb in verbs)
        groups.append((f"{', '.join(verbs)} {', '.join(rule['resources'])}", group))
    return [*groups, ("read its own kinds and write Events", OWN_RIGHTS)]


def asked_rights(seen: Seen) -> list[Right]:
    return list(dict.fromkeys([*(right for _, group in needed(seen) for right in group), *NEVER]))


def account_of(seen: Seen) -> tuple[str, str] | None:
    """Return the namespace and the name of Metacontroller's ServiceAccount, None where nothing runs it."""
    engines = seen.engines()
    if not engines:
        return None
    name = at(engines[0], "spec", "template", "spec", "serviceAccountName")
    return engines[0].namespace, name if isinstance(name, str) else "default"


def rights(seen: Seen) -> Iterator[Line]:
    """Yield which rights Metacontroller's ServiceAccount has, and which it must not have."""
    part = "rights of Metacontroller"
    yield from seen.unknown(part, "rights", "its rights")
    account = account_of(seen)
    if account is None and "rights" not in seen.unread:
        yield Line(part, State.UNKNOWN, "its rights could not be looked at: nothing was found that runs Metacontroller")
    if account is None or "rights" in seen.unread:
        return
    name = "ServiceAccount " + "/".join(account)
    for sentence, group in needed(seen):
        lacking = [right for right in group if not seen.rights[right]]
        if lacking:
            told = f"the {name} may not {told_of(lacking)}"
            bind = "Bind the ClusterRole to it: metacontroller/README.md says how."
            yield Line(part, State.WRONG, told, bind)
        else:
            yield Line(part, State.OK, f"the {name} may {sentence}")
    more = [right for right in NEVER if seen.rights[right]]
    if EVERYTHING in more:
        told = f"the {name} may do everything: whatever a hook answers by mistake is made"
        yield Line(part, State.WARNING, told, "Narrow its rights: docs/security.md says how.")
    elif more:
        remedy = (
            "ingress-manager doesn't need it. Metacontroller's own manifests grant it; metacontroller/install doesn't."
        )
        yield Line(part, State.WARNING, f"the {name} may {told_of(more)}", remedy)
    else:
        yield Line(part, State.OK, f"the {name} may not write Services")


def told_of(rights: Iterable[Right]) -> str:
    """Return some rights as a person would say them."""
    by_resource: dict[str, list[str]] = {}
    for right in rights:
        by_resource.setdefault(right.resource, []).append(right.verb)
    return "; ".join(f"{', '.join(verbs)} {resource}" for resource, verbs in by_resource.items())
