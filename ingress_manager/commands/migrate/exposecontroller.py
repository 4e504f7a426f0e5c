"""exposecontroller: what it makes of a Service. Source: README and source of jenkins-x/exposecontroller.

fabric8io/exposecontroller, from which that one comes, reads fewer of these keys.
"""

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
    port_numbers,
    text_of,
)
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.copying import OLD_CLASS

NAME = "exposecontroller"
URL_TEMPLATE = "{{.Service}}.{{.Namespace}}.{{.Domain}}"

ANNOTATIONS = (
    Row("fabric8.io/expose", "makes an Ingress, as the label expose=true does", "ingress/http"),
    Row("fabric8.io/inject", "the same", "ingress/http"),
    Row("fabric8.io/ingress.name", "the Ingress's name, and the host's first label", "ingress/host"),
    Row("fabric8.io/host.name", "the host's first label", "ingress/host"),
    Row("fabric8.io/use.internal.domain", "the host's domain is the internal one", "ingress/host"),
    Row("fabric8.io/ingress.path", "the path", "ingress/path"),
    Row("fabric8.io/path.mode", "path: the host is the domain, the path /NAMESPACE/NAME/…", "ingress/path"),
    Row("fabric8.io/exposePort", "the number of the port; without it, the first one", "ingress/port"),
    Row("fabric8.io/ingress.annotations", "annotations of the Ingress", "the same annotations on the Service"),
    Row("jenkins-x.io/skip.tls", "no TLS", "ingress/tls"),
    Row("fabric8.io/exposeUrl", "written by exposecontroller: the URL", "nothing: no Service is written to"),
    Row(
        "fabric8.io/exposeHostNameAs",
        "the annotation to write the host to",
        "nothing: no Service is written to",
        lost=True,
    ),
    Row(
        "api.service.kubernetes.io/path",
        "a path at the end of the URL that is written",
        "nothing: no Service is written to",
        lost=True,
    ),
    Row(
        "expose.config.fabric8.io/config-yaml",
        "what to write to a ConfigMap",
        "nothing: no ConfigMap is written to",
        lost=True,
    ),
)
"""The annotations of a Service."""

SETTINGS = (
    Row("domain", "the domain of the hosts", "defaults.host"),
    Row("internal-domain", "another one, for Services that ask for it", "ingress/host on those"),
    Row("urltemplate", "how a host is made", "defaults.host"),
    Row("ingress-class", "the class", "defaults.class"),
    Row("tls-acme", "TLS, with an annotation for the issuer and a Secret tls-NAME", "defaults.tls"),
    Row("tls-secret-name", "the Secret of all Ingresses", "defaults.tls.secret"),
    Row("tls-use-wildcard", "one certificate for *.domain", "nothing: TLS is for the Ingress's own hosts", lost=True),
    Row("path-mode", "path: as the annotation fabric8.io/path.mode", "ingress/host and ingress/path on each Service"),
    Row("exposer", "Ingress; or Route, NodePort, LoadBalancer, Ambassador", "nothing: an Ingress is all there is"),
    Row("http", "whether the URL that is written begins with http", "nothing: no Service is written to"),
)
"""The settings, in the ConfigMap exposecontroller."""


def exposes(service: Item) -> bool:
    """Return whether exposecontroller makes an Ingress for a Service."""
    asked = (service.annotations.get(key) for key in ("fabric8.io/expose", "fabric8.io/inject"))
    return "true" in asked or service.labels.get(LABEL) == "true"


def reads(key: str) -> bool:
    """Return whether an annotation's key is one that only exposecontroller reads or writes."""
    return key.startswith("fabric8.io/") or any(key == row.key for row in ANNOTATIONS)


def exposed(service: Item, config: Mapping[str, Any]) -> Exposed:
    """Return what exposecontroller makes of a Service that it exposes; `config` is its settings file."""
    said = service.annotations
    release = service.labels.get("release")
    shortened = service.name.replace(f"{release}-", "", 1) if release else service.name
    name = said.get("fabric8.io/ingress.name") or shortened
    domain = text_of(config.get("internal-domain" if is_true(said.get("fabric8.io/use.internal.domain")) else "domain"))
    path = said.get("fabric8.io/ingress.path", "").removeprefix("/")
    if (said.get("fabric8.io/path.mode") or config.get("path-mode")) == "path":
        host, path = domain or None, f"/{service.namespace}/{name}/{path}"
    else:
        host, path = _host(said.get("fabric8.io/host.name") or name, service, domain, config), f"/{path}"
    secret = text_of(config.get("tls-secret-name"))
    acme = is_true(config.get("tls-acme"))
    return Exposed(
        controller=NAME,
        ingress=name,
        host=host,
        path=path,
        port=_port(service),
        tls=(acme or bool(secret)) and not is_true(said.get("jenkins-x.io/skip.tls")),
        secret=secret or (f"tls-{name}" if acme else None),
        annotations=_annotations(config) | forwarded(said.get("fabric8.io/ingress.annotations", "")),
        read=[key for key in said if reads(key)],
        lost=lost_of(service, ANNOTATIONS),
    )


def our_defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `defaults` for the settings of ingress-manager that say what exposecontroller's do."""
    defaults: dict[str, Any] = {}
    domain = text_of(config.get("domain"))
    template = "{{.Domain}}" if config.get("path-mode") == "path" else text_of(config.get("urltemplate"))
    host = as_template(template or URL_TEMPLATE, domain) if domain else None
    if host:
        defaults["host"] = host
    if config.get("ingress-class"):
        defaults["class"] = text_of(config["ingress-class"])
    acme, secret = is_true(config.get("tls-acme")), text_of(config.get("tls-secret-name"))
    if acme or secret:
        defaults["tls"] = {"enabled": True, "secret": secret or "tls-{service}"}
    if acme:
        defaults["tls"]["annotations"] = {"kubernetes.io/tls-acme": "true"}
    return defaults


def lost_settings(config: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each of exposecontroller's settings that becomes nothing and may be missed."""
    lost = [row.without() for row in SETTINGS if row.lost and is_true(config.get(row.key))]
    if (exposer := text_of(config.get("exposer"))).lower() not in {"", "ingress"}:
        lost.append(f"exposer: {exposer} has no counterpart: an Ingress is all there is")
    return lost


def _annotations(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the annotations that every Ingress gets."""
    found = {OLD_CLASS: text_of(config.get("ingress-class"))} if config.get("ingress-class") else {}
    return found | ({"kubernetes.io/tls-acme": "true"} if is_true(config.get("tls-acme")) else {})


def _host(name: str, service: Item, domain: str, config: Mapping[str, Any]) -> str | None:
    """Return the host; without a domain, that of the URL that exposecontroller has written."""
    if domain:
        values = {"Service": name, "Namespace": service.namespace, "Domain": domain}
        return filled_in(text_of(config.get("urltemplate")) or URL_TEMPLATE, values)
    written = service.annotations.get("fabric8.io/exposeUrl", "").partition("://")[2]
    return written.partition("/")[0] or None


def _port(service: Item) -> int | None:
    asked = service.annotations.get("fabric8.io/exposePort", "")
    numbers = port_numbers(service)
    return int(asked) if asked.isdecimal() and int(asked) in numbers else first_port(service)


CONTROLLER = Controller(
    name=NAME,
    configmap="exposecontroller",
    config_key="config.yml",
    annotations=ANNOTATIONS,
    settings=SETTINGS,
    exposes=exposes,
    reads=reads,
    exposed=exposed,
    our_defaults=our_defaults,
    lost_settings=lost_settings,
)
