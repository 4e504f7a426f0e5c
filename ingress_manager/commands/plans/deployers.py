"""Deployers: the tools that keep an object as a chart or a manifest says, by what they write on it.

Whoever moves such an object has to tell the tool, or it writes the object back, or deletes it. Sources: the
documentation of Helm (helm.sh/resource-policy), Argo CD (resource tracking, sync options), Flux (prune) and kubectl.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ingress_manager.commands.reading.manifests import Item


class Deployer(NamedTuple):
    """A tool, and how its objects are known."""

    name: str
    keep: str
    """The annotation with which it doesn't delete an object that its source no longer has; "" when it never does."""

    source: str
    """Where it reads what an object should be."""

    marks: tuple[str, ...]
    """Keys of labels or annotations, or a label as KEY=VALUE; any of them is enough."""


DEPLOYERS = (
    Deployer(
        *("Helm", "helm.sh/resource-policy=keep", "the chart"),
        ("app.kubernetes.io/managed-by=Helm", "meta.helm.sh/release-name"),
    ),
    Deployer(
        *("Argo CD", "argocd.argoproj.io/sync-options=Prune=false", "Git"),
        ("argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id"),
    ),
    Deployer(
        *("Flux", "kustomize.toolkit.fluxcd.io/prune=disabled", "Git"),
        ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"),
    ),
    Deployer("kubectl apply", "", "the manifests", ("kubectl.kubernetes.io/last-applied-configuration",)),
)


def deployers_of(item: Item) -> list[Deployer]:
    """Return the tools that keep an object; `kubectl apply` only when no other one does."""
    marks = {*item.labels, *item.annotations, *(f"{key}={value}" for key, value in item.labels.items())}
    found = [deployer for deployer in DEPLOYERS if not marks.isdisjoint(deployer.marks)]
    return found if len(found) < 2 else [deployer for deployer in found if deployer.keep]


def about_ingress(item: Item) -> Iterator[str]:
    """Yield a sentence for each tool that keeps an Ingress: what it will do, and what to do about that."""
    for deployer in deployers_of(item):
        if deployer.keep:
            yield (
                f"{deployer.name} keeps this Ingress: annotate it with {deployer.keep}, then take it out of "
                f"{deployer.source}; otherwise {deployer.name} writes it back, and ingress-manager repairs it, in turn"
            )
        else:
            yield f"{deployer.name} made this Ingress: take it out of {deployer.source}, or it is written back"


def about_service(item: Item) -> Iterator[str]:
    """Yield a sentence for each tool that keeps a Service whose annotations are changed."""
    for deployer in deployers_of(item):
        yield f"{deployer.name} keeps Service {item.name}: change its annotations in {deployer.source} as well"
