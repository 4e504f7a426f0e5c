"""Losses: what an Ingress has that others in its place would not have, or not alone."""

from collections.abc import Container, Iterator
from typing import NamedTuple

from ingress_manager.commands.annotating.annotated import Annotated, labels_left, left_behind
from ingress_manager.commands.annotating.changes import GOOGLE_CLASSES, ISSUERS
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.ingresses import class_of
from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.kubernetes import IngressSpec
from ingress_manager.core.vocabulary import protects

LABELS = "metadata.labels"


class Balancer(NamedTuple):
    """A controller that makes a load balancer, with an address of its own, for each Ingress."""

    name: str
    classes: tuple[str, ...]
    prefixes: tuple[str, ...]
    """How the keys of its annotations begin."""

    group: str = ""
    """The annotation by whose value several Ingresses share one."""


BALANCERS = (
    Balancer(
        *("the AWS Load Balancer Controller", ("alb",), ("alb.ingress.kubernetes.io/",)),
        "alb.ingress.kubernetes.io/group.name",
    ),
    Balancer(
        *("Google Cloud", GOOGLE_CLASSES),
        ("networking.gke.io/", "ingress.gcp.kubernetes.io/", "kubernetes.io/ingress.global-static-ip-name"),
    ),
    Balancer("F5 BIG-IP", ("f5",), ("virtual-server.f5.com/",)),
)
"""Sources: the documentation of each, of its annotations."""


def why_not_at_all(item: Item, spec: IngressSpec) -> Iterator[str]:
    """Yield why an Ingress can't be replaced by others, whatever these say."""
    issuers = [key for key in item.annotations if key.startswith(ISSUERS)]
    secrets = [entry.secret_name for entry in spec.tls or () if entry.secret_name]
    if issuers and secrets:
        yield (
            f"metadata.annotations: {', '.join(issuers)}: the Certificate of Secret {', '.join(secrets)} belongs to "
            "this Ingress, and would go with it; make a Certificate of your own for that Secret, take the annotation "
            "off, and run adopt again"
        )
    for balancer in BALANCERS:
        is_its = class_of(item, spec) in balancer.classes or any(
            key.startswith(balancer.prefixes) for key in item.annotations
        )
        if is_its and not item.annotations.get(balancer.group):
            shared = f", unless all have the same {balancer.group}" if balancer.group else ""
            yield (
                f"{balancer.name} makes a load balancer for each Ingress{shared}: the address would be another one; "
                "keep this Ingress, or move the DNS names to the new ones by hand"
            )


def lost(item: Item, asked: Annotated) -> dict[str, str]:
    """Return what a new Ingress would lack of the metadata of another, by the field, as --accept-changes names it."""
    found = {f"metadata.annotations.{key}": "it" for key in left_behind(item.annotations, asked)}
    labels = labels_left(item.labels, asked)
    return {**found, LABELS: ", ".join(labels)} if labels else found


def why_lost(item: Item, asked: Annotated, accepted: Container[str]) -> Iterator[str]:
    """Yield what of an Ingress's annotations and labels a new one would lack, and nobody has accepted."""
    entrance = asked.name.partition(".")[2]
    profile = f"{entrance}.{PROFILE}" if entrance else PROFILE
    for field, what in lost(item, asked).items():
        keeps_out = field != LABELS and protects(field.removeprefix("metadata.annotations."))
        if keeps_out or field not in accepted:
            may = "" if keeps_out else f"; --accept-changes {field} does without"
            copied = "limits.copyAnnotations can let it be copied from a Service without another entrance, or "
            yield (
                f"{field}: Ingress {item.namespace}/{asked.name} would lack {what}: "
                f"{'' if field == LABELS else copied}a profile can add it ({profile}){may}"
            )
