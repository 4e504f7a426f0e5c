"""Deployers: the tools that keep an object as a chart, a repository or a manifest says.

Whoever moves such an object has to tell the tool first. Otherwise it writes the object back, deletes it, or fails. A
tool is known by its labels and annotations, and by the names of field managers, where metadata.managedFields was read.

Sources: Helm 4.3, Helm 3.22 and kubectl, as they were seen to act. For Argo CD (resource tracking, sync options) and
Flux (prune, fields of kubectl) their documentation alone.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingress_manager.commands.plans.steps import Annotations
from ingress_manager.commands.snapshot.items import Item, mappings


class Deployer(NamedTuple):
    """A tool, and how its objects are known."""

    name: str
    source: str
    """Where it reads what an object should be."""

    keep: str
    """The annotation with which it doesn't delete an object that its source no longer has; "" when it never does."""

    marks: tuple[str, ...]
    """Keys of labels or annotations, or names of field managers: any is enough."""

    takes_off: bool = False
    """Whether it takes off what kubectl has written on its objects."""


HELM = ("meta.helm.sh/release-name", "helm.toolkit.fluxcd.io/name")
ARGO_CD = ("argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id", "argocd-controller")
FLUX = ("kustomize.toolkit.fluxcd.io/name",)
DEPLOYERS = (
    Deployer("Helm", "the chart", "helm.sh/resource-policy=keep", HELM),
    Deployer("Argo CD", "Git", "argocd.argoproj.io/sync-options=Prune=false", ARGO_CD),
    Deployer("Flux", "Git", "kustomize.toolkit.fluxcd.io/prune=disabled", FLUX, takes_off=True),
    Deployer("kubectl apply", "the manifests", "", ("kubectl.kubernetes.io/last-applied-configuration", "kubectl")),
)


def deployers_of(item: Item) -> list[Deployer]:
    """Return the tools that keep an object. Some of the others run kubectl, too: it is one only where no other is."""
    managers = {str(entry.get("manager")) for entry in mappings(item.metadata.get("managedFields"))}
    found = [each for each in DEPLOYERS if {*item.labels, *item.annotations, *managers} & {*each.marks}]
    return [each for each in found if each.keep] or found


def not_yet(ingress: Item, services: Iterable[tuple[Item, Annotations]]) -> Iterator[str]:
    """Yield why a plan for an Ingress, which annotates `services`, has to wait for the source of a tool."""
    for deployer in deployers_of(ingress):
        key, _, value = deployer.keep.partition("=")
        if value not in ingress.annotations.get(key, "").split(","):
            yield (
                f"{deployer.name} keeps this Ingress, and would write it back, delete it, or fail: add the annotation "
                f"{deployer.keep} in {deployer.source} and let {deployer.name} write it, then take the Ingress out of "
                f"{deployer.source}, and plan it again"
            )
    for service, annotations in services:
        for deployer in deployers_of(service):
            if annotations and deployer.takes_off:
                stated = ", ".join(f"{key}={value}" for key, value in annotations.items())
                yield (
                    f"{deployer.name} keeps Service {service.name}, and takes off annotations that {deployer.source} "
                    f"doesn't have: put them into {deployer.source} first: {stated}"
                )


def about_service(item: Item, *, released: bool = False) -> Iterator[str]:
    """Yield a sentence for each tool that keeps a Service to which annotations are given, or from which they go."""
    for deployer in deployers_of(item):
        given = f"put its annotations into {deployer.source} as well"
        gone = f"take its annotations out of {deployer.source} after this, never before, or the Ingress goes"
        yield f"{deployer.name} keeps Service {item.name}: {gone if released else given}"
