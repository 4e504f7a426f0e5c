"""`check`: the webhook that answers at `kubectl apply`, where it is installed. The pure part.

Source: what the API server makes of a webhook: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ingress_manager.commands.check.engine import replicas
from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong
from ingress_manager.commands.check.seen import Seen, images
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.view.certificates import NOT_INSTALLED, can_be_read, end_of, wrong_with
from ingress_manager.commands.view.surroundings import LONG_AGO, time_of
from ingress_manager.core.kubernetes import Object

KIND = "ValidatingWebhookConfiguration"
NAME = "services.ingress-manager.internal"
"""The webhook's name in every installation, whatever its objects are called."""

SOON = timedelta(days=7)
SAY = "docs/admission.md says how."


def webhooks(seen: Seen) -> Iterator[dict[str, Any]]:
    """Yield the webhooks that ask us: one, unless it is installed twice; none where it isn't installed."""
    for configuration in seen.of_kind(KIND):
        yield from (each for each in mappings(configuration.object.get("webhooks")) if each.get("name") == NAME)


def service_of(webhook: Object) -> tuple[str, str]:
    """Return the namespace and the name of the Service that a webhook asks; empty for one that asks a URL."""
    namespace, name = (at(webhook, "clientConfig", "service", key) for key in ("namespace", "name"))
    return str(namespace or ""), str(name or "")


def deployments(seen: Seen) -> list[Item]:
    """Return the Deployments that are asked: each has the name of its Service."""
    asked = (service_of(webhook) for webhook in webhooks(seen))
    return [found for namespace, name in asked if (found := seen.one("Deployment", name, namespace))]


def secrets(seen: Seen) -> dict[tuple[str, str], str]:
    """Return the Secrets with the webhook's certificate, by namespace and name, and the Service that each is for."""
    return {
        (each.namespace, str(at(volume, "secret", "secretName"))): each.name
        for each in deployments(seen)
        for volume in mappings(at(each, "spec", "template", "spec", "volumes"))
        if volume.get("name") == "tls" and at(volume, "secret", "secretName")
    }


def denies(seen: Seen) -> Iterator[Line]:
    """Yield a warning where the settings deny mistakes, and nothing is there that would."""
    policy = seen.policy
    if policy and policy.admission.deny and not list(webhooks(seen)):
        sentence = "admission.deny of the settings is true, and the webhook isn't installed: nothing is denied"
        yield warning(sentence, f"Install it: {SAY}")


def program(seen: Seen) -> Iterator[Line]:
    """Yield whether the webhook's Deployment runs, with the hook's image and settings."""
    for namespace, name in map(service_of, webhooks(seen)):
        if name and not seen.one("Deployment", name, namespace):
            yield wrong(f"there is no Deployment {namespace}/{name}, of the name of the Service that the webhook asks")
    for deployment in deployments(seen):
        yield replicas(deployment)
        its, hooks = _runs_with(deployment), _runs_with(seen.hook) if seen.hook else {}
        for what in hooks:
            if its[what] != hooks[what]:
                told = f"{deployment} has the {what} {its[what]}, and the hook {hooks[what]}"
                yield warning(f"{told}: it may judge otherwise")


def _runs_with(deployment: Item) -> dict[str, str | None]:
    return {"image": "".join(images(deployment)[:1]), "ConfigMap": configmap_of(deployment)}


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
