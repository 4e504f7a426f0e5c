"""`check`: the webhook that answers at `kubectl apply`, where it is installed. The pure part.

Source: what the API server makes of a webhook: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ingress_manager.commands.check.differences import differences
from ingress_manager.commands.check.engine import AGAIN, replicas
from ingress_manager.commands.check.hook import leads_elsewhere, policy_of, selects
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.check.seen import Seen, images
from ingress_manager.commands.reading.installations import leads_to
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.view.certificates import NOT_INSTALLED, can_be_read, end_of, is_trusted_by, wrong_with
from ingress_manager.commands.view.surroundings import LONG_AGO, time_of
from ingress_manager.core.kubernetes import Object

PART = "admission webhook"
KIND = "ValidatingWebhookConfiguration"
NAME = "services.ingress-manager.internal"
"""The webhook's name in every installation, whatever its objects are called."""

BREAKING = ("failurePolicy", "sideEffects")
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


def secrets(seen: Seen) -> list[tuple[str, str]]:
    """Return the namespace and the name of each Secret from which the webhook has its certificate."""
    found = [
        (each.namespace, str(at(volume, "secret", "secretName")))
        for webhook in webhooks(seen)
        for each in deployments(seen, webhook)
        for volume in mappings(at(each, "spec", "template", "spec", "volumes"))
        if volume.get("name") == "tls" and at(volume, "secret", "secretName")
    ]
    return list(dict.fromkeys(found))


def why_not_tried(seen: Seen) -> str:
    """Return why the webhook can't be tried; empty where it can."""
    if "Namespace" in seen.unread:
        return f"whether it is for the namespace {WHERE} isn't known: {seen.unread['Namespace']}"
    space = seen.one("Namespace", WHERE)
    labels = {"kubernetes.io/metadata.name": WHERE} | (space.labels if space else {})
    if not any(selects(each.get("namespaceSelector") or {}, labels) for each in webhooks(seen)):
        return f"it leaves out the namespace {WHERE}"
    return ""


def admission(seen: Seen) -> Iterator[Line]:
    """Yield whether the webhook is as this version has it, and answers; nothing where nobody has asked for it."""
    yield from seen.unknown(PART, KIND, "webhooks")
    found = list(webhooks(seen))
    for webhook in found:
        yield from configured(seen, webhook)
        yield from program(seen, webhook)
        yield from certificate(seen, webhook)
    if found:
        yield tried(seen)
    elif KIND not in seen.unread and (policy := policy_of(seen)) and policy.admission.deny:
        sentence = "admission.deny of the settings is true, and the webhook isn't installed: nothing is denied"
        yield Line(PART, State.WARNING, sentence, f"Install it: {SAY}")


def configured(seen: Seen, webhook: Object) -> Iterator[Line]:
    """Yield whether the webhook is as this version has it, but for what is otherwise in each installation."""
    [ours] = [each for item in seen.expected_of(KIND, "admission") for each in item["webhooks"]]
    expected, stands = ({key: each[key] for key in each if key not in ONES_OWN} for each in (ours, webhook))
    other = list(differences(expected, stands, path=""))
    path = at(ours, "clientConfig", "service", "path")
    if (stated := at(webhook, "clientConfig", "service", "path")) != path and all(service_of(webhook)):
        other.append((".clientConfig.service.path", f"is {stated}; this version has {path}"))
    for place, what in other:
        field = place.removeprefix(".")
        state = State.WRONG if field in BREAKING else State.WARNING
        yield Line(PART, state, f"the webhook {NAME}: {field} {what}", AGAIN)
    if not other:
        yield Line(PART, State.OK, f"the webhook {NAME} is as this version has it")


def program(seen: Seen, webhook: Object) -> Iterator[Line]:
    """Yield whether the Service that the webhook asks leads to a Deployment, which runs as the hook does."""
    namespace, name = service_of(webhook)
    if not name:
        return  # it asks a URL, and nobody knows what is behind it
    label = f"{namespace}/{name}"
    if unread := [kind for kind in ("Service", "Deployment") if kind in seen.unread]:
        yield from seen.unknown(PART, unread[0], f"what is behind the Service {label}")
        return
    service = seen.one("Service", name, namespace)
    if service is None:
        yield Line(PART, State.WRONG, f"there is no Service {label}, which the webhook names", AGAIN)
        return
    behind = deployments(seen, webhook)
    if not behind:
        yield Line(PART, State.WRONG, f"the Service {label} selects the Pods of no Deployment", AGAIN)
    for deployment in behind:
        yield from replicas(PART, deployment)
        port = at(webhook, "clientConfig", "service", "port") or 443
        if why := leads_elsewhere(service, deployment, port, "the webhook"):
            yield Line(PART, State.WRONG, f"the Service {label} {why}", AGAIN)
        else:
            yield Line(PART, State.OK, f"the Service {label} selects its Pods")
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
            sentence = f"{deployment} has the {what} {found}, and the hook {hooks[what]}: it may judge otherwise"
            yield Line(PART, State.WARNING, sentence, AGAIN)


def certificate(seen: Seen, webhook: Object) -> Iterator[Line]:
    """Yield whether the API server can trust the certificate, and for how long, as far as it may be read."""
    bundle = str(at(webhook, "clientConfig", "caBundle") or "")
    if not bundle and not is_answered(seen):
        sentence = f"the webhook {NAME} has no caBundle: an API server trusts the authorities of its own machine alone"
        yield Line(PART, State.WRONG, sentence, f"Give it that of the certificate's authority: {SAY}")
    namespace, name = service_of(webhook)
    for where in secrets(seen):
        label = "/".join(where)
        crt = at(seen.one("Secret", where[1], where[0]), "data", "tls.crt")
        if "Secret" in seen.unread or not can_be_read():
            why = seen.unread.get("Secret", NOT_INSTALLED)
            yield Line(PART, State.UNKNOWN, f"the certificate in the Secret {label} could not be looked at: {why}")
        elif not crt:
            yield Line(PART, State.WRONG, f"there is no Secret {label} with a certificate (tls.crt)", f"Make it: {SAY}")
        else:
            yield judged(seen, label, crt, bundle, f"{name}.{namespace}.svc")


def judged(seen: Seen, label: str, crt: str, bundle: str, host: str) -> Line:
    """Return the line for a certificate. Both texts are in base64; an API server asks for `host`."""
    now = time_of(seen.now) or LONG_AGO
    if wrong := wrong_with(crt, [host], now):
        return Line(PART, State.WRONG, f"the Secret {label}: {wrong}", f"Make another one: {SAY}")
    if bundle and not is_trusted_by(crt, bundle):
        sentence = f"the webhook's caBundle isn't of the authority of the certificate in the Secret {label}"
        return Line(PART, State.WRONG, sentence, f"Give it that of the certificate's authority: {SAY}")
    end = end_of(crt)
    told = f"the certificate in the Secret {label} ends at {end:%Y-%m-%dT%H:%M:%SZ}"
    if end - now < SOON:
        return Line(PART, State.WARNING, told, f"Renew it: {SAY}")
    return Line(PART, State.OK, f"{told}{', and the caBundle fits it' if bundle else ''}")


def tried(seen: Seen) -> Line:
    """Return the line for the trial: whether a Service with a mistake was answered."""
    if seen.warned is None:
        return Line(PART, State.UNKNOWN, f"whether it answers could not be looked at: {seen.unread.get('trial', '')}")
    if is_answered(seen):
        return Line(PART, State.OK, "it answers: a Service with a mistake, in a dry run, was told so")
    sentence = f"nothing was told of a Service with a mistake, in a dry run in the namespace {WHERE}"
    remedy = "If nothing above is wrong, the API server doesn't reach the webhook's Pods: its log says why."
    return Line(PART, State.WRONG, sentence, remedy)


def is_answered(seen: Seen) -> bool:
    return any(sentence in told for told in seen.warned or () for sentence in SENTENCES)


def is_of_webhook(error: str) -> bool:
    """Return whether a Service was refused for the webhook: it denies it, or lets nobody through without its answer."""
    return any(each in error for each in (NAME, *SENTENCES))
