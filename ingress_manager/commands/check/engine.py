"""`check`: Metacontroller, our DecoratorController, and the rights that it has. The pure part."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product

from ingress_manager.commands.check.differences import differences
from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong
from ingress_manager.commands.check.seen import Right, Seen, containers, images, name_of_image, tag_of_image
from ingress_manager.commands.check.versions import METACONTROLLER, by_version
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.installations import CONTROLLER
from ingress_manager.commands.reading.manifests import Item, at

BREAKING = ("spec.resources", "spec.attachments", "spec.hooks.finalize", "spec.hooks.sync.version")
"""Fields of the DecoratorController without which Services don't get their Ingresses, or can't be deleted."""

WEBHOOK = "spec.hooks.sync.webhook"
"""Where the hook is, which is otherwise in each installation."""

NEVER = tuple(Right(verb, "", "services") for verb in ("create", "update", "patch", "delete"))
"""The rights that Metacontroller must not have: a Service is never written to."""

_REQUIREMENT = re.compile(r"\s*(?P<key>[\w./-]+)\s*(?P<sign>==?|!=)\s*(?P<value>[\w.-]*)\s*")


def runs(seen: Seen) -> Iterator[Line]:
    """Yield whether Metacontroller runs, in which version, and with which arguments."""
    engines = seen.engines()
    if not engines:
        yield wrong("no Deployment and no StatefulSet runs Metacontroller, so that nothing is made and nothing removed")
    for engine in engines:
        image = next(each for each in images(engine) if name_of_image(each) == "metacontroller")
        yield by_version("Metacontroller", tag_of_image(image) or image, METACONTROLLER)
        yield replicas(engine)
        yield from arguments(engine, seen.controller)
    if len(engines) > 1:
        yield warning(f"several run it: {', '.join(map(str, engines))}; each writes what the others write", "Keep one.")


def replicas(item: Item) -> Line:
    """Return how many replicas of a Deployment or StatefulSet are ready."""
    stated, ready = at(item, "spec", "replicas"), at(item, "status", "readyReplicas") or 0
    wanted = 1 if stated is None else stated
    told = f"{item} has {ready} of {wanted} replicas ready"
    look = ("kubectl", "describe", f"--namespace={item.namespace}", "--", str(item.object["kind"]), item.name)
    if ready == 0:
        return wrong(told, "See why its Pods don't start.", look)
    return warning(told, "See why the others don't start.", look) if ready < wanted else ok(told)


def arguments(engine: Item, controller: Item | None) -> Iterator[Line]:
    """Yield which of Metacontroller's arguments make it do harm, or nothing for us."""
    texts = [text for each in containers(engine) for key in ("command", "args") for text in each.get(key) or ()]
    words = [str(text) for text in texts]
    wanted = at(engine, "spec", "replicas") or 1
    if wanted > 1 and not {"--leader-election", "--leader-election=true"} & set(words):
        sentence = f"{engine} has {wanted} replicas without --leader-election: all of them write"
        yield wrong(sentence, "Add --leader-election to its arguments, or have one replica.")
    if argument(words, "apply-strategy") == "server-side-apply":
        sentence = f"{engine} has --apply-strategy=server-side-apply, by which it would overwrite what others have made"
        yield wrong(sentence, "Take that argument out.")
    selector = argument(words, "target-label-selector")
    if not selector or controller is None:
        return
    told = f"{engine} has --target-label-selector={selector}"
    look: Command = ("kubectl", "get", "--show-labels", "--", "decoratorcontroller", CONTROLLER)
    does_fit = fits(selector, controller.labels)
    if does_fit is None:
        sentence = f"{told}: whether that fits the labels of our DecoratorController isn't known"
        yield unknown(sentence, "Compare them.", look)
    elif not does_fit:
        sentence = f"{told}, which leaves out our DecoratorController, so that nothing is made and nothing removed"
        yield wrong(sentence, "Give the DecoratorController those labels, by a patch of yours.", look)


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


def decorator(seen: Seen) -> Iterator[Line]:
    """Yield whether the DecoratorController is as this version has it, but for where the hook is."""
    controller = seen.controller
    if controller is None:
        yield wrong(f"the DecoratorController {CONTROLLER} isn't there, so that Metacontroller does nothing")
        return
    [ours] = seen.expected_of("DecoratorController", seen.folder)
    found = [each for each in differences(ours["spec"], at(controller, "spec")) if not each[0].startswith(WEBHOOK)]
    for path, what in found:
        yield (wrong if path.startswith(BREAKING) else warning)(f"{path} {what}")
    if not found:
        yield ok(f"the DecoratorController {CONTROLLER} is as this version has it")


def asked_rights(seen: Seen) -> list[Right]:
    """Return all rights that the API server is asked about."""
    return [*dict.fromkeys((*needed(seen), *NEVER))]


def needed(seen: Seen) -> Iterator[Right]:
    """Yield the rights that Metacontroller has to have for us. It doesn't use get."""
    for role in seen.expected_of("ClusterRole", seen.folder):
        for rule in role["rules"]:
            for group, resource, verb in product(rule["apiGroups"], rule["resources"], rule["verbs"]):
                if verb != "get":
                    yield Right(verb, group, resource)


def account_of(seen: Seen) -> tuple[str, str] | None:
    """Return the namespace and the name of Metacontroller's ServiceAccount, None where nothing runs it."""
    engines = seen.engines()
    if not engines:
        return None
    name = at(engines[0], "spec", "template", "spec", "serviceAccountName")
    return engines[0].namespace, name if isinstance(name, str) else "default"


def rights(seen: Seen) -> Iterator[Line]:
    """Yield whether Metacontroller's ServiceAccount has the rights that it needs, and none on Services."""
    account = "ServiceAccount " + "/".join(account_of(seen) or ())
    lacking = [right for right in needed(seen) if not seen.rights[right]]
    more = [right for right in NEVER if seen.rights[right]]
    if lacking:
        remedy = "Bind the ClusterRole to it: metacontroller/README.md says how."
        yield wrong(f"the {account} may not {told_of(lacking)}", remedy)
    else:
        yield ok(f"the {account} may do what it needs")
    if more:
        remedy = "Metacontroller's own manifests grant it; metacontroller/install doesn't, as nothing needs it."
        yield warning(f"the {account} may {told_of(more)}", remedy)
    else:
        yield ok(f"the {account} may not write Services")


def told_of(rights: Iterable[Right]) -> str:
    """Return some rights as a person would say them."""
    by_resource: dict[str, list[str]] = {}
    for right in rights:
        by_resource.setdefault(right.resource, []).append(right.verb)
    return "; ".join(f"{', '.join(verbs)} {resource}" for resource, verbs in by_resource.items())
