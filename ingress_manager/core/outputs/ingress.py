"""The Ingress: an exposure written as a Kubernetes object. Nothing is decided here."""

from collections.abc import Iterator
from typing import Any

from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.outputs.metadata import make_metadata
from ingress_manager.core.rules import Rule
from ingress_manager.core.syntax import EVERY_HOST


def make_ingress(exposure: Exposure) -> list[Object]:
    """Return the one Ingress (networking.k8s.io/v1), with only the fields that we care about.

    Every field that the API server would default inside a list is given: Metacontroller replaces `rules` whole, so a
    default left out would look like drift and be rewritten for ever.
    """
    metadata = make_metadata(exposure, exposure.basis.name, exposure.annotations)
    spec: dict[str, Any] = {}
    if exposure.ingress_class is not None:
        spec["ingressClassName"] = exposure.ingress_class
    if exposure.basis.tls:
        spec["tls"] = list(make_tls(exposure))
    spec["rules"] = [make_rule(exposure.basis.service.metadata.name, rule) for rule in exposure.rules]
    return [{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}]


def make_rule(service: str, rule: Rule) -> Object:
    """Return one rule; that of every host states none."""
    paths = [
        {
            "path": path.path,
            "pathType": path.path_type,
            "backend": {"service": {"name": service, "port": {"number": path.port}}},
        }
        for path in rule.paths
    ]
    return {"http": {"paths": paths}} if rule.host == EVERY_HOST else {"host": rule.host, "http": {"paths": paths}}


def make_tls(exposure: Exposure) -> Iterator[Object]:
    """Yield the entry of the rules' hosts, and one without hosts if there is a rule of every host."""
    named = [rule.host for rule in exposure.rules if rule.host != EVERY_HOST]
    secret = {"secretName": exposure.basis.secret} if exposure.basis.secret else {}
    if named:
        yield {"hosts": named, **secret}
    if len(named) < len(exposure.rules):
        yield secret
