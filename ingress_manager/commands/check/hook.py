"""`check`: the hook, its settings, who reaches it, and the admission webhook, where it is installed.

Source: what the API server makes of a webhook: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from ingress_manager import __version__
from ingress_manager.commands.check.cluster import ALL, DEPLOYMENTS, Cluster, containers
from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong
from ingress_manager.commands.check.metacontroller import replicas
from ingress_manager.commands.printing.words import Message
from ingress_manager.commands.reading.kinds import INGRESS, RESOURCES
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.view.certificates import NOT_INSTALLED, can_be_read, end_of, wrong_with
from ingress_manager.commands.view.events import OF_SERVICES, report_of
from ingress_manager.commands.view.surroundings import LONG_AGO, time_of
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.text import one_line

LONGEST_PAUSE = timedelta(seconds=1000)
"""After at most this time Metacontroller tries again what has failed: an older Event may tell of what has healed."""

WEBHOOKS = "validatingwebhookconfigurations.admissionregistration.k8s.io"
WEBHOOK = "services.ingress-manager.internal"
"""The webhook's name in every installation, whatever its objects are called."""

SOON = timedelta(days=7)
SAY = "docs/admission.md says how."

_ANSWERED = re.compile(r"unsupported status code: 4\d\d")
"""What Metacontroller says when the hook has refused something: it has been reached."""


def runs(cluster: Cluster) -> Iterator[Line]:
    """Yield whether the hook runs, in the version of this program."""
    deployment = cluster.hook
    if deployment is None:
        yield wrong(f"there is no Deployment {cluster.installation}")
        return
    image = image_of(deployment)
    labelled = at(deployment, "spec", "template", "metadata", "labels", "app.kubernetes.io/version")
    stated = cluster.told("ingress_manager_build", "version") or labelled
    if stated == __version__:
        yield ok(f"the image is {image}, of version {__version__} as this program")
    elif stated:
        sentence = f"the image is {image}, of version {stated}, and this program is {__version__}"
        yield warning(sentence, "Use the commands of the hook's version: others may decide otherwise.")
    else:
        yield unknown(f"the image is {image}, which doesn't say its version")
    yield replicas(deployment)


def image_of(item: Item) -> str:
    return next((str(each.get("image", "")) for each in containers(item)), "")


def settings(cluster: Cluster) -> Iterator[Line]:
    """Yield whether the settings are there, can be used, and hold, and what they pause."""
    deployment, text = cluster.hook, cluster.settings
    if deployment is None:
        return
    if text is None:
        name = configmap_of(deployment)
        why = f"no ConfigMap {deployment.namespace}/{name} has a settings.yaml" if name else f"{deployment} mounts none"
        yield wrong(f"the settings aren't there: {why}")
        return
    policy, told = text.policy(), cluster.told("ingress_manager_settings", "sha256")
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


def reached(cluster: Cluster) -> Iterator[Line]:
    """Yield whether Metacontroller reaches the hook, as far as its newest Event of having asked it tells.

    What has worked since clears it: an Ingress was made, or the hook's Deployment became available or was rolled out.
    """
    events = cluster.all("events", ALL, OF_SERVICES)
    asked = (event for event in events if "sync hook failed" in str(event.object.get("message")))
    newest = max(map(report_of, asked), default=None)
    if newest and not _ANSWERED.search(newest.sentence):
        good = (each for each in mappings(at(cluster.hook, "status", "conditions")) if each.get("status") == "True")
        worked = max((_time(each.get("lastUpdateTime")) for each in good), default=LONG_AGO)
        failed = _time(newest.time)
        if failed >= max(worked, cluster.now - LONGEST_PAUSE) and failed >= newest_made(cluster):
            look = (*("kubectl", "get", f"--namespace={cluster.installation.namespace}"), "--", "deployments,pods")
            told = f"at {newest.time}, {one_line(newest.sentence)}"
            yield wrong(f"the hook doesn't answer Metacontroller as it should: {told}", command=look)
            return
    yield ok("no Event says that Metacontroller doesn't reach the hook")


def newest_made(cluster: Cluster) -> datetime:
    """Return when the newest Ingress was made by ingress-manager."""
    ours = f"--selector={MANAGED_BY_LABEL}={MANAGED_BY}"
    times = "--output=jsonpath={.items[*].metadata.creationTimestamp}"
    return _time(max(cluster.kubectl.run("get", ALL, ours, times, "--", RESOURCES[INGRESS]).split(), default=""))


def _time(stated: object) -> datetime:
    return time_of(stated) or LONG_AGO


def asked(cluster: Cluster) -> list[tuple[str, str]]:
    """Return namespace and name of the Service that the webhook asks: one, unless it is installed twice, or not."""
    webhooks = (each for item in cluster.all(WEBHOOKS) for each in mappings(item.object.get("webhooks")))
    services = [at(each, "clientConfig", "service") for each in webhooks if each.get("name") == WEBHOOK]
    return [(str(each.get("namespace")), str(each.get("name"))) for each in mappings(services)]


def webhook(cluster: Cluster) -> Iterator[Line]:
    """Yield whether the webhook is there, if the settings deny, and its Deployment runs as the hook does."""
    services, hook = asked(cluster), cluster.hook
    if not services and cluster.policy.admission.deny:
        sentence = "admission.deny of the settings is true, and the webhook isn't installed: nothing is denied"
        yield warning(sentence, f"Install it: {SAY}")
    for namespace, name in services:
        deployment = cluster.one(DEPLOYMENTS, name, namespace)
        if deployment is None:
            yield wrong(f"there is no Deployment {namespace}/{name}, of the name of the Service that the webhook asks")
            continue
        yield replicas(deployment)
        for what, of in (("image", image_of), ("ConfigMap", configmap_of)):
            if hook and of(deployment) != of(hook):
                told = f"{deployment} has the {what} {of(deployment)}, and the hook {of(hook)}"
                yield warning(f"{told}: it may judge otherwise")


def certificates(cluster: Cluster) -> Iterator[Line]:
    """Yield whether the webhook's certificate is for its Service, and for how long it lasts."""
    for namespace, service in asked(cluster):
        volumes = at(cluster.one(DEPLOYMENTS, service, namespace), "spec", "template", "spec", "volumes")
        for name in (at(each, "secret", "secretName") for each in mappings(volumes) if each.get("name") == "tls"):
            yield certificate(cluster, namespace, str(name), f"{service}.{namespace}.svc")


def certificate(cluster: Cluster, namespace: str, name: str, host: str) -> Line:
    """Return the line for the certificate in a Secret, of which nothing else is printed: no private key."""
    secret, only = f"the Secret {namespace}/{name}", "--output=jsonpath={.data.tls\\.crt}"
    crt = cluster.kubectl.run("get", f"--namespace={namespace}", IGNORE_NOT_FOUND, only, "--", f"secret/{name}")
    if not can_be_read():
        return unknown(f"the certificate in {secret} could not be looked at: {NOT_INSTALLED}")
    if not crt:
        return wrong(f"there is no certificate (tls.crt) in {secret}, or no such Secret", f"Make it: {SAY}")
    if why := wrong_with(crt, [host], cluster.now):
        return wrong(f"{secret}: {why}", f"Make another one: {SAY}")
    told = f"the certificate in {secret} ends at {end_of(crt):%Y-%m-%dT%H:%M:%SZ}"
    return warning(told, f"Renew it: {SAY}") if end_of(crt) - cluster.now < SOON else ok(told)
