"""What a Service has to ask for so that it gets what an Ingress says, and what becomes of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import yaml

from ingress_manager.commands.adopt.changes import Change, changes_of
from ingress_manager.commands.snapshot.items import INGRESS, Item
from ingress_manager.commands.snapshot.objects import IngressSpec, as_type, certificates_of, class_of
from ingress_manager.core.annotations import (
    HTTP,
    PATH_TYPES,
    PREFIX,
    PROFILE,
    TABLE,
    begin_of,
    by_entrance,
    ingress_of,
    read_entrances,
)
from ingress_manager.core.copying import not_allowed
from ingress_manager.core.decide import Decision, Desired, decide
from ingress_manager.core.effective import EffectiveSettings, effective_settings
from ingress_manager.core.kubernetes import NOTHING, Object, Service
from ingress_manager.core.settings import Settings
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.vocabulary import NGINX, OLD_CLASS, is_read_from_services, protects

CANARY = f"{NGINX}canary"
"""It makes another Ingress of the same hosts get some of the requests, not all."""

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


@dataclass(frozen=True)
class Asked:
    """What an entrance of a Service is to ask for in the place of an Ingress, and what becomes of that."""

    item: Item
    """The Ingress."""

    spec: IngressSpec
    """Its own, or the part of it that leads to the Service."""

    service: Item
    entrance: str
    settings: Settings
    asking: Mapping[str, str | None] = field(default_factory=dict)
    """Annotations that the Service is to have; None takes one off."""

    @cached_property
    def annotations(self) -> dict[str, str | None]:
        """Return those that it hasn't yet, or has otherwise."""
        return {key: value for key, value in self.asking.items() if self.service.annotations.get(key) != value}

    @cached_property
    def changed(self) -> Item:
        """Return the Service as it is then, without its version, which nobody knows yet."""
        after = {**self.service.annotations, **self.asking}
        annotations = {key: value for key, value in after.items() if value is not None}
        metadata = self.service.metadata | {"annotations": annotations, "resourceVersion": ""}
        return replace(self.service, object=self.service.object | {"metadata": metadata})

    @cached_property
    def typed(self) -> Service:
        """Return the same. Raises Unreadable."""
        return as_type(self.changed, Service)

    @cached_property
    def here(self) -> EffectiveSettings:
        """Return what holds for it."""
        profile = self.changed.annotations.get(f"{begin_of(self.entrance)}{PROFILE}")
        return effective_settings(self.settings, self.service.namespace, profile)

    @cached_property
    def decision(self) -> Decision:
        """Return what becomes of it."""
        return decide(self.typed, NOTHING, self.settings)

    @property
    def full_name(self) -> str:
        """Return what a person calls the Ingress of the entrance."""
        return f"{self.service.namespace}/{ingress_of(self.entrance, self.service.name)}"

    @property
    def stays(self) -> bool:
        """Return whether that is the same one."""
        return self.full_name == self.item.full_name

    @property
    def ingresses(self) -> list[Object]:
        """Return the Ingresses that ingress-manager makes of it, those of its other entrances, too."""
        made = self.decision.objects if isinstance(self.decision, Desired) else {}
        return [each for (kind, _), each in made.items() if kind == INGRESS]

    @cached_property
    def ingress(self) -> Object:
        """Return that of the entrance, empty if there is none."""
        name = ingress_of(self.entrance, self.service.name)
        return next((each for each in self.ingresses if each["metadata"]["name"] == name), {})

    @cached_property
    def changes(self) -> list[Change]:
        """Return what is different in it."""
        return [*changes_of(self.typed, self.spec, self.item, self.ingress)] if self.ingress else []

    @cached_property
    def lost(self) -> dict[str, bool]:
        """Return what it lacks, if it is made anew: the fields, each with whether it protects."""
        if not self.ingress:
            return {}
        metadata, tls = self.ingress["metadata"], bool(self.ingress["spec"].get("tls"))
        made: dict[str, str] = metadata.get("annotations", {})
        guarded = protecting(self.item, self.here, tls=tls)
        found = {}
        for key, value in self.item.annotations.items():
            stated = self.changed.annotations if is_read_from_services(key) else made
            if stated.get(key) != value if key in guarded else not (key.startswith(BOOKKEEPING) or key in made):
                found[f"metadata.annotations.{key}"] = key in guarded
        labels = (key for key in self.item.labels if not key.startswith(BOOKKEEPING) and key not in metadata["labels"])
        return found | {f"metadata.labels.{key}": False for key in labels}


def asked_for(now: Asked) -> Asked:
    """Return how an entrance asks for what an Ingress says, as far as annotations can say it; `now` asks for nothing.

    When what the Service asks for already is the same, it stays. Raises Unreadable.
    """
    item, here, begin = now.item, now.here, begin_of(now.entrance)
    present = by_entrance(now.service.annotations).get(now.entrance, {})
    # A command can't show a person what isn't printable.
    shown = [(key, value) for key, value in item.annotations.items() if value.isprintable()]
    allowed = {key: value for key, value in shown if not not_allowed(key, value, here.limits.copy_annotations)}
    copied = {key: value for key, value in allowed.items() if key not in here.added_with_tls}
    # What is copied from the Service, each of its entrances is given. On the Service, the hook guards what protects.
    on = read_entrances(now.service.annotations)
    is_shared = now.entrance or {*on} - {now.entrance}
    also = {} if is_shared else copied | protecting(item, here, tls=bool(certificates_of(now.spec)))
    off = {f"{begin}{key}": None for key in present if key not in TABLE or TABLE[key].adopted}
    new = {f"{begin}{key}": value for key, value in words_of(now.spec, class_of(item, now.spec), here).items()}
    found = replace(now, asking=off | new | also)
    for key in reversed(new):
        # What the settings and the ports imply isn't stated.
        without = replace(now, asking={**found.asking, key: None})
        found = without if found.ingress and without.ingress == found.ingress else found
    as_it_is = replace(now, asking=also) if now.entrance in on else found
    fits = as_it_is.ingress and not (found.ingress and len(found.changes) < len(as_it_is.changes))
    return as_it_is if fits else found


def protecting(item: Item, here: EffectiveSettings, *, tls: bool) -> dict[str, str]:
    """Return those annotations of an Ingress that keep requests out, but for those that settings state or accept."""
    by_settings = {*(here.added_with_tls if tls else here.annotations), *here.accepted_losses}
    return {key: value for key, value in item.annotations.items() if protects(key) and key not in by_settings}


def words_of(spec: IngressSpec, ingress_class: str, here: EffectiveSettings) -> dict[str, str]:
    """Return the ingress/… annotations that ask for all that an Ingress says of one Service.

    A path type that may not be asked for is left out, and becomes the default one: a change that somebody can accept.
    """
    leading = [(host, path, str(to.port)) for host, path in spec.paths() if (to := path.backend.service)]
    port, *more = dict.fromkeys(port for *_, port in leading)
    by_host: dict[str, list[dict[str, str]]] = {}
    for host, path, own in leading:
        route = {"path": path.path or "/"}
        if path.path_type in PATH_TYPES[1:] and path.path_type in here.limits.path_types:
            route["pathType"] = path.path_type
        by_host.setdefault(host or EVERY_HOST, []).append(route | ({"port": own} if more else {}))
    found = {HTTP: "true"}
    routes, *others = by_host.values()
    if all(each == routes for each in others):
        found["ingress/host"] = ", ".join(by_host)
    else:
        routes = [{"host": host} | route for host, own in by_host.items() for route in own]
    if len(routes) > 1:
        text = yaml.safe_dump(routes, default_flow_style=True, sort_keys=False, width=float("inf"))
        found["ingress/routes"] = text.rstrip()
    else:
        found["ingress/path"] = routes[0]["path"]
        found["ingress/path-type"] = routes[0].get("pathType", PATH_TYPES[0])
    if not more:
        found["ingress/port"] = port
    if ingress_class and ingress_class != here.default_class:
        found["ingress/class"] = ingress_class
    certificate = next(iter(certificates_of(spec)), None)
    found["ingress/tls"] = "true" if certificate else "false"
    if certificate and certificate.secret_name:
        found["ingress/tls-secret"] = certificate.secret_name
    return found
