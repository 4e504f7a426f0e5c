"""`check`: the hook, its settings and its Service, and who reaches it. The pure part."""

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from ingress_manager import __version__
from ingress_manager.commands.check.engine import replicas
from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong
from ingress_manager.commands.check.seen import Seen, condition, containers, images, tag_of_image
from ingress_manager.commands.check.versions import version_of
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.installations import CONTROLLER, leads_to
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.view.events import EVENTS, Report, report_of
from ingress_manager.commands.view.surroundings import LONG_AGO, time_of
from ingress_manager.core.text import one_line

VERSION_LABEL = "app.kubernetes.io/version"
LONGEST_PAUSE = timedelta(seconds=1000)
"""After at most this time Metacontroller tries again what has failed: an older Event may tell of what has healed."""

_METRIC = '^{}_info\\{{{}="([^"]*)"\\}}'
_ANSWERS = re.compile(r'^ingress_manager_answers_total\{code="\d+"\} ([\d.e+]+)$', re.MULTILINE)
_ANSWERED = re.compile(r"unsupported status code: 4\d\d")
"""What Metacontroller says when the hook has refused something: it has been reached."""


def runs(seen: Seen) -> Iterator[Line]:
    """Yield whether the hook runs, in the version of this program."""
    deployment = seen.hook
    if deployment is None:
        yield wrong(f"there is no Deployment {seen.installation}")
        return
    image = "".join(images(deployment)[:1])
    tag = tag_of_image(image)
    stated = (
        told_by(seen, "ingress_manager_build", "version")
        or at(deployment, "spec", "template", "metadata", "labels", VERSION_LABEL)
        or (tag if version_of(tag) else "")
    )
    if stated == __version__:
        yield ok(f"the image is {image}, of version {__version__} as this program")
    elif stated:
        sentence = f"the image is {image}, of version {stated}, and this program is {__version__}"
        yield warning(sentence, "Use the commands of the hook's version: others may decide otherwise.")
    else:
        yield unknown(f"the image is {image}, which doesn't say its version")
    yield replicas(deployment)


def told_by(seen: Seen, metric: str, label: str) -> str:
    """Return what the hook tells of itself in a metric; empty where it can't be asked."""
    found = re.search(_METRIC.format(metric, label), seen.metrics, re.MULTILINE)
    return found[1] if found else ""


def waiting_pods(seen: Seen) -> Iterator[Line]:
    """Yield why a Pod of the hook doesn't run; once for each reason."""
    told = {"ContainerCreating", "PodInitializing"}
    for pod in seen.pods():
        where = f"--namespace={pod.namespace}"
        for status in mappings(at(pod, "status", "containerStatuses")):
            waiting = at(status, "state", "waiting")
            reason, message = str(at(waiting, "reason") or ""), at(waiting, "message")
            if reason and reason not in told:
                told.add(reason)
                look: Command = ("kubectl", "logs", where, "--previous", "--", pod.name)
                if "Image" in reason:
                    look = ("kubectl", "describe", where, "--", "pod", pod.name)
                because = f": {message}" if message else ""
                yield wrong(f"the Pod {pod.full_name} doesn't run: {reason}{because}", command=look)
        scheduled = condition(pod, "PodScheduled")
        if scheduled.get("status") == "False" and "PodScheduled" not in told:
            told.add("PodScheduled")
            sentence = f"the Pod {pod.full_name} has no node: {scheduled.get('message')}"
            yield wrong(sentence, "Make room for it, or take the obstacle away.")


def settings(seen: Seen) -> Iterator[Line]:
    """Yield whether the settings are there, and can be used, and what they pause."""
    deployment = seen.hook
    if deployment is None:
        return
    name, text = configmap_of(deployment), seen.settings
    if name is None:
        yield wrong(f"{deployment} mounts no ConfigMap with settings: it runs with the defaults, or not at all")
    elif text is None:
        sentence = f"the settings aren't there: no ConfigMap {deployment.namespace}/{name} has a settings.yaml"
        yield wrong(sentence)
    elif isinstance(policy := text.policy(), Message):
        remedy = "Correct them: a Pod that starts now won't run."
        yield wrong(f"the settings can't be used: {policy}", remedy)
    elif policy.pauses:
        yield warning(f"the settings pause {policy.pauses}", "Set paused: false when it may go on.")


def pods_and_settings(seen: Seen) -> Iterator[Line]:
    """Yield whether the hook's Pods have read the settings that stand in the ConfigMap."""
    deployment, text = seen.hook, seen.settings
    if deployment is None or text is None:
        return
    target = (f"--namespace={deployment.namespace}", "--", "deployment", deployment.name)
    remedy, again = "The hook reads them when it starts: restart it.", ("kubectl", "rollout", "restart", *target)
    told = told_by(seen, "ingress_manager_settings", "sha256")
    if told and told != hashlib.sha256(text.text.encode()).hexdigest():
        sentence = f"the hook runs with other settings than those in the {text.file}: their SHA-256 is another one"
        yield warning(sentence, remedy, again)
        return
    for pod in seen.pods():
        # A Pod is in the place of a Deployment's template.
        if configmap_of(Item({"spec": {"template": pod.object}}, pod.origin)) != configmap_of(deployment):
            sentence = f"the Pod {pod.full_name} hasn't read the settings in the {text.file} as they are now"
            yield warning(sentence, remedy, again)
            return
    yield ok(f"the settings in the {text.file} can be used{', and the hook runs with them' if told else ''}")


def service(seen: Seen) -> Iterator[Line]:
    """Yield whether the Service that the DecoratorController names leads to the hook's Pods."""
    webhook, deployment = at(seen.controller, "spec", "hooks", "sync", "webhook", "service"), seen.hook
    if not isinstance(webhook, dict):
        return  # there is none, or it names the hook by its URL
    namespace, name = str(webhook.get("namespace")), str(webhook.get("name"))
    found = seen.one("Service", name, namespace)
    if found is None:
        yield wrong(f"there is no Service {namespace}/{name}, which the DecoratorController {CONTROLLER} names")
    elif deployment is not None and not leads_to(found, deployment):
        yield wrong(f"the Service {found.full_name} doesn't select the Pods of {deployment}")
    elif deployment is not None:
        yield ok(f"the Service {found.full_name} selects its Pods")


def ports_of(deployment: Item | None) -> set[Any]:
    """Return the names and the numbers of a Deployment's ports."""
    ports = [port for each in containers(deployment) for port in mappings(each.get("ports"))]
    return {port.get(key) for port in ports for key in ("name", "containerPort")}


def reached(seen: Seen) -> Iterator[Line]:
    """Yield whether Metacontroller reaches the hook, as far as its Events and the hook's metrics tell."""
    failed = failure(seen)
    if failed:
        sentence = f"the hook doesn't answer Metacontroller as it should: at {failed.time}, {one_line(failed.sentence)}"
        look = ("kubectl", "get", f"--namespace={seen.installation.namespace}", "--", "deployments,pods,endpointslices")
        yield wrong(sentence, command=look)
    elif answers := sum(float(each) for each in _ANSWERS.findall(seen.metrics)):
        yield ok(f"the hook has answered Metacontroller {answers:,.0f} times since it started")
    else:
        yield ok("no Event says that Metacontroller doesn't reach the hook")


def failure(seen: Seen) -> Report | None:
    """Return the newest Event, if it says that Metacontroller has failed to ask the hook, and nothing has worked since.

    What has worked since is that an Ingress was made, or that a Pod of the hook became ready.
    """
    events = (item for item in seen.items if item.kind == EVENTS)
    asked = (event for event in events if "sync hook failed" in str(event.object.get("message")))
    newest = max(map(report_of, asked), default=None)
    if newest is None or _ANSWERED.search(newest.sentence):
        return None
    ready = (condition(pod, "Ready") for pod in seen.pods())
    worked = [seen.made, *(str(each.get("lastTransitionTime")) for each in ready if each.get("status") == "True")]
    at_that_time = _time(newest.time)
    is_recent = _time(seen.now) - at_that_time < LONGEST_PAUSE
    return newest if is_recent and at_that_time >= max(map(_time, worked)) else None


def _time(stated: str) -> datetime:
    return time_of(stated) or LONG_AGO
