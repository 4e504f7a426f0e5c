"""`check`: the hook, its settings and its Service, who reaches it, and its NetworkPolicy. The pure part."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from ingress_manager.commands.check.engine import AGAIN, replicas
from ingress_manager.commands.check.engine import PART as METACONTROLLER
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.check.seen import Seen, condition, containers, images, tag_of_image
from ingress_manager.commands.check.versions import version_of
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.installations import CONTROLLER, leads_to
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import SettingsText, configmap_of, text_of
from ingress_manager.commands.view.events import EVENTS, report_of
from ingress_manager.commands.view.surroundings import LONG_AGO, time_of
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import one_line

PART = "hook"
VERSION_LABEL = "app.kubernetes.io/version"
LONGEST_PAUSE = timedelta(seconds=1000)
"""After at most this time Metacontroller tries again what has failed: an older Event may tell of what has healed."""

_METRIC = '^{}_info\\{{{}="([^"]*)"\\}}'
_ANSWERS = re.compile(r'^ingress_manager_answers_total\{code="\d+"\} ([\d.e+]+)$', re.MULTILINE)
_ANSWERED = re.compile(r"unsupported status code: 4\d\d")
"""What Metacontroller says when the hook has refused something: it has been reached."""


def hook(seen: Seen, version: str) -> Iterator[Line]:
    """Yield whether the hook runs, in the version of this program, with the settings of its ConfigMap."""
    yield from seen.unknown(PART, "Deployment", f"the Deployment {seen.installation}")
    deployment = seen.hook
    if deployment is None:
        if "Deployment" not in seen.unread:
            yield Line(PART, State.WRONG, f"there is no Deployment {seen.installation}", AGAIN)
    else:
        yield from program(seen, deployment, version)
        yield from replicas(PART, deployment)
        yield from rollout(deployment)
        yield from waiting_pods(seen)
        yield from settings(seen, deployment)
    yield from service(seen, deployment)
    yield from reached(seen)


def program(seen: Seen, deployment: Item, version: str) -> Iterator[Line]:
    """Yield whether the hook is of the version of this program."""
    image = "".join(images(deployment)[:1])
    told = told_by(seen, "ingress_manager_build", "version")
    tag = tag_of_image(image)
    stated = told or at(deployment, "spec", "template", "metadata", "labels", VERSION_LABEL)
    stated = stated or (tag if version_of(tag) else "")
    if stated == version:
        yield Line(PART, State.OK, f"the image is {image}, of version {version} as this program")
    elif stated:
        sentence = f"the image is {image}, of version {stated}, and this program is {version}"
        yield Line(
            PART, State.WARNING, sentence, "Use the commands of the hook's version: others may decide otherwise."
        )
    else:
        yield Line(PART, State.UNKNOWN, f"the image is {image}, which doesn't say its version")


def told_by(seen: Seen, metric: str, label: str) -> str:
    """Return what the hook tells of itself in a metric; empty where it can't be asked."""
    found = re.search(_METRIC.format(metric, label), seen.metrics, re.MULTILINE)
    return found[1] if found else ""


def rollout(deployment: Item) -> Iterator[Line]:
    """Yield a line where the Deployment isn't rolled out."""
    status = at(deployment, "status")
    progressing = condition(status, "Progressing")
    look: Command = ("kubectl", "rollout", "status", f"--namespace={deployment.namespace}", "--", "deployment")
    command = (*look, deployment.name)
    if progressing.get("status") == "False":
        why = progressing.get("message") or progressing.get("reason")
        yield Line(PART, State.WRONG, f"its rollout has stopped: {why}", "See why its Pods don't start.", command)
    elif at(status, "observedGeneration") != deployment.metadata.get("generation") or at(
        status, "updatedReplicas"
    ) != at(status, "replicas"):
        yield Line(PART, State.WARNING, "its rollout isn't finished", "Wait for it.", command)


def waiting_pods(seen: Seen) -> Iterator[Line]:
    """Yield why a Pod of the hook doesn't run; once for each reason."""
    told: set[str] = set()
    for pod in seen.pods():
        for status in mappings(at(pod, "status", "containerStatuses")):
            waits = at(status, "state", "waiting")
            reason = at(waits, "reason")
            if reason and reason not in {"ContainerCreating", "PodInitializing", *told}:
                told.add(reason)
                message = at(waits, "message")
                sentence = f"the Pod {pod.full_name} doesn't run: {reason}{f': {message}' if message else ''}"
                look: Command = ("kubectl", "logs", f"--namespace={pod.namespace}", "--previous", "--", pod.name)
                if "Image" in reason:
                    look = ("kubectl", "describe", f"--namespace={pod.namespace}", "--", "pod", pod.name)
                yield Line(PART, State.WRONG, sentence, "See why.", look)
        scheduled = condition(at(pod, "status"), "PodScheduled")
        if scheduled.get("status") == "False" and "Unschedulable" not in told:
            told.add("Unschedulable")
            sentence = f"the Pod {pod.full_name} has no node: {scheduled.get('message')}"
            yield Line(PART, State.WRONG, sentence, "Make room for it, or take the obstacle away.")


def settings_of(seen: Seen) -> SettingsText | None:
    """Return the text of the settings, None where it isn't there."""
    name = configmap_of(seen.hook) if seen.hook else None
    configmap = seen.one("ConfigMap", name, seen.installation.namespace) if name else None
    text = text_of(configmap) if configmap else None
    return None if text is None else SettingsText(text, f"ConfigMap {seen.installation.namespace}/{name}")


def policy_of(seen: Seen) -> Policy | None:
    """Return the settings, None where they can't be read."""
    text = settings_of(seen)
    policy = text.policy() if text else None
    return policy if isinstance(policy, Policy) else None


def settings(seen: Seen, deployment: Item) -> Iterator[Line]:
    """Yield whether the settings are there, can be used, and are those with which the Pods run."""
    name = configmap_of(deployment)
    where = f"ConfigMap {deployment.namespace}/{name}"
    if name is None:
        sentence = f"{deployment} mounts no ConfigMap with settings: it runs with the defaults, or not at all"
        yield Line(PART, State.WRONG, sentence, AGAIN)
        return
    if "ConfigMap" in seen.unread:
        yield from seen.unknown(PART, "ConfigMap", f"the settings in the {where}")
        return
    text = settings_of(seen)
    if text is None:
        sentence = f"the settings aren't there: no {where} has a settings.yaml"
        yield Line(PART, State.WRONG, sentence, f"A Pod that starts now won't run. {AGAIN}")
        return
    policy = text.policy()
    if isinstance(policy, Message):
        sentence = f"the settings can't be used: {policy}"
        yield Line(PART, State.WRONG, sentence, "Correct them: a Pod that starts now won't run.")
        return
    if policy.paused:
        yield Line(PART, State.WARNING, "the settings pause ingress-manager", "Set paused: false when it may go on.")
    yield from unread_or_older(seen, deployment, where, text.text)


def unread_or_older(seen: Seen, deployment: Item, where: str, text: str) -> Iterator[Line]:
    """Yield whether the Pods have read the settings that stand in the ConfigMap."""
    again: Command = ("kubectl", "rollout", "restart", f"--namespace={deployment.namespace}", "--", "deployment")
    command = (*again, deployment.name)
    told = told_by(seen, "ingress_manager_settings", "sha256")
    if told and told != hashlib.sha256(text.encode()).hexdigest():
        sentence = f"the hook runs with other settings than those in the {where}: their SHA-256 is another one"
        yield Line(PART, State.WARNING, sentence, "It reads them when it starts: restart it.", command)
        return
    if "Pod" in seen.unread:
        yield from seen.unknown(PART, "Pod", f"whether its Pods have read the settings in the {where}")
        return
    configmap = seen.one("ConfigMap", configmap_of(deployment), deployment.namespace)
    changed = changed_at(configmap) if configmap else ""
    older = [
        pod
        for pod in seen.pods()
        # A Pod is in the place of a Deployment's template.
        if configmap_of(Item({"spec": {"template": pod.object}}, pod.origin)) != configmap_of(deployment)
        or started(pod) < changed
    ]
    if older:
        sentence = f"the Pod {older[0].full_name} hasn't read the settings in the {where} as they are now"
        yield Line(PART, State.WARNING, sentence, "The hook reads them when it starts: restart it.", command)
    elif not seen.pods():
        sentence = f"the settings in the {where} can be used; no Pod has read them"
        yield Line(PART, State.WARNING, sentence, "See why there is none.")
    else:
        yield Line(PART, State.OK, f"the settings in the {where} can be used, and its Pods have started since")


def started(pod: Item) -> str:
    return str(at(pod, "status", "startTime") or pod.metadata.get("creationTimestamp", ""))


def changed_at(configmap: Item) -> str:
    """Return when the content of a ConfigMap was changed last, as far as its managers say."""
    times = [
        str(entry.get("time", ""))
        for entry in mappings(configmap.metadata.get("managedFields"))
        if at(entry, "fieldsV1", "f:data") is not None
    ]
    return max(times, default=str(configmap.metadata.get("creationTimestamp", "")))


def service(seen: Seen, deployment: Item | None) -> Iterator[Line]:
    """Yield whether the Service that the DecoratorController names leads to the hook's Pods."""
    webhook = at(seen.controller, "spec", "hooks", "sync", "webhook", "service")
    if not isinstance(webhook, dict):
        return  # there is none, or it names the hook by its URL
    namespace, name = str(webhook.get("namespace")), str(webhook.get("name"))
    yield from seen.unknown(PART, "Service", f"the Service {namespace}/{name}")
    if "Service" in seen.unread:
        return
    found = seen.one("Service", name, namespace)
    if found is None:
        sentence = f"there is no Service {namespace}/{name}, which the DecoratorController {CONTROLLER} names"
        yield Line(PART, State.WRONG, sentence, AGAIN)
    elif deployment is not None and (why := leads_elsewhere(found, deployment, webhook.get("port", 80))):
        yield Line(PART, State.WRONG, f"the Service {found.full_name} {why}", AGAIN)
    elif deployment is not None:
        yield Line(PART, State.OK, f"the Service {found.full_name} selects its Pods")


def leads_elsewhere(service: Item, deployment: Item, number: object, who: str = "the DecoratorController") -> str:
    """Return why a port of a Service, which `who` names, doesn't lead to a Deployment's Pods; empty where it does."""
    if not leads_to(service, deployment):
        return f"doesn't select the Pods of {deployment}"
    targets = [port.get("targetPort") for port in mappings(at(service, "spec", "ports")) if port.get("port") == number]
    if not targets:
        return f"has no port {number}, which {who} names"
    if targets[0] not in ports_of(deployment):
        return f"sends to the port {targets[0]}, which {deployment} doesn't have"
    return ""


def ports_of(deployment: Item | None) -> set[Any]:
    ports = [port for each in containers(deployment) for port in mappings(each.get("ports"))]
    return {port.get(key) for port in ports for key in ("name", "containerPort")}


def reached(seen: Seen) -> Iterator[Line]:
    """Yield whether Metacontroller reaches the hook, as far as its Events and the hook's metrics tell."""
    answers = sum(float(each) for each in _ANSWERS.findall(seen.metrics))
    if "Event" in seen.unread and not answers:
        yield from seen.unknown(PART, "Event", "whether Metacontroller reaches the hook")
        return
    events = (item for item in seen.items if item.kind == EVENTS)
    asked = (event for event in events if "sync hook failed" in str(event.object.get("message")))
    newest = max(map(report_of, asked), default=None)
    if newest and not _ANSWERED.search(newest.sentence) and is_recent(newest.time, seen.now):
        sentence = f"the hook doesn't answer Metacontroller as it should: at {newest.time}, {one_line(newest.sentence)}"
        namespace = seen.installation.namespace
        look: Command = ("kubectl", "get", f"--namespace={namespace}", "--", "deployments,pods,endpointslices")
        yield Line(PART, State.WRONG, sentence, "See whether it runs, and whether a NetworkPolicy is in the way.", look)
    elif answers:
        yield Line(PART, State.OK, f"the hook has answered Metacontroller {answers:,.0f} times since it started")
    elif newest and is_recent(newest.time, seen.now):
        yield Line(
            PART, State.OK, f"{METACONTROLLER} reaches the hook: its newest refusal came through at {newest.time}"
        )
    else:
        yield Line(PART, State.OK, f"no Event says that {METACONTROLLER} doesn't reach the hook")


def is_recent(time: str, now: str) -> bool:
    """Return whether Metacontroller has tried again since, if it has something to try."""
    return (time_of(now) or LONG_AGO) - (time_of(time) or LONG_AGO) < LONGEST_PAUSE


def network(seen: Seen) -> Iterator[Line]:
    """Yield whether a NetworkPolicy lets Metacontroller alone ask the hook."""
    part, kind = "NetworkPolicy of the hook", "NetworkPolicy"
    yield from seen.unknown(part, kind, "NetworkPolicies")
    labels = at(seen.hook, "spec", "template", "metadata", "labels")
    if kind in seen.unread or not isinstance(labels, dict):
        return
    policies = [
        each
        for each in seen.of_kind(kind, seen.installation.namespace)
        if selects(at(each, "spec", "podSelector"), labels) and "Ingress" in (at(each, "spec", "policyTypes") or ())
    ]
    if not policies:
        sentence = "no NetworkPolicy selects the hook's Pods: any Pod may ask it, and use up its connections"
        yield Line(part, State.WARNING, sentence, AGAIN)
        return
    names = f"NetworkPolicy {', '.join(each.full_name for each in policies)}"
    rules = [rule for each in policies for rule in mappings(at(each, "spec", "ingress"))]
    engines = seen.engines()
    shut = [each for each in engines if not any(admits(rule, each, seen) for rule in rules)]
    yield from seen.unknown(part, "Namespace", "the labels of Metacontroller's namespace")
    if shut and "Namespace" in seen.unread:
        return
    if shut:
        sentence = f"{names} keeps {shut[0]} from asking the hook"
        yield Line(part, State.WRONG, sentence, "Let its Pods in: metacontroller/README.md says how.")
    elif any(not rule.get("from") for rule in rules):
        yield Line(part, State.WARNING, f"{names} lets every Pod ask the hook", "Let in Metacontroller alone.")
    elif engines:
        yield Line(part, State.OK, f"{names} lets Metacontroller ask the hook, and not everybody")
    else:
        yield Line(part, State.UNKNOWN, f"{names} is there; nothing was found that runs Metacontroller, to let in")


def admits(rule: Mapping[str, Any], engine: Item, seen: Seen) -> bool:
    """Return whether a rule of a NetworkPolicy lets the Pods of a Deployment ask the hook."""
    ports = mappings(rule.get("ports"))
    if ports and not any("port" not in port or port["port"] in ports_of(seen.hook) for port in ports):
        return False
    labels = at(engine, "spec", "template", "metadata", "labels") or {}
    namespace = seen.one("Namespace", engine.namespace)
    names = {**(namespace.labels if namespace else {}), "kubernetes.io/metadata.name": engine.namespace}
    peers = mappings(rule.get("from"))
    same = engine.namespace == seen.installation.namespace
    return not peers or any(
        (selects(peer["namespaceSelector"], names) if "namespaceSelector" in peer else same)
        and selects(peer.get("podSelector") or {}, labels)
        for peer in peers
        if "ipBlock" not in peer
    )


def selects(selector: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector of Kubernetes fits."""
    if not isinstance(selector, dict):
        return False
    if not (selector.get("matchLabels") or {}).items() <= labels.items():
        return False
    return all(
        {
            "In": labels.get(each["key"]) in each.get("values", ()),
            "NotIn": labels.get(each["key"]) not in each.get("values", ()),
            "Exists": each["key"] in labels,
            "DoesNotExist": each["key"] not in labels,
        }[each["operator"]]
        for each in mappings(selector.get("matchExpressions"))
    )
