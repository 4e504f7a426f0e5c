"""`check`: the hook, its settings, who reaches it, and the admission webhook, where it is installed.

Source: what the API server makes of a webhook: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import timedelta

from ingress_manager import __version__
from ingress_manager.commands.check.cluster import ALL, DEPLOYMENTS, Cluster, Line, containers, unknown, warning, wrong
from ingress_manager.commands.check.provided import replicas
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, RESOURCES, KubectlFailed
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.snapshot.certificates import NOT_INSTALLED, TIME, can_be_read, first_in, wrong_with
from ingress_manager.commands.snapshot.events import OF_SERVICES, report_of
from ingress_manager.commands.snapshot.items import INGRESS, Item, Message, at, mappings
from ingress_manager.commands.snapshot.surroundings import LONG_AGO, time_of
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL

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
    """Yield what is wrong with the hook's Deployment: its replicas, or its version, if that isn't this program's."""
    deployment = cluster.hook
    if deployment is None:
        yield wrong(f"there is no Deployment {cluster.installation}")
        return
    labelled = at(deployment, "spec", "template", "metadata", "labels", "app.kubernetes.io/version")
    stated = cluster.told("ingress_manager_build", "version") or labelled
    if stated and stated != __version__:
        sentence = f"the image is {image_of(deployment)}, of version {stated}, and this program is {__version__}"
        yield warning(sentence, "Use the commands of the hook's version: others may decide otherwise.")
    elif not stated:
        yield unknown(f"the image is {image_of(deployment)}, which doesn't say its version")
    yield from replicas(deployment)


def image_of(item: Item) -> str:
    return next((str(each.get("image", "")) for each in containers(item)), "")


def settings(cluster: Cluster) -> Iterator[Line]:
    """Yield why the settings aren't there, can't be used, or don't hold, and what they pause."""
    deployment, text = cluster.hook, cluster.settings
    if deployment is None:
        raise KubectlFailed(f"there is no Deployment {cluster.installation}")
    if text is None:
        yield wrong(f"the settings aren't there: {deployment} mounts no ConfigMap with a settings.yaml")
        return
    policy, told = text.policy(), cluster.told("ingress_manager_settings", "sha256")
    if isinstance(policy, Message):
        yield wrong(f"the settings can't be used: {policy}", "Correct them: a Pod that starts now won't run.")
    elif policy.pauses:
        yield warning(f"the settings pause {policy.pauses}", "Set paused: false when it may go on.")
    if told and told != hashlib.sha256(text.text.encode()).hexdigest():
        sentence = f"the hook runs with other settings than those in the {text.file}: their SHA-256 is another one"
        again = f"kubectl rollout restart deployment --namespace={deployment.namespace} {deployment.name}"
        yield warning(sentence, f"The hook reads them when it starts: {again}")


def reached(cluster: Cluster) -> Iterator[Line]:
    """Yield why Metacontroller doesn't reach the hook, as far as its newest Event of having asked it tells.

    What has worked since clears it: an Ingress was made, or the hook's Deployment became available or was rolled out.
    """
    events = cluster.all("events", ALL, OF_SERVICES)
    asked = (event for event in events if "sync hook failed" in str(event.object.get("message")))
    newest = max(map(report_of, asked), default=None)
    if newest is None and not any(at(engine, "status", "readyReplicas") for engine in cluster.engines):
        raise KubectlFailed("nothing was found that runs Metacontroller, and no Event tells of it")
    if newest and not _ANSWERED.search(newest.sentence):
        good = (each for each in mappings(at(cluster.hook, "status", "conditions")) if each.get("status") == "True")
        worked = max((time_of(each.get("lastUpdateTime")) for each in good), default=LONG_AGO)
        failed = time_of(newest.time)
        if failed < max(worked, cluster.now - LONGEST_PAUSE):
            return
        ours = f"--selector={MANAGED_BY_LABEL}={MANAGED_BY}"
        times = "--output=jsonpath={.items[*].metadata.creationTimestamp}"
        made = cluster.kubectl.run("get", ALL, ours, times, "--", RESOURCES[INGRESS]).split()
        if failed >= time_of(max(made, default="")):
            told = f"at {newest.time}, {newest.sentence}"
            yield wrong(f"the hook didn't answer Metacontroller as it should: {told}")


def webhook(cluster: Cluster) -> Iterator[Line]:
    """Yield that no webhook is there, if the settings deny, or what is wrong with one and its certificate."""
    webhooks = (each for item in cluster.all(WEBHOOKS) for each in mappings(item.object.get("webhooks")))
    services = mappings([at(each, "clientConfig", "service") for each in webhooks if each.get("name") == WEBHOOK])
    hook = cluster.hook
    if not services and cluster.policy.admission.deny:
        sentence = "admission.deny of the settings is true, and the webhook isn't installed: nothing is denied"
        yield warning(sentence, f"Install it: {SAY}")
    for service in services:
        namespace, name = str(service.get("namespace")), str(service.get("name"))
        deployment = cluster.one(DEPLOYMENTS, name, namespace)
        if deployment is None:
            yield wrong(f"there is no Deployment {namespace}/{name}, of the name of the Service that the webhook asks")
            continue
        yield from replicas(deployment)
        for what, of in (("image", image_of), ("ConfigMap", configmap_of)):
            if hook and of(deployment) != of(hook):
                told = f"{deployment} has the {what} {of(deployment)}, and the hook {of(hook)}"
                yield warning(f"{told}: it may judge otherwise")
        volumes = mappings(at(deployment, "spec", "template", "spec", "volumes"))
        for secret in (at(each, "secret", "secretName") for each in volumes if each.get("name") == "tls"):
            yield from certificate(cluster, namespace, str(secret), f"{name}.{namespace}.svc")


def certificate(cluster: Cluster, namespace: str, name: str, host: str) -> Iterator[Line]:
    """Yield what is wrong with the certificate in a Secret, of which nothing else is printed: no private key."""
    secret, only = f"the Secret {namespace}/{name}", "--output=jsonpath={.data.tls\\.crt}"
    crt = cluster.kubectl.run("get", f"--namespace={namespace}", IGNORE_NOT_FOUND, only, "--", f"secret/{name}")
    if not can_be_read():
        yield unknown(f"the certificate in {secret} could not be looked at: {NOT_INSTALLED}")
    elif not crt:
        yield wrong(f"there is no certificate (tls.crt) in {secret}, or no such Secret", f"Make it: {SAY}")
    elif why := wrong_with(crt, [host], cluster.now):
        yield wrong(f"{secret}: {why}", f"Make another one: {SAY}")
    elif (end := first_in(crt).not_valid_after_utc) - cluster.now < SOON:
        yield warning(f"the certificate in {secret} ends at {end:{TIME}}", f"Renew it: {SAY}")
