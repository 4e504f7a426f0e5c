"""`check`: the hook, its settings, whether Metacontroller reaches it, and the admission webhook if it is installed.

Source: how the API server calls a webhook: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import timedelta

from ingress_manager import __version__
from ingress_manager.commands.check.cluster import ALL, DEPLOYMENTS, Cluster, Result, image_of, unknown, warning, wrong
from ingress_manager.commands.check.provided import replicas
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, MANAGED_RESOURCES, KubectlFailed
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.snapshot.certificates import NOT_INSTALLED, TIME, can_be_read, end_of, wrong_with
from ingress_manager.commands.snapshot.events import OF_SERVICES, report_of
from ingress_manager.commands.snapshot.items import INGRESS, Message, at, mappings
from ingress_manager.commands.snapshot.surroundings import time_of
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL

LONGEST_PAUSE = timedelta(seconds=1000)
"""Metacontroller retries at least this often: an older Event may report what has healed."""

WEBHOOKS = "validatingwebhookconfigurations.admissionregistration.k8s.io"
WEBHOOK = "services.ingress-manager.internal"
"""The webhook's name in every installation, whatever its objects are called."""

SOON = timedelta(days=7)
SAY = "docs/admission.md shows how."

_ANSWERED = re.compile(r"unsupported status code: 4\d\d")
"""Metacontroller's report of a refusal: it reached the hook."""


def runs(cluster: Cluster) -> Iterator[Result]:
    """Yield what is wrong with the hook's Deployment: its replicas, or its version, if that isn't this program's."""
    deployment = cluster.hook
    if deployment is None:
        yield wrong(f"there is no Deployment {cluster.installation}")
        return
    labelled = at(deployment, "spec", "template", "metadata", "labels", "app.kubernetes.io/version")
    version = cluster.metric_label("ingress_manager_build", "version") or labelled
    if version and version != __version__:
        sentence = f"the image is {image_of(deployment)}, of version {version}, and this program is {__version__}"
        yield warning(sentence, "Use the commands of the hook's version: others may decide differently.")
    elif not version:
        yield unknown(f"the image is {image_of(deployment)}, which doesn't say its version")
    yield from replicas(deployment)


def settings(cluster: Cluster) -> Iterator[Result]:
    """Yield why the settings don't exist, can't be used or aren't in effect, and what they pause."""
    deployment, text = cluster.hook, cluster.settings_text
    if deployment is None:
        raise KubectlFailed(f"there is no Deployment {cluster.installation}")
    if text is None:
        yield wrong(f"the settings aren't there: {deployment} mounts no ConfigMap with a settings.yaml")
        return
    settings, sha256 = text.parse(), cluster.metric_label("ingress_manager_settings", "sha256")
    if isinstance(settings, Message):
        yield wrong(f"the settings can't be used: {settings}", "Correct them: with these, a new Pod doesn't start.")
    elif settings.pauses:
        yield warning(f"the settings pause {settings.pauses}", "Set paused: false when it may go on.")
    if sha256 and sha256 != hashlib.sha256(text.text.encode()).hexdigest():
        sentence = f"the hook runs with settings other than those in the {text.file}: their SHA-256 differs"
        again = f"kubectl rollout restart deployment --namespace={deployment.namespace} {deployment.name}"
        yield warning(sentence, f"The hook reads them when it starts: {again}")


def reached(cluster: Cluster) -> Iterator[Result]:
    """Yield why Metacontroller doesn't reach the hook, by its newest Event about a call.

    A later success clears it: an Ingress was created, or the hook's Deployment became available or was rolled out.
    """
    events = cluster.all("events", ALL, OF_SERVICES)
    failures = (event for event in events if "sync hook failed" in str(event.object.get("message")))
    newest = max(map(report_of, failures), default=None)
    if newest is None and not any(at(engine, "status", "readyReplicas") for engine in cluster.engines):
        raise KubectlFailed("nothing was found that runs Metacontroller, and no Event mentions it")
    if newest and not _ANSWERED.search(newest.sentence):
        conditions = mappings(at(cluster.hook, "status", "conditions"))
        times = (time_of(one.get("lastUpdateTime")) for one in conditions if one.get("status") == "True")
        failed = time_of(newest.time)
        if failed < max([*times, cluster.now - LONGEST_PAUSE]):
            return
        ours = f"--selector={MANAGED_BY_LABEL}={MANAGED_BY}"
        output = "--output=jsonpath={.items[*].metadata.creationTimestamp}"
        created = cluster.kubectl.run("get", ALL, ours, output, "--", MANAGED_RESOURCES[INGRESS]).split()
        if failed >= time_of(max(created, default="")):
            yield wrong(f"the hook didn't answer Metacontroller as it should: at {newest.time}, {newest.sentence}")


def webhook(cluster: Cluster) -> Iterator[Result]:
    """Yield that the webhook is missing although the settings deny, or what is wrong with it and its certificate."""
    webhooks = (one for item in cluster.all(WEBHOOKS) for one in mappings(item.object.get("webhooks")))
    services = mappings([at(one, "clientConfig", "service") for one in webhooks if one.get("name") == WEBHOOK])
    hook = cluster.hook
    if not services and cluster.settings.admission.deny:
        sentence = "admission.deny of the settings is true, and the webhook isn't installed: nothing is denied"
        yield warning(sentence, f"Install it: {SAY}")
    for service in services:
        namespace, name = str(service.get("namespace")), str(service.get("name"))
        deployment = cluster.one(DEPLOYMENTS, name, namespace)
        if deployment is None:
            yield wrong(f"there is no Deployment {namespace}/{name}, though the webhook's Service has that name")
            continue
        yield from replicas(deployment)
        for field, of in (("image", image_of), ("ConfigMap", configmap_of)):
            if hook and of(deployment) != of(hook):
                difference = f"{deployment} has the {field} {of(deployment)}, and the hook {of(hook)}"
                yield warning(f"{difference}: it may decide differently")
        volumes = mappings(at(deployment, "spec", "template", "spec", "volumes"))
        for secret in (at(volume, "secret", "secretName") for volume in volumes if volume.get("name") == "tls"):
            yield from certificate(cluster, namespace, str(secret), f"{name}.{namespace}.svc")


def certificate(cluster: Cluster, namespace: str, name: str, host: str) -> Iterator[Result]:
    """Yield what is wrong with the certificate in a Secret. kubectl prints nothing else of it, no private key."""
    secret, only = f"the Secret {namespace}/{name}", "--output=jsonpath={.data.tls\\.crt}"
    crt = cluster.kubectl.run("get", f"--namespace={namespace}", IGNORE_NOT_FOUND, only, "--", f"secret/{name}")
    if not can_be_read():
        yield unknown(f"the certificate in {secret} could not be read: {NOT_INSTALLED}")
    elif not crt:
        yield wrong(f"there is no certificate (tls.crt) in {secret}, or no such Secret", f"Create it: {SAY}")
    elif problem := wrong_with(crt, [host], cluster.now):
        yield wrong(f"{secret}: {problem}", f"Create another one: {SAY}")
    elif end := end_of(crt, cluster.now, SOON):
        yield warning(f"the certificate in {secret} ends at {end:{TIME}}", f"Renew it: {SAY}")
