"""Annotated Services: with which annotations a Service asks for what an Ingress says, and what becomes of that."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ingress_manager.commands.annotating.annotations import SAID, Asked, annotations_for
from ingress_manager.commands.annotating.changes import Change, changes
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.entrances import annotations_of
from ingress_manager.commands.view.ingresses import certificates_of, routes_to
from ingress_manager.core.annotations import KEYS, PREFIX, PROFILE, is_on
from ingress_manager.core.copying import not_allowed
from ingress_manager.core.decide import Decision, Desired, decide, refusal_of
from ingress_manager.core.entrances import begin_of, ingress_of, read_entrances
from ingress_manager.core.errors import Refused
from ingress_manager.core.kubernetes import NOTHING, IngressSpec, Object, Service
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import Policy
from ingress_manager.core.vocabulary import OLD_CLASS, is_read_from_services, protects


@dataclass(frozen=True, slots=True)
class Annotated:
    """What a Service has to ask for, and what becomes of that."""

    annotations: dict[str, str | None]
    """The changes of the Service's annotations; None takes one off."""

    name: str
    """That of the Ingress."""

    decision: Decision
    changes: tuple[Change, ...] = ()
    """What would be different in the Ingress."""

    @property
    def ingress(self) -> Object | None:
        """Return the Ingress that ingress-manager makes, None if it makes none."""
        named = (each for each in self.objects if each["metadata"]["name"] == self.name)
        return next((each for each in named if each["kind"] == "Ingress"), None)

    @property
    def objects(self) -> tuple[Object, ...]:
        return self.decision.objects if isinstance(self.decision, Desired) else ()

    @property
    def refused(self) -> Refused | None:
        """Return why the Service would be refused, None if it would not."""
        return refusal_of(self.decision)


def annotated_for(item: Item, spec: IngressSpec, service: Service, policy: Policy, entrance: str = "") -> Annotated:
    """Return how an entrance of the Service asks for what an Ingress says, as far as annotations can say it.

    `spec` is the Ingress's, or a part of it. When what the Service asks for already is the same, it stays.
    """
    annotations = service.metadata.annotations or {}
    begin = begin_of(entrance)
    present = annotations_of(entrance, annotations)
    here = in_namespace(policy, service.metadata.namespace, present.get(PROFILE))
    # A path type that may not be asked for becomes the default one: a change that somebody can accept.
    routes = [
        route if route.path_type in here.path_types else msgspec.structs.replace(route, path_type=None)
        for route in routes_to(service.metadata.name, spec)
    ]
    ingress_class = spec.ingress_class_name or item.annotations.get(OLD_CLASS)
    name = ingress_of(entrance, service.metadata.name)
    certificates = certificates_of(spec)
    ask = Asked(
        name, routes, ingress_class, bool(certificates), next((each.secret_name for each in certificates), None)
    )
    kept = {key: present[key] for key in KEYS if key in present and key not in SAID}
    # What is copied from the Service, each of its entrances is given.
    is_shared = bool(entrance or {*read_entrances(annotations)} - {entrance})
    guarded = protecting(item.annotations, here, tls=bool(certificates))
    also = {} if is_shared else dict(allowed(item.annotations, here)) | guarded
    change = changes_to(annotations, also)
    found = [annotated_with(item, spec, service, policy, change, entrance)] if is_on(present) else []
    found = [each for each in found if not each.refused]
    new = {f"{begin}{key}": value for key, value in (kept | annotations_for(service, ask, here)).items()}
    off = {f"{begin}{key}": None for key in present if f"{begin}{key}" not in new}
    change = {**changes_to(annotations, new), **off, **changes_to(annotations, also)}
    found.append(annotated_with(item, spec, service, policy, change, entrance))
    return min(found, key=lambda each: (each.refused is not None, len(each.changes)))


def changes_to(present: Mapping[str, str], asking: Mapping[str, str]) -> dict[str, str | None]:
    """Return those of the annotations `asking` for something that are not yet there."""
    return {key: value for key, value in asking.items() if present.get(key) != value}


def annotated_with(  # noqa: PLR0913, PLR0917 - each has a say in it
    item: Item, spec: IngressSpec, service: Service, policy: Policy, change: dict[str, str | None], entrance: str = ""
) -> Annotated:
    """Return what becomes of a Service whose annotations are changed, as far as it is one Ingress."""
    merged: dict[str, Any] = {**(service.metadata.annotations or {}), **change}
    after = {key: value for key, value in merged.items() if value is not None}
    metadata = msgspec.structs.replace(service.metadata, annotations=after)
    decision = decide(msgspec.structs.replace(service, metadata=metadata), NOTHING, policy)
    found = Annotated(change, ingress_of(entrance, service.metadata.name), decision)
    if found.ingress is None:
        return found
    return replace(found, changes=tuple(changes(service, spec, item, found.ingress)))


BOOKKEEPING = (
    *("kubectl.kubernetes.io/", "meta.helm.sh/", "helm.sh/", "app.kubernetes.io/", "argocd.argoproj.io/"),
    *("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "field.cattle.io/publicEndpoints"),
    *(f"ingress.kubernetes.io/{name}" for name in ("backends", "forwarding-rule", "https-forwarding-rule", "ssl-cert")),
    *(f"ingress.kubernetes.io/{name}" for name in ("target-proxy", "https-target-proxy", "url-map", "static-ip")),
    *(PREFIX, "ingress-manager/", "metacontroller.k8s.io/"),
)
"""How the keys of annotations and labels begin that change nothing for whoever sends a request: by these, tools know
their objects, and controllers note what they have made. Sources: the documentation of Helm, Argo CD, Flux, Rancher and
ingress-gce."""


def is_bookkeeping(key: str) -> bool:
    """Return whether an annotation or a label changes nothing for whoever sends a request."""
    return key.startswith(BOOKKEEPING)


def left_behind(annotations: Mapping[str, str], annotated: Annotated) -> list[str]:
    """Return those annotations of an Ingress that one made in its place would lack."""
    desired = annotated.ingress["metadata"].get("annotations", {}) if annotated.ingress else {}
    # The old annotation of the class is said by spec.ingressClassName.
    meant = [key for key in annotations if not is_bookkeeping(key) and key != OLD_CLASS]
    return sorted(key for key in meant if key not in desired)


def labels_left(labels: Mapping[str, str], annotated: Annotated) -> list[str]:
    """Return those labels of an Ingress that one made in its place would lack, or have with another value."""
    desired = annotated.ingress["metadata"].get("labels", {}) if annotated.ingress else {}
    return sorted(key for key in labels if not is_bookkeeping(key) and desired.get(key) != labels[key])


def protecting(annotations: Mapping[str, str], here: NamespacePolicy, *, tls: bool) -> dict[str, str]:
    """Return those annotations of an Ingress that keep requests out, unless the administrator states or accepts them.

    On the Service, the hook guards them: it refuses to make what would lack them.
    """
    by_settings = {*(here.added_with_tls if tls else here.annotations), *here.accepted_losses}
    return {key: value for key, value in annotations.items() if protects(key) and key not in by_settings}


def unprotected(item: Item, annotated: Annotated, service: Service, here: NamespacePolicy) -> list[str]:
    """Return the annotations that protect an Ingress, and that neither one made anew nor its Service would have."""
    made = annotated.ingress["metadata"].get("annotations", {}) if annotated.ingress else {}
    stated = {**(service.metadata.annotations or {}), **annotated.annotations}
    has = {key: stated.get(key) if is_read_from_services(key) else made.get(key) for key in item.annotations}
    tls = bool(annotated.ingress and annotated.ingress["spec"].get("tls"))
    return sorted(key for key, value in protecting(item.annotations, here, tls=tls).items() if has[key] != value)


def allowed(annotations: Mapping[str, str], here: NamespacePolicy) -> Iterator[tuple[str, str]]:
    """Yield those annotations of an Ingress that the settings let a Service ask for."""
    for key, value in annotations.items():
        # A command can't show a person what isn't printable.
        if (
            key not in here.added_with_tls
            and value.isprintable()
            and not not_allowed(key, value, here.copy_annotations)
        ):
            yield key, value
