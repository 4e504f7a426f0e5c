"""What a Service has to ask for so that it gets what an Ingress says, and what becomes of that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import yaml

from ingress_manager.commands.adopt.changes import Change, changes, number_of
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.objects import as_service, certificates_of, class_of, routes_to
from ingress_manager.core.annotations import HTTP, KEYS, PREFIX, PROFILE, Route, is_on
from ingress_manager.core.copying import not_allowed
from ingress_manager.core.decide import Decision, Desired, decide, refusal_of
from ingress_manager.core.entrances import begin_of, by_entrance, ingress_of, read_entrances
from ingress_manager.core.errors import Refused
from ingress_manager.core.kubernetes import NOTHING, IngressSpec, Object, Service
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import Policy
from ingress_manager.core.rules import infer_port, tcp_ports
from ingress_manager.core.vocabulary import OLD_CLASS, is_read_from_services, protects

DEFAULT_TYPE = "Prefix"

SAID = {
    *("ingress/http", "ingress/host", "ingress/path", "ingress/path-type", "ingress/port", "ingress/routes"),
    *("ingress/class", "ingress/tls", "ingress/tls-secret"),
}
"""The annotations that an Ingress says. Any other stays on its Service."""

BOOKKEEPING = (
    *("kubectl.kubernetes.io/", "meta.helm.sh/", "helm.sh/", "app.kubernetes.io/", "argocd.argoproj.io/"),
    *("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "field.cattle.io/publicEndpoints"),
    *(f"ingress.kubernetes.io/{name}" for name in ("backends", "forwarding-rule", "https-forwarding-rule", "ssl-cert")),
    *(f"ingress.kubernetes.io/{name}" for name in ("target-proxy", "https-target-proxy", "url-map", "static-ip")),
    *(PREFIX, "ingress-manager/", "metacontroller.k8s.io/", OLD_CLASS),
)
"""How the keys of annotations and labels begin that change nothing for whoever sends a request: by these, tools know
their objects, and controllers note what they have made; the class is said by spec.ingressClassName. Sources: the
documentation of Helm, Argo CD, Flux, Rancher and ingress-gce."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an entrance of a Service has to ask for, and what becomes of that."""

    service: Item
    entrance: str
    annotations: dict[str, str | None]
    """The changes of the Service's annotations; None takes one off."""

    here: NamespacePolicy
    decision: Decision
    changes: tuple[Change, ...] = ()
    """What would be different in the Ingress."""

    @property
    def name(self) -> str:
        """Return the name of the Ingress."""
        return ingress_of(self.entrance, self.service.name)

    @property
    def full_name(self) -> str:
        """Return what a person calls the Ingress."""
        return f"{self.service.namespace}/{self.name}"

    @property
    def objects(self) -> tuple[Object, ...]:
        """Return what the Service is given."""
        return self.decision.objects if isinstance(self.decision, Desired) else ()

    @property
    def ingress(self) -> Object:
        """Return the Ingress that ingress-manager makes, empty if it makes none."""
        named = (each for each in self.objects if each["metadata"]["name"] == self.name)
        return next((each for each in named if each["kind"] == "Ingress"), {})

    @property
    def refused(self) -> Refused | None:
        """Return why the Service would be refused, None if it would not."""
        return refusal_of(self.decision)


def asked_for(item: Item, spec: IngressSpec, service: Item, policy: Policy, entrance: str = "") -> Asked:
    """Return how an entrance of a Service asks for what an Ingress says, as far as annotations can say it.

    `spec` is the Ingress's, or a part of it. When what the Service asks for already is the same, it stays.
    Raises Unreadable.
    """
    begin, stated = begin_of(entrance), service.annotations
    present = by_entrance(stated).get(entrance, {})
    here = in_namespace(policy, service.namespace, present.get(PROFILE))
    kept = {key: present[key] for key in KEYS if key in present and key not in SAID}
    # What is copied from the Service, each of its entrances is given. On the Service, the hook guards what protects.
    is_shared = bool(entrance or {*read_entrances(stated)} - {entrance})
    also = {} if is_shared else dict(allowed(item, here)) | protecting(item, here, tls=bool(certificates_of(spec)))
    of_class = msgspec.structs.replace(spec, ingress_class_name=class_of(item, spec) or None)
    asking = kept | annotations_for(as_service(service), of_class, ingress_of(entrance, service.name), here)
    off = dict.fromkeys(f"{begin}{key}" for key in present)
    new = {f"{begin}{key}": value for key, value in asking.items()}
    found = asked_with(item, spec, service, policy, off | new | also, entrance)
    as_it_is = asked_with(item, spec, service, policy, also, entrance) if is_on(present) else found
    fits = as_it_is.ingress and (found.refused or len(as_it_is.changes) <= len(found.changes))
    return as_it_is if fits else found


def asked_with(  # noqa: PLR0913, PLR0917 - each has a say in it
    item: Item, spec: IngressSpec, service: Item, policy: Policy, asking: Mapping[str, str | None], entrance: str
) -> Asked:
    """Return what becomes of a Service with these annotations, too, as far as it is one Ingress; None: without it."""
    change = {key: value for key, value in asking.items() if service.annotations.get(key) != value}
    after = {key: value for key, value in {**service.annotations, **change}.items() if value is not None}
    is_now = as_service(service)
    changed = msgspec.structs.replace(is_now, metadata=msgspec.structs.replace(is_now.metadata, annotations=after))
    profile = after.get(f"{begin_of(entrance)}{PROFILE}")
    here = in_namespace(policy, service.namespace, profile)
    found = Asked(service, entrance, change, here, decide(changed, NOTHING, policy))
    return replace(found, changes=tuple(changes(is_now, spec, item, found.ingress))) if found.ingress else found


def protecting(item: Item, here: NamespacePolicy, *, tls: bool) -> dict[str, str]:
    """Return those annotations of an Ingress that keep requests out, but for those that settings state or accept."""
    by_settings = {*(here.added_with_tls if tls else here.annotations), *here.accepted_losses}
    return {key: value for key, value in item.annotations.items() if protects(key) and key not in by_settings}


def allowed(item: Item, here: NamespacePolicy) -> Iterator[tuple[str, str]]:
    """Yield those annotations of an Ingress that the settings let a Service ask for."""
    for key, value in item.annotations.items():
        # A command can't show a person what isn't printable.
        copied = key not in here.added_with_tls and not not_allowed(key, value, here.copy_annotations)
        if copied and value.isprintable():
            yield key, value


def lost(item: Item, asked: Asked) -> dict[str, bool]:
    """Return what an Ingress has, and one made in its place would lack: the fields, each with whether it protects."""
    metadata, tls = asked.ingress["metadata"], bool(asked.ingress["spec"].get("tls"))
    made: dict[str, str] = metadata.get("annotations", {})
    guarded = protecting(item, asked.here, tls=tls)
    found = {}
    for key, value in item.annotations.items():
        stated = {**asked.service.annotations, **asked.annotations} if is_read_from_services(key) else made
        if stated.get(key) != value if key in guarded else not (key.startswith(BOOKKEEPING) or key in made):
            found[f"metadata.annotations.{key}"] = key in guarded
    labels = (key for key in item.labels if not key.startswith(BOOKKEEPING) and key not in metadata["labels"])
    return found | {f"metadata.labels.{key}": False for key in labels}


# The annotations: `core.annotations.parse` the other way round. What the settings and the ports imply isn't stated.


def annotations_for(service: Service, spec: IngressSpec, name: str, here: NamespacePolicy) -> dict[str, str]:
    """Return the ingress/… annotations of a Service that ask for what an Ingress of this name says of it.

    A path type that may not be asked for becomes the default one: a change that somebody can accept.
    """
    routes = [
        route if route.path_type in here.path_types else msgspec.structs.replace(route, path_type=None)
        for route in routes_to(service.metadata.name, spec)
    ]
    found = {HTTP.key: "true", **of_routes(service, routes, here)}
    if spec.ingress_class_name is not None and spec.ingress_class_name != here.default_class:
        found["ingress/class"] = spec.ingress_class_name
    tls = certificates_of(spec)
    if tls and tls[0].secret_name is not None and tls[0].secret_name != here.default_secret(name):
        found["ingress/tls-secret"] = tls[0].secret_name
    elif bool(tls) != here.tls_enabled:
        found["ingress/tls"] = "true" if tls else "false"
    return found


def of_routes(service: Service, routes: Sequence[Route], here: NamespacePolicy) -> dict[str, str]:
    """Return the annotations that ask for the routes, one at least: as few and as short as can say it."""
    by_host: dict[str, list[Route]] = {}
    for route in routes:
        by_host.setdefault(route.host or "", []).append(Route(None, route.path, route.path_type, route.port))
    first = next(iter(by_host.values()))
    alike = all(paths == first for paths in by_host.values())
    listed = first if alike else routes
    ports = {route.port for route in routes}
    found: dict[str, str] = {}
    if alike and [*by_host] != [here.default_host(service.metadata.name)]:
        found["ingress/host"] = ", ".join(by_host)
    if len(listed) > 1:
        members = [fields_of(route, port=len(ports) > 1) for route in listed]
        text = yaml.safe_dump(members, default_flow_style=True, sort_keys=False, width=float("inf"))
        found["ingress/routes"] = text.rstrip()
    else:
        if (path := listed[0].path or "/") != "/":
            found["ingress/path"] = path
        if (path_type := listed[0].path_type or DEFAULT_TYPE) != DEFAULT_TYPE:
            found["ingress/path-type"] = path_type
    [*shared] = ports
    if len(shared) == 1 and shared[0] and number_of(service, shared[0]) != infer_port(service, tcp_ports(service)):
        found["ingress/port"] = shared[0]
    return found


def fields_of(route: Route, *, port: bool) -> dict[str, Any]:
    """Return the fields of one route of ingress/routes; `port` says whether it states the port."""
    path_type = None if route.path_type == DEFAULT_TYPE else route.path_type
    fields = {"host": route.host, "path": route.path, "pathType": path_type, "port": route.port if port else None}
    return {field: value for field, value in fields.items() if value is not None}
