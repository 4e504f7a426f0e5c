"""Deployers: tools that keep an object in the state that a chart, a repository or a manifest describes.

Such a tool must stop managing an object before `adopt` changes it; otherwise the tool reverts the change, deletes the
object, or fails. Labels, annotations and (if read) field managers identify tools; owner references identify operators.

Sources: tests with Helm 4.3, Helm 3.22 and kubectl; the source of Terraform's provider; and the documentation of Helm
(hooks belong to no release), Argo CD (resource tracking, sync options, hooks) and Flux (pruning, kubectl's fields).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingress_manager.commands.plans.steps import Annotations
from ingress_manager.commands.snapshot.items import Item, at, mappings
from ingress_manager.commands.snapshot.managed import owners
from ingress_manager.core.copying import MANAGED_BY_LABEL


class Deployer(NamedTuple):
    name: str
    source: str
    keep: str
    """The annotation (key=value) that makes the tool keep an object removed from `source`; "" if the tool has none."""

    marks: tuple[str, ...]
    """Keys of labels or annotations, or names of field managers. Any of them identifies the tool."""

    takes_off: str = ""
    """What the tool does to annotations added with kubectl: "removes" or "may remove" them; empty if it keeps them."""


HELM = ("meta.helm.sh/release-name", "helm.toolkit.fluxcd.io/name", "helm.sh/hook")
ARGO_CD = (*(f"argocd.argoproj.io/{name}" for name in ("instance", "tracking-id", "hook")), "argocd-controller")
FLUX = ("kustomize.toolkit.fluxcd.io/name",)
DEPLOYERS = (
    Deployer("Helm", "the chart", "helm.sh/resource-policy=keep", HELM),
    Deployer("Argo CD", "Git", "argocd.argoproj.io/sync-options=Prune=false", ARGO_CD),
    Deployer("Flux", "Git", "kustomize.toolkit.fluxcd.io/prune=disabled", FLUX, "removes"),
    Deployer("Terraform", "the Terraform configuration", "", ("HashiCorp",), "may remove"),
    Deployer("kubectl apply", "the manifests", "", ("kubectl.kubernetes.io/last-applied-configuration", "kubectl")),
)


def deployers_of(item: Item) -> list[Deployer]:
    """Return the tools that deploy an item, without kubectl and Terraform if Helm, Argo CD or Flux may use them."""
    entries = mappings(item.metadata.get("managedFields"))
    marks = {*item.labels, *item.annotations, *(str(entry.get("manager")) for entry in entries)}
    deployers = [deployer for deployer in DEPLOYERS if marks & {*deployer.marks}]
    names = [f"{owner.get('kind')} {owner.get('name')}" for owner in owners(item)]
    # Some operators only add fields to others' Services.
    writers = {str(entry.get("manager")) for entry in entries if at(entry, "fieldsV1", "f:spec")}
    writers.add(item.labels.get(MANAGED_BY_LABEL, ""))
    names = names or sorted(name for name in writers if "operator" in name.lower())
    operators = [Deployer(name, "the custom resource", "", (), "may remove") for name in names]
    return operators + ([deployer for deployer in deployers if deployer.keep] or deployers)


def deployer_obstacles(ingress: Item, services: Iterable[tuple[Item, Annotations]]) -> Iterator[tuple[str, str]]:
    """Yield a problem and its remedy for each tool that would undo changes to the Ingress or its Services."""
    for deployer in deployers_of(ingress):
        key, _, value = deployer.keep.partition("=")
        if value not in ingress.annotations.get(key, "").split(","):
            problem = f"{deployer.name} deploys this Ingress and would revert the changes, delete the Ingress, or fail"
            first = f"add the annotation {deployer.keep} in {deployer.source} and let {deployer.name} apply it"
            yield problem, f"{first}, then remove the Ingress from {deployer.source}, and run adopt again"
    for service, annotations in services:
        for tool in deployers_of(service):
            if annotations and tool.takes_off:
                new = (f"remove {key}" if value is None else f"set {key}={value}" for key, value in annotations.items())
                problem = f"{tool.name} manages Service {service.name} and {tool.takes_off} annotations that aren't in "
                yield f"{problem}{tool.source}", f"make these changes in {tool.source} first: {', '.join(new)}"


def about_service(item: Item, *, released: bool = False) -> Iterator[str]:
    """Yield what to change in each deployer's source when a Service gains (or, if `released`, loses) annotations."""
    for deployer in deployers_of(item):
        added = f"make the same changes to its annotations in {deployer.source}"
        removed = f"remove the annotations from {deployer.source} only after these steps, or the Ingress is deleted"
        yield f"{deployer.name} deploys Service {item.name}: {removed if released else added}"
