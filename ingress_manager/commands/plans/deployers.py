"""Deployers: tools that keep an object as a chart, a repository or a manifest has it.

Such a tool has to let go of an object before it is moved; otherwise it writes it back, deletes it, or fails. It is
recognised by labels, annotations and, where metadata.managedFields was read, field managers; an operator by owners.

Sources: tests with Helm 4.3, Helm 3.22 and kubectl; the documentation of Helm (hooks have no release), Argo CD
(resource tracking, sync options, hooks) and Flux (prune, fields of kubectl); the source of Terraform's provider.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingress_manager.commands.plans.steps import Annotations
from ingress_manager.commands.snapshot.items import Item, at, mappings
from ingress_manager.commands.snapshot.managed import owners
from ingress_manager.core.copying import MANAGED_BY_LABEL


class Deployer(NamedTuple):
    """A tool, and how to recognise its objects."""

    name: str
    source: str
    """Where it reads its objects."""

    keep: str
    """The annotation that keeps an object which its source no longer has; "": it never deletes one."""

    marks: tuple[str, ...]
    """Keys of labels or annotations, or names of field managers: any of them is enough."""

    takes_off: str = ""
    """How surely it removes annotations that kubectl has added; "": it keeps them."""


HELM = ("meta.helm.sh/release-name", "helm.toolkit.fluxcd.io/name", "helm.sh/hook")
ARGO_CD = (*(f"argocd.argoproj.io/{name}" for name in ("instance", "tracking-id", "hook")), "argocd-controller")
FLUX = ("kustomize.toolkit.fluxcd.io/name",)
DEPLOYERS = (
    Deployer("Helm", "the chart", "helm.sh/resource-policy=keep", HELM),
    Deployer("Argo CD", "Git", "argocd.argoproj.io/sync-options=Prune=false", ARGO_CD),
    Deployer("Flux", "Git", "kustomize.toolkit.fluxcd.io/prune=disabled", FLUX, "takes off"),
    Deployer("Terraform", "its configuration", "", ("HashiCorp",), "may take off"),
    Deployer("kubectl apply", "the manifests", "", ("kubectl.kubernetes.io/last-applied-configuration", "kubectl")),
)


def deployers_of(item: Item) -> list[Deployer]:
    """Return the tools of an object. Some run kubectl, which counts only if there is no other tool."""
    entries = mappings(item.metadata.get("managedFields"))
    marks = {*item.labels, *item.annotations, *(str(entry.get("manager")) for entry in entries)}
    deployers = [deployer for deployer in DEPLOYERS if marks & {*deployer.marks}]
    names = [f"{owner.get('kind')} {owner.get('name')}" for owner in owners(item)]
    # Some operators only add to the Services of others.
    writers = {str(entry.get("manager")) for entry in entries if at(entry, "fieldsV1", "f:spec")}
    writers.add(item.labels.get(MANAGED_BY_LABEL, ""))
    names = names or sorted(name for name in writers if "operator" in name.lower())
    operators = [Deployer(name, "its spec", "", (), "may take off") for name in names]
    return operators + ([deployer for deployer in deployers if deployer.keep] or deployers)


def not_yet(ingress: Item, services: Iterable[tuple[Item, Annotations]]) -> Iterator[tuple[str, str]]:
    """Yield why a tool's source has to change, and how, before a plan for an Ingress that annotates `services`."""
    for deployer in deployers_of(ingress):
        key, _, value = deployer.keep.partition("=")
        if value not in ingress.annotations.get(key, "").split(","):
            problem = f"{deployer.name} keeps this Ingress, and would write it back, delete it, or fail"
            first = f"add the annotation {deployer.keep} in {deployer.source} and let {deployer.name} write it"
            yield problem, f"{first}, then take the Ingress out of {deployer.source}, and plan it again"
    for service, annotations in services:
        for tool in deployers_of(service):
            if annotations and tool.takes_off:
                lacking = ", ".join(f"{key}={value}" for key, value in annotations.items())
                problem = f"{tool.name} keeps Service {service.name}, and {tool.takes_off} what {tool.source} lacks"
                yield problem, f"put these annotations into {tool.source} first: {lacking}"


def about_service(item: Item, *, released: bool = False) -> Iterator[str]:
    """Yield what to do for each tool of a Service that gets annotations or, if `released`, loses them."""
    for deployer in deployers_of(item):
        given = f"put its annotations into {deployer.source} as well"
        gone = f"take its annotations out of {deployer.source} after this, never before, or the Ingress goes"
        yield f"{deployer.name} keeps Service {item.name}: {gone if released else given}"
