"""`check`: the hook, its settings, and who reaches it. The pure part."""

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from ingress_manager import __version__
from ingress_manager.commands.check.engine import replicas
from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong
from ingress_manager.commands.check.seen import Seen, images
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.view.events import EVENTS, Report, report_of
from ingress_manager.commands.view.surroundings import LONG_AGO, time_of
from ingress_manager.core.text import one_line

VERSION_LABEL = "app.kubernetes.io/version"
LONGEST_PAUSE = timedelta(seconds=1000)
"""After at most this time Metacontroller tries again what has failed: an older Event may tell of what has healed."""

_METRIC = '^{}_info\\{{{}="([^"]*)"\\}}'
_ANSWERED = re.compile(r"unsupported status code: 4\d\d")
"""What Metacontroller says when the hook has refused something: it has been reached."""


def runs(seen: Seen) -> Iterator[Line]:
    """Yield whether the hook runs, in the version of this program."""
    deployment = seen.hook
    if deployment is None:
        yield wrong(f"there is no Deployment {seen.installation}")
        return
    image = "".join(images(deployment)[:1])
    labelled = at(deployment, "spec", "template", "metadata", "labels", VERSION_LABEL)
    stated = told_by(seen, "ingress_manager_build", "version") or labelled
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


def settings(seen: Seen) -> Iterator[Line]:
    """Yield whether the settings are there, can be used, and hold, and what they pause."""
    deployment = seen.hook
    if deployment is None:
        return
    name, text = configmap_of(deployment), seen.settings
    if name is None:
        yield wrong(f"{deployment} mounts no ConfigMap with settings: it runs with the defaults, or not at all")
        return
    if text is None:
        yield wrong(f"the settings aren't there: no ConfigMap {deployment.namespace}/{name} has a settings.yaml")
        return
    policy, told = text.policy(), told_by(seen, "ingress_manager_settings", "sha256")
    if isinstance(policy, Message):
        yield wrong(f"the settings can't be used: {policy}", "Correct them: a Pod that starts now won't run.")
    elif policy.pauses:
        yield warning(f"the settings pause {policy.pauses}", "Set paused: false when it may go on.")
    if told and told != hashlib.sha256(text.text.encode()).hexdigest():
        sentence = f"the hook runs with other settings than those in the {text.file}: their SHA-256 is another one"
        target = (f"--namespace={deployment.namespace}", "--", "deployment", deployment.name)
        again = ("kubectl", "rollout", "restart", *target)
        yield warning(sentence, "The hook reads them when it starts: restart it.", again)
    elif not isinstance(policy, Message):
        yield ok(f"the settings in the {text.file} can be used{', and the hook runs with them' if told else ''}")


def reached(seen: Seen) -> Iterator[Line]:
    """Yield whether Metacontroller reaches the hook, as far as its Events tell."""
    failed = failure(seen)
    if failed:
        sentence = f"the hook doesn't answer Metacontroller as it should: at {failed.time}, {one_line(failed.sentence)}"
        look = ("kubectl", "get", f"--namespace={seen.installation.namespace}", "--", "deployments,pods,endpointslices")
        yield wrong(sentence, command=look)
    else:
        yield ok("no Event says that Metacontroller doesn't reach the hook")


def failure(seen: Seen) -> Report | None:
    """Return the newest Event, if it says that Metacontroller has failed to ask the hook, and nothing has worked since.

    What has worked since is that an Ingress was made, or that the hook's Deployment became available or was rolled out.
    """
    events = (item for item in seen.items if item.kind == EVENTS)
    asked = (event for event in events if "sync hook failed" in str(event.object.get("message")))
    newest = max(map(report_of, asked), default=None)
    if newest is None or _ANSWERED.search(newest.sentence):
        return None
    good = (each for each in mappings(at(seen.hook, "status", "conditions")) if each.get("status") == "True")
    worked = [seen.made, *(str(each.get("lastUpdateTime")) for each in good)]
    at_that_time = _time(newest.time)
    is_recent = _time(seen.now) - at_that_time < LONGEST_PAUSE
    return newest if is_recent and at_that_time >= max(map(_time, worked)) else None


def _time(stated: str) -> datetime:
    return time_of(stated) or LONG_AGO


def guarded(seen: Seen) -> Iterator[Line]:
    """Yield whether a NetworkPolicy says who may ask the hook. Where it keeps Metacontroller out, an Event tells it."""
    labels = at(seen.hook, "spec", "template", "metadata", "labels")
    if not isinstance(labels, dict):
        return
    here = seen.of_kind("NetworkPolicy", seen.installation.namespace)
    policies = [each for each in here if _may_guard(at(each, "spec"), labels)]
    names = f"NetworkPolicy {', '.join(each.full_name for each in policies)}"
    if not policies:
        yield warning("no NetworkPolicy selects the hook's Pods: any Pod may ask it, and use up its connections")
    elif any(not rule.get("from") for each in policies for rule in mappings(at(each, "spec", "ingress"))):
        yield warning(f"{names} lets every Pod ask the hook", "Let in Metacontroller alone.")
    else:
        yield ok(f"{names} says who may ask the hook")


def _may_guard(spec: object, labels: dict[str, str]) -> bool:
    """Return whether a NetworkPolicy is about who may ask Pods with these labels, as far as matchLabels tell."""
    wanted = at(spec, "podSelector", "matchLabels") or {}
    return wanted.items() <= labels.items() and "Ingress" in (at(spec, "policyTypes") or ())
