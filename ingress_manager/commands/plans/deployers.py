"""Deployers: the tools that keep an object as a chart, a repository or a manifest says.

Whoever moves such an object has to tell the tool first. Otherwise it writes the object back, deletes it, or fails. A
tool is known by its labels and annotations, and by the names of field managers, where metadata.managedFields was read.

Sources: Helm 4.3, Helm 3.22 and kubectl, as they were seen to act. Helm writes its own
label app.kubernetes.io/managed-by on all that a chart holds. Helm 4 applies on the server, which refuses to change a
field that somebody else has set. For Argo CD (resource tracking, sync options) and Flux (prune, fields of kubectl)
their documentation alone.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ingress_manager.commands.plans.plan import Step
from ingress_manager.commands.plans.steps import Annotations, annotate
from ingress_manager.commands.reading.manifests import Item, mappings


class Deployer(NamedTuple):
    """A tool, and how its objects are known."""

    name: str
    keep: str
    """The annotation with which it doesn't delete an object that its source no longer has; "" when it never does."""

    source: str
    """Where it reads what an object should be."""

    act: str
    """How a person has it take up a change of the source."""

    otherwise: str
    """What happens when an Ingress that was moved is still in its source."""

    marks: tuple[str, ...]
    """Keys of labels or annotations, a label as KEY=VALUE, or a field manager as "NAME OPERATION": any is enough."""

    warning: str = ""
    """What a person has to know once an Ingress is adopted."""

    takes_off: bool = False
    """Whether it takes off what kubectl has written on its objects."""


HELM = Deployer(
    *("Helm", "helm.sh/resource-policy=keep", "the chart", "run `helm upgrade`"),
    "an upgrade fails, or writes it back",
    ("meta.helm.sh/release-name", "helm.toolkit.fluxcd.io/name", "helm Apply", "helm-controller Apply"),
    "Before a `helm rollback` to a revision that has it, run `ingress-manager release`, or it is gone for a time",
)
DEPLOYERS = (
    HELM,
    Deployer(
        *("Argo CD", "argocd.argoproj.io/sync-options=Prune=false", "Git"),
        *("let Argo CD sync", "Argo CD writes it back"),
        marks=(
            *("argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id"),
            *("argocd-controller Apply", "argocd-controller Update"),
        ),
    ),
    Deployer(
        *("Flux", "kustomize.toolkit.fluxcd.io/prune=disabled", "Git", "let Flux reconcile", "Flux writes it back"),
        ("kustomize.toolkit.fluxcd.io/name", "kustomize-controller Apply"),
        takes_off=True,
    ),
)
OTHERWISE = (
    Deployer(
        *("kubectl apply", "", "the manifests", "run `kubectl apply`", "the next one writes it back"),
        ("kubectl.kubernetes.io/last-applied-configuration", "kubectl Apply"),
    ),
    HELM._replace(marks=("app.kubernetes.io/managed-by=Helm",)),
)
"""What is looked for where no other mark is: others run kubectl, too, and apply what Helm has rendered."""

REFUSING = {"helm Apply", "helm-controller Apply", "kubectl Apply"}
"""The field managers that fail when somebody else has set one of their fields to another value."""


def deployers_of(item: Item) -> list[Deployer]:
    """Return the tools that keep an object."""
    marks = {*item.labels, *item.annotations, *(f"{key}={value}" for key, value in item.labels.items())}
    marks |= managers_of(item)
    found, otherwise = (
        [deployer for deployer in each if not marks.isdisjoint(deployer.marks)] for each in (DEPLOYERS, OTHERWISE)
    )
    return found or otherwise[:1]


def managers_of(item: Item) -> set[str]:
    """Return the field managers of an object, each as "NAME OPERATION"; none where they were not read."""
    entries = mappings(item.metadata.get("managedFields"))
    return {f"{entry.get('manager')} {entry.get('operation')}" for entry in entries}


def is_kept(item: Item, deployer: Deployer) -> bool:
    """Return whether a tool leaves an object alone that its source no longer has."""
    key, _, value = deployer.keep.partition("=")
    return value in item.annotations.get(key, "").split(",")


def holding(ingress: Item) -> list[Deployer]:
    """Return the tools that would delete an Ingress which is taken out of their source: so it is still there."""
    return [deployer for deployer in deployers_of(ingress) if deployer.keep and not is_kept(ingress, deployer)]


def not_yet(ingress: Item, services: Iterable[tuple[Item, Annotations]]) -> Iterator[str]:
    """Yield why a plan for an Ingress, which annotates `services`, has to wait for the source of a tool."""
    for deployer in holding(ingress):
        yield (
            f"{deployer.name} keeps this Ingress: give it the annotation {deployer.keep}, and take it out of "
            f"{deployer.source}; otherwise {deployer.otherwise}"
        )
    for service, annotations in services:
        for deployer in deployers_of(service):
            if annotations and deployer.takes_off:
                yield (
                    f"{deployer.name} keeps Service {service.name}, and takes off annotations that {deployer.source} "
                    f"doesn't have: put them into {deployer.source} first"
                )


def before(ingress: Item, services: Iterable[tuple[Item, Annotations]]) -> Iterator[Step]:
    """Yield what a person has to do before a plan for an Ingress, in this order, where there is `not_yet` one."""
    held = holding(ingress)
    acts = [deployer.act for deployer in held]
    for deployer in held:
        key, _, value = deployer.keep.partition("=")
        if deployer.takes_off or key in ingress.annotations:
            options = [each for each in (ingress.annotations.get(key), value) if each]
            put = f"In {deployer.source}, put on Ingress {ingress.name}, and {deployer.act}:"
            yield Step(notes=[put, *manifest({key: ",".join(options)})])
        else:
            yield Step(annotate(ingress, changes=[deployer.keep]))
    for service, annotations in services:
        for deployer in deployers_of(service) if annotations else ():
            acts.append(deployer.act)
            yield Step(notes=[f"In {deployer.source}, put on Service {service.name}:", *manifest(annotations)])
    yield from (Step(notes=[f"Take the Ingress out of {deployer.source}. It stays."]) for deployer in held)
    then = " and ".join(dict.fromkeys(acts))
    yield Step(notes=[f"Then {then}, and plan it again: ingress-manager adopt {ingress.full_name}"])


def manifest(annotations: Mapping[str, str | None]) -> Iterator[str]:
    """Yield annotations as the lines of a manifest. JSON is YAML, and shows each character."""
    yield from (f"  {key}: {json.dumps(value)}" for key, value in annotations.items())


def about_ingress(item: Item) -> Iterator[str]:
    """Yield a sentence for each tool that keeps an Ingress: what it will do, and what to do about that."""
    for deployer in deployers_of(item):
        sentence = f"{deployer.source} must no longer have this Ingress; otherwise {deployer.otherwise}"
        yield f"{deployer.name}: {sentence}. {deployer.warning}".removesuffix(". ")


def about_service(item: Item) -> Iterator[str]:
    """Yield a sentence for each tool that keeps a Service to which annotations are given."""
    for deployer in deployers_of(item):
        keeps = f"{deployer.name} keeps Service {item.name}: put its annotations into {deployer.source}"
        if REFUSING & managers_of(item) & {*deployer.marks}:
            yield f"{keeps} before this, or another value in {deployer.source} is a conflict later"
        else:
            yield f"{keeps} as well"


def about_released(item: Item) -> Iterator[str]:
    """Yield a sentence for each tool that keeps a Service from which annotations are taken."""
    for deployer in deployers_of(item):
        yield (
            f"{deployer.name} keeps Service {item.name}: take its annotations out of {deployer.source} after this, "
            "never before, or the Ingress goes"
        )
