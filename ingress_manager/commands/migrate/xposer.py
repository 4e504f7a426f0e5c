"""Xposer: what it makes of a Service. Source: README and source of stakater/Xposer."""

from collections.abc import Mapping
from typing import Any

from ingress_manager.commands.migrate.exposed import (
    LABEL,
    Controller,
    Exposed,
    Row,
    as_template,
    filled_in,
    first_port,
    forwarded,
    is_true,
    lost_of,
    text_of,
)
from ingress_manager.commands.reading.manifests import Item

NAME = "Xposer"
PREFIX = "config.xposer.stakater.com/"
FORWARD = "xposer.stakater.com/annotations"
NO_SECRET = "NO_SECRET"  # noqa: S105 - a word of Xposer's, no password
EXPOSE_URL = "exposeIngressUrl"

ANNOTATIONS = (
    Row(FORWARD, "annotations of the Ingress", "the same annotations on the Service"),
    Row(f"{PREFIX}IngressNameTemplate", "the Ingress's name", "nothing: an Ingress has its Service's name"),
    Row(f"{PREFIX}IngressURLTemplate", "how the host is made", "ingress/host"),
    Row(f"{PREFIX}IngressURLPath", "the path", "ingress/path"),
    Row(f"{PREFIX}Domain", "the domain of the host", "ingress/host"),
    Row(f"{PREFIX}TLS", "TLS", "ingress/tls"),
    Row(f"{PREFIX}TLSSecretNameTemplate", "the Secret; without it, INGRESS-cert", "ingress/tls-secret"),
    Row(f"{PREFIX}DefaultBackend", "a default backend", "nothing: an Ingress never has a default backend", lost=True),
)
"""The annotations of a Service. Beside them, Xposer goes by the label expose=true."""

SETTINGS = (
    Row("domain", "the domain of the hosts", "defaults.host"),
    Row("ingressURLTemplate", "how a host is made", "defaults.host"),
    Row("ingressURLPath", "the path", "ingress/path on each Service"),
    Row("ingressNameTemplate", "how an Ingress is called", "nothing: an Ingress has its Service's name"),
    Row("tls", "TLS", "defaults.tls.enabled"),
    Row("tlsSecretNameTemplate", "how a Secret is called", "defaults.tls.secret"),
    Row("defaultBackend", "a default backend", "nothing: an Ingress never has a default backend", lost=True),
)
"""The settings, in the ConfigMap xposer."""

DEFAULTS = {
    "IngressURLTemplate": "{{.Service}}.{{.Namespace}}.{{.Domain}}",
    "IngressURLPath": "/",
    "IngressNameTemplate": "{{.Service}}",
    "TLSSecretNameTemplate": NO_SECRET,
}
"""What holds where neither the Service nor the settings say anything."""


def exposes(service: Item) -> bool:
    """Return whether Xposer makes an Ingress for a Service."""
    return service.labels.get(LABEL) == "true"


def reads(key: str) -> bool:
    """Return whether an annotation's key is one that only Xposer reads."""
    return key.startswith(PREFIX) or key == FORWARD


def exposed(service: Item, config: Mapping[str, Any]) -> Exposed:
    """Return what Xposer makes of a Service that it exposes; `config` is its settings file."""
    said = service.annotations

    def value(name: str) -> str:
        # An annotation and the setting have one name, but for the capital at its beginning.
        setting = f"{name.lower() if name.isupper() else name[:1].lower() + name[1:]}".replace("tLS", "tls")
        return said.get(f"{PREFIX}{name}") or text_of(config.get(setting)) or DEFAULTS.get(name, "")

    names = {"Service": service.name, "Namespace": service.namespace}
    domain = value("Domain")
    template, _, rest = value("IngressURLTemplate").partition("/")
    path = f"/{value('IngressURLPath').removeprefix('/')}"
    path = f"/{rest}" if path == "/" else path
    ingress = filled_in(value("IngressNameTemplate"), names) or service.name
    secret = filled_in(value("TLSSecretNameTemplate"), names)
    annotations = forwarded(said.get(FORWARD, ""))
    lost = lost_of(service, ANNOTATIONS)
    if annotations.pop(EXPOSE_URL, None):
        lost.append((FORWARD, f"{EXPOSE_URL} has no counterpart: no ConfigMap is written to"))
    return Exposed(
        controller=NAME,
        ingress=ingress,
        host=filled_in(template, {**names, "Domain": domain}) if domain or "Domain" not in template else None,
        path=filled_in(path, {**names, "Domain": domain}) or path,
        port=first_port(service),
        tls=is_true(value("TLS")),
        secret=f"{ingress}-cert" if secret in {None, NO_SECRET} else secret,
        annotations=annotations,
        read=[key for key in said if reads(key)],
        lost=lost,
    )


def our_defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `defaults` for the settings of ingress-manager that say what Xposer's do."""
    defaults: dict[str, Any] = {}
    domain = text_of(config.get("domain"))
    template = text_of(config.get("ingressURLTemplate")) or DEFAULTS["IngressURLTemplate"]
    host = as_template(template.partition("/")[0], domain) if domain else None
    if host:
        defaults["host"] = host
    if is_true(config.get("tls")):
        secret = text_of(config.get("tlsSecretNameTemplate")) or NO_SECRET
        named = "{service}-cert" if secret == NO_SECRET else as_template(secret, domain)
        defaults["tls"] = {"enabled": True, **({"secret": named} if named else {})}
    return defaults


def lost_settings(config: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each of Xposer's settings that becomes nothing and may be missed."""
    return [row.without() for row in SETTINGS if row.lost and is_true(config.get(row.key))]


CONTROLLER = Controller(
    name=NAME,
    configmap="xposer",
    config_key="config.yaml",
    annotations=ANNOTATIONS,
    settings=SETTINGS,
    exposes=exposes,
    reads=reads,
    exposed=exposed,
    our_defaults=our_defaults,
    lost_settings=lost_settings,
)
