"""Checks the hook, its settings, its reachability from Metacontroller, and the admission webhook.

Source for the host in the webhook's certificate: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
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
from ingress_manager.commands.snapshot.certificates import NOT_INSTALLED, TIME, can_be_read, cert_problem, near_expiry
from ingress_manager.commands.snapshot.events import OF_SERVICES, report_of
from ingress_manager.commands.snapshot.items import INGRESS, Message, at, mappings
from ingress_manager.commands.snapshot.surroundings import time_of
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL

LONGEST_PAUSE = timedelta(seconds=1000)
"""The longest time between Metacontroller's retries. An older Event doesn't prove that the problem still exists."""

WEBHOOKS = "validatingwebhookconfigurations.admissionregistration.k8s.io"
WEBHOOK = "services.ingress-manager.internal"
"""The webhook's name in every installation. The name of its ValidatingWebhookConfiguration may differ."""

CERTIFICATE_SOON = timedelta(days=7)
SEE_ADMISSION = "docs/admission.md shows how."

_ANSWERED = re.compile(r"unsupported status code: 4\d\d")
"""Matches Metacontroller's report of an answer with status 4xx, which proves that the hook can be reached."""


def runs(cluster: Cluster) -> Iterator[Result]:
    deployment = cluster.hook
    if deployment is None:
        yield wrong(f"Deployment {cluster.installation} doesn't exist")
        return
    labelled = at(deployment, "spec", "template", "metadata", "labels", "app.kubernetes.io/version")
    version = cluster.metric_label("ingress_manager_build", "version") or labelled
    if version and version != __version__:
        sentence = f"it runs version {version} (image {image_of(deployment)}), but this program is {__version__}"
        yield warning(sentence, f"Use version {version} of this program, which decides as the hook does.")
    elif not version:
        yield unknown(f"its image {image_of(deployment)} has an unknown version")
    yield from replicas(deployment)


def settings(cluster: Cluster) -> Iterator[Result]:
    deployment, text = cluster.hook, cluster.settings_text
    if deployment is None:
        raise KubectlFailed(f"Deployment {cluster.installation} doesn't exist")
    if text is None:
        yield wrong(f"the settings don't exist: {deployment} mounts no ConfigMap with a settings.yaml")
        return
    settings, sha256 = text.parse(), cluster.metric_label("ingress_manager_settings", "sha256")
    if isinstance(settings, Message):
        yield wrong(f"the settings aren't valid: {settings}", "Correct the settings so that new hook Pods can start.")
    elif settings.pauses:
        yield warning(f"the settings pause {settings.pauses}", "To resume, set paused: false in the settings.")
    if sha256 and sha256 != hashlib.sha256(text.text.encode()).hexdigest():
        sentence = f"the hook's settings differ from those in {text.file}, as their SHA-256 hashes show"
        again = f"kubectl rollout restart deployment --namespace={deployment.namespace} {deployment.name}"
        yield warning(sentence, f"The hook reads settings only when it starts. Restart it: {again}")


def check_reachable(cluster: Cluster) -> Iterator[Result]:
    """Yield an error if the last failed call to the hook got no valid answer, and no call has succeeded since."""
    events = cluster.all("events", ALL, OF_SERVICES)
    failures = (event for event in events if "sync hook failed" in str(event.object.get("message")))
    newest = max(map(report_of, failures), default=None)
    if newest is None and not any(at(engine, "status", "readyReplicas") for engine in cluster.engines):
        raise KubectlFailed("Metacontroller isn't running, so nothing calls the hook")
    if newest and not _ANSWERED.search(newest.sentence):
        # A later success outdates the Event: the Deployment was updated or is available, or an Ingress was created.
        conditions = mappings(at(cluster.hook, "status", "conditions"))
        times = (time_of(one.get("lastUpdateTime")) for one in conditions if one.get("status") == "True")
        failed = time_of(newest.time)
        if failed < max([*times, cluster.now - LONGEST_PAUSE]):
            return
        ours = f"--selector={MANAGED_BY_LABEL}={MANAGED_BY}"
        output = "--output=jsonpath={.items[*].metadata.creationTimestamp}"
        created = cluster.kubectl.run("get", ALL, ours, output, "--", MANAGED_RESOURCES[INGRESS]).split()
        if failed >= time_of(max(created, default="")):
            yield wrong(f"at {newest.time}, Metacontroller got no valid answer from the hook: {newest.sentence}")


def webhook(cluster: Cluster) -> Iterator[Result]:
    """Yield problems with the webhook and its certificate. The webhook is required only if admission.deny is true."""
    webhooks = (one for item in cluster.all(WEBHOOKS) for one in mappings(item.object.get("webhooks")))
    services = mappings([at(one, "clientConfig", "service") for one in webhooks if one.get("name") == WEBHOOK])
    hook = cluster.hook
    if not services and cluster.settings.admission.deny:
        sentence = "the settings have admission.deny: true, but the webhook isn't installed, so nothing is denied"
        yield warning(sentence, f"Install it: {SEE_ADMISSION}")
    for service in services:
        namespace, name = str(service.get("namespace")), str(service.get("name"))
        deployment = cluster.one(DEPLOYMENTS, name, namespace)
        if deployment is None:
            yield wrong(f"the webhook's Service, {namespace}/{name}, has no Deployment of the same name")
            continue
        yield from replicas(deployment)
        for field, of in (("image", image_of), ("ConfigMap", configmap_of)):
            if hook and of(deployment) != of(hook):
                one, other = (f"{field} {name}" if name else f"no {field}" for name in (of(deployment), of(hook)))
                yield warning(f"{deployment} uses {one}, but the hook uses {other}, so webhook and hook may disagree")
        volumes = mappings(at(deployment, "spec", "template", "spec", "volumes"))
        for secret in (at(volume, "secret", "secretName") for volume in volumes if volume.get("name") == "tls"):
            yield from certificate(cluster, namespace, str(secret), f"{name}.{namespace}.svc")


def certificate(cluster: Cluster, namespace: str, name: str, host: str) -> Iterator[Result]:
    """Yield problems with a Secret's certificate for `host`. kubectl prints only tls.crt, never the key."""
    secret, only = f"Secret {namespace}/{name}", "--output=jsonpath={.data.tls\\.crt}"
    crt = cluster.kubectl.run("get", f"--namespace={namespace}", IGNORE_NOT_FOUND, only, "--", f"secret/{name}")
    if not can_be_read():
        yield unknown(f"the certificate in {secret} could not be read: {NOT_INSTALLED}")
    elif not crt:
        yield wrong(f"{secret} doesn't exist or has no certificate (tls.crt)", f"Add a certificate: {SEE_ADMISSION}")
    elif problem := cert_problem(crt, [host], cluster.now):
        yield wrong(f"{secret}: {problem}", f"Create a new certificate: {SEE_ADMISSION}")
    elif end := near_expiry(crt, cluster.now, CERTIFICATE_SOON):
        yield warning(f"the certificate in {secret} expires at {end:{TIME}}", f"Renew it: {SEE_ADMISSION}")
