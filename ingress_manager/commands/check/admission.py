"""`check`: the webhook that answers at `kubectl apply`, where it is installed. The pure part.

Source: what the API server makes of a webhook: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ingress_manager.commands.check.differences import differences
from ingress_manager.commands.check.engine import replicas
from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong
from ingress_manager.commands.check.network import selects
from ingress_manager.commands.check.seen import Seen, images
from ingress_manager.commands.reading.installations import leads_to
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.view.certificates import NOT_INSTALLED, can_be_read, end_of, wrong_with
from ingress_manager.commands.view.surroundings import LONG_AGO, time_of
from ingress_manager.core.kubernetes import Object

KIND = "ValidatingWebhookConfiguration"
NAME = "services.ingress-manager.internal"
"""The webhook's name in every installation, whatever its objects are called."""

BREAKING = (".failurePolicy", ".sideEffects")
"""Fields with which the API server may refuse what people write."""

ONES_OWN = ("namespaceSelector", "clientConfig")
"""Fields that are otherwise where ingress-manager is installed otherwise."""

SOON = timedelta(days=7)
SAY = "docs/admission.md says how."
WHERE = "default"
"""The namespace of the trial: every cluster has it."""

MISTAKEN: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {
        "generateName": "ingress-manager-check-",
        "namespace": WHERE,
        "annotations": {"ingress/http": "true", "ingress/unknown": "a mistake"},
    },
    "spec": {"ports": [{"name": "http", "port": 80}]},
}
"""A Service that any settings refuse. While they pause ingress-manager, that is what is told."""

TRIALS = 3
"""How often it is tried before nobody answers: the API server waits for a second, and one answer may come late."""

SENTENCES = ("ingress/unknown is not an annotation", "ingress-manager is paused")
"""How the answer to it may begin."""


def webhooks(seen: Seen) -> Iterator[dict[str, Any]]:
    """Yield the webhooks that ask us: one, unless it is installed twice; none where it isn't installed."""
    for configuration in seen.of_kind(KIND):
        yield from (each for each in mappings(configuration.object.get("webhooks")) if each.get("name") == NAME)


def service_of(webhook: Object) -> tuple[str, str]:
    """Return the namespace and the name of the Service that a webhook asks; empty for one that asks a URL."""
    namespace, name = (at(webhook, "clientConfig", "service", key) for key in ("namespace", "name"))
    return str(namespace or ""), str(name or "")


def deployments(seen: Seen, webhook: Object) -> list[Item]:
    """Return the Deployments whose Pods the webhook's Service selects."""
    namespace, name = service_of(webhook)
    service = seen.one("Service", name, namespace)
    return [each for each in seen.of_kind("Deployment", namespace) if leads_to(service, each)]


def secrets(seen: Seen) -> dict[tuple[str, str], str]:
    """Return the Secrets with the webhook's certificate, by namespace and name, and the Service that each is for."""
    return {
        (each.namespace, str(at(volume, "secret", "secretName"))): service_of(webhook)[1]
        for webhook in webhooks(seen)
        for each in deployments(seen, webhook)
        for volume in mappings(at(each, "spec", "template", "spec", "volumes"))
        if volume.get("name") == "tls" and at(volume, "secret", "secretName")
    }


def why_not_tried(seen: Seen) -> str:
    """Return why the webhook can't be tried; empty where it can."""
    if "Namespace" in seen.unread:
        return f"whether it is for the namespace {WHERE} isn't known: {seen.unread['Namespace']}"
    space = seen.one("Namespace", WHERE)
    labels = {"kubernetes.io/metadata.name": WHERE} | (space.labels if space else {})
    if not any(selects(each.get("namespaceSelector") or {}, labels) for each in webhooks(seen)):
        return f"it leaves out the namespace {WHERE}"
    return ""


def configured(seen: Seen) -> Iterator[Line]:
    """Yield whether the webhook is as this version has it, but for what is otherwise in each installation."""
    [ours] = [each for item in seen.expected_of(KIND, "admission") for each in item["webhooks"]]
    path = at(ours, "clientConfig", "service", "path")
    for webhook in webhooks(seen):
        expected, stands = ({key: each[key] for key in each if key not in ONES_OWN} for each in (ours, webhook))
        other = list(differences(expected, stands, path=""))
        if (stated := at(webhook, "clientConfig", "service", "path")) != path and all(service_of(webhook)):
            other.append((".clientConfig.service.path", f"is {stated}; this version has {path}"))
        for place, what in other:
            told = f"the webhook {NAME}: {place.removeprefix('.')} {what}"
            yield wrong(told) if place in BREAKING else warning(told)
        if not other:
            yield ok(f"the webhook {NAME} is as this version has it")
    policy = seen.policy
    if policy and policy.admission.deny and not list(webhooks(seen)):
        sentence = "admission.deny of the settings is true, and the webhook isn't installed: nothing is denied"
        yield warning(sentence, f"Install it: {SAY}")


def program(seen: Seen) -> Iterator[Line]:
    """Yield whether the Service that the webhook asks leads to a Deployment, which runs as the hook does."""
    for webhook in webhooks(seen):
        namespace, name = service_of(webhook)
        if not name:
            continue  # it asks a URL, and nobody knows what is behind it
        service, behind = seen.one("Service", name, namespace), deployments(seen, webhook)
        if service is None:
            yield wrong(f"there is no Service {namespace}/{name}, which the webhook names")
        elif not behind:
            yield wrong(f"the Service {namespace}/{name} selects the Pods of no Deployment")
        for deployment in behind:
            yield replicas(deployment)
            yield from unlike(seen, deployment)


def unlike(seen: Seen, deployment: Item) -> Iterator[Line]:
    """Yield a line where the Deployment could answer otherwise than the hook does."""
    if seen.hook is None:
        return
    its, hooks = (
        {"image": "".join(images(each)[:1]), "ConfigMap": configmap_of(each)} for each in (deployment, seen.hook)
    )
    for what, found in its.items():
        if found != hooks[what]:
            yield warning(f"{deployment} has the {what} {found}, and the hook {hooks[what]}: it may judge otherwise")


def certificates(seen: Seen) -> Iterator[Line]:
    """Yield whether the certificate is for the Service, and for how long it lasts, as far as it may be read."""
    now = time_of(seen.now) or LONG_AGO
    for (namespace, name), service in secrets(seen).items():
        label = f"{namespace}/{name}"
        crt = at(seen.one("Secret", name, namespace), "data", "tls.crt")
        if "Secret" in seen.unread or not can_be_read():
            why = seen.unread.get("Secret", NOT_INSTALLED)
            yield unknown(f"the certificate in the Secret {label} could not be looked at: {why}")
        elif not crt:
            yield wrong(f"there is no Secret {label} with a certificate (tls.crt)", f"Make it: {SAY}")
        elif why := wrong_with(crt, [f"{service}.{namespace}.svc"], now):
            yield wrong(f"the Secret {label}: {why}", f"Make another one: {SAY}")
        else:
            told = f"the certificate in the Secret {label} ends at {end_of(crt):%Y-%m-%dT%H:%M:%SZ}"
            yield warning(told, f"Renew it: {SAY}") if end_of(crt) - now < SOON else ok(told)


def tried(seen: Seen) -> Iterator[Line]:
    """Yield whether a Service with a mistake was answered, where the webhook is installed."""
    if not list(webhooks(seen)):
        return
    if seen.warned is None:
        yield unknown(f"whether it answers could not be looked at: {seen.unread.get('trial', '')}")
    elif is_answered(seen):
        yield ok("it answers: a Service with a mistake, in a dry run, was told so")
    else:
        sentence = f"nothing was told of a Service with a mistake, in a dry run in the namespace {WHERE}"
        remedy = (
            "If nothing above is wrong, the webhook has no caBundle of its certificate's authority, or the API server "
            "doesn't reach its Pods: its log says why."
        )
        yield wrong(sentence, remedy)


def is_answered(seen: Seen) -> bool:
    return any(sentence in told for told in seen.warned or () for sentence in SENTENCES)


def is_of_webhook(error: str) -> bool:
    """Return whether a Service was refused for the webhook: it denies it, or lets nobody through without its answer."""
    return any(each in error for each in (NAME, *SENTENCES))
