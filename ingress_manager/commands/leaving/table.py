"""What becomes of what an Ingress asks of ingress-nginx: at the gateway, and as HTTPRoutes. Data, and what follows.

The data are ingress-nginx.yaml. Of what the gateway opens, gateway/ingress-nginx/ denies new Ingresses.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
import yaml

from ingress_manager.commands.leaving import order
from ingress_manager.commands.view.typed import without_nulls
from ingress_manager.core.kubernetes import Ingress, Object
from ingress_manager.core.vocabulary import NGINX, OLD_CLASS, REWRITE, changes, is_said, protects

CLASS = "nginx"
OWN_CLASS = "ingress-manager"


class AtGateway(StrEnum):
    """What the gateway makes of what an Ingress of the class nginx asks for; what is worst first."""

    OPEN = "open"
    """It answers a request that ingress-nginx keeps out."""
    REFUSED = "refused"
    """It serves no request of the Ingress."""
    DIFFERS = "differs"
    """It answers otherwise, but nothing that ingress-nginx keeps out; or that depends on more than the Ingress says."""
    IGNORED = "ignored"
    """It does nothing, and no visitor sees that."""
    ALIKE = "alike"
    """It answers as ingress-nginx does."""


class AsHttpRoute(StrEnum):
    """How HTTPRoutes of ingress-manager say it; what is worst first."""

    NO = "no"
    """Not at all: the Service is refused, unless the loss is accepted."""
    FILTER = "filter"
    """By a filter of a profile."""
    PROFILE = "profile"
    """By what else a profile states, as timeouts, or a Gateway that does it."""
    WITHOUT = "without"
    """They do without it: it only tunes."""
    SAME = "same"
    """They do the same."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of an annotation, or of something else that an Ingress says."""

    gateway: AtGateway
    httproutes: AsHttpRoute = AsHttpRoute.NO
    """Unless they do without it, or say the value."""
    but: str = ""
    """What is different, or open: a sentence. Stated, unless it is alike or ignored."""
    do: str = ""
    """What to do about it: a sentence. Stated, if it is open or refused."""
    alike: str = ""
    """A regular expression of the values for which it is alike, in any letters."""
    what: str = ""
    """What it is, for the docs, where it is no annotation."""


class Judged(NamedTuple):
    """What becomes of one thing that an Ingress says."""

    key: str
    """The annotation, or a field."""
    value: str
    gateway: AtGateway
    httproutes: AsHttpRoute
    but: str
    do: str


class _Table(msgspec.Struct, frozen=True):
    annotations: dict[str, Row]
    fields: dict[str, Row]


_TABLE = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("ingress-nginx.yaml").read_text(encoding="utf-8")), _Table
)
TABLE, FIELDS = _TABLE.annotations, _TABLE.fields
"""By the annotation's name behind the prefix; and by what it is that no annotation says alone."""


def is_of_class_nginx(ingress: Object) -> bool:
    """Return whether the gateway would take this Ingress for one of ingress-nginx's."""
    return class_of(ingress) == CLASS


def class_of(ingress: Object) -> str:
    """Return the class of an Ingress; empty for none."""
    return str(ingress["spec"].get("ingressClassName") or annotations_of(ingress).get(OLD_CLASS, ""))


def judge(ingress: Object, beside: Iterable[Object] = ()) -> list[Judged]:
    """Return what becomes of all that an Ingress says, what is worst first; what isn't mentioned is alike.

    `beside` are the Ingresses that are known, this one too or not. What only they would show isn't said without them.
    Raises msgspec.ValidationError for what is no Ingress.
    """
    ingress, hosts, name = without_nulls(ingress), order.hosts_of(ingress), order.name_of(ingress)
    near = [without_nulls(each) for each in beside if order.meet(hosts, order.hosts_of(each))]
    others = [each for each in near if order.name_of(each) != name]
    found = [*judged_annotations(ingress), *judged_fields(ingress), *judged_beside(ingress, others)]
    gateway, routes = list(AtGateway), list(AsHttpRoute)
    return sorted(
        found, key=lambda each: (gateway.index(each.gateway), routes.index(each.httproutes), each.key, each.value)
    )


def judged_annotations(ingress: Object) -> Iterator[Judged]:
    """Yield what becomes of each annotation of ingress-nginx."""
    own = msgspec.convert(ingress, Ingress)
    paths = {path for path, _ in own.paths()}
    tls = bool(own.spec.tls)
    for key, value in annotations_of(ingress).items():
        if not key.startswith(NGINX):
            continue
        row = TABLE.get(key.removeprefix(NGINX)) or FIELDS["unknown-protection" if protects(key) else "unknown"]
        # To rewrite a path as itself is nothing.
        asks_for_nothing = not value.strip() or (key == REWRITE and paths == {value})
        if asks_for_nothing or re.fullmatch(row.alike, value.strip(), re.IGNORECASE):
            row = Row(AtGateway.ALIKE, row.httproutes)
        if not (protects(key) or changes(key)):
            routes = AsHttpRoute.WITHOUT
        elif asks_for_nothing or is_said(key, value, tls=tls, at_root=paths <= {"/"}):
            routes = AsHttpRoute.SAME
        else:
            routes = row.httproutes
        yield judged(key, value, row, routes)


def judged_fields(ingress: Object) -> Iterator[Judged]:
    """Yield what becomes of what no annotation says alone."""
    said = {key.removeprefix(NGINX): value for key, value in annotations_of(ingress).items() if key.startswith(NGINX)}
    own = msgspec.convert(ingress, Ingress)
    by_regex = said.get("use-regex", "").lower() == "true" or bool(said.get("rewrite-target"))
    for path, path_type in own.paths():
        is_plain = re.fullmatch(r"(/[\w.\-/]*)?", path, re.ASCII) is not None
        if path_type != "ImplementationSpecific" and not is_plain:
            yield judged("spec.rules[].http.paths[].path", path, FIELDS["regular-expression"])
        elif path_type == "ImplementationSpecific" and not by_regex and path.strip("/"):
            yield judged("spec.rules[].http.paths[].pathType", path, FIELDS["implementation-specific"])
    every = said.get("cors-allow-origin", "*").strip() == "*"
    if said.get("enable-cors", "").lower() == "true" and every and said.get("cors-allow-credentials", "") != "false":
        yield judged(f"{NGINX}enable-cors", "true", FIELDS["every-origin"])
    if said.get("auth-tls-secret") and "" in own.hosts():
        yield judged(f"{NGINX}auth-tls-secret", said["auth-tls-secret"], FIELDS["certificate-of-every-host"])


def judged_beside(ingress: Object, beside: list[Object]) -> Iterator[Judged]:
    """Yield what other Ingresses of its hosts make of an Ingress."""
    hosts = order.hosts_of(ingress)
    protection = order.protection_of(ingress)
    of_nginx = [each for each in beside if is_of_class_nginx(each)]
    for route, other, by in order.answered_by_others(ingress, of_nginx):
        row = FIELDS["another-answers" if protection <= order.protection_of(by) else "another-answers-unprotected"]
        yield judged(f"{route.path_type} {route.host}{route.path}", f"answered by {order.name_of(by)} as {other}", row)
    for each in beside:
        if not hosts & order.hosts_of(each):
            continue
        said = annotations_of(each)
        if class_of(each) == OWN_CLASS and f"{NGINX}auth-tls-secret" in annotations_of(ingress):
            yield judged(f"{NGINX}auth-tls-secret", order.name_of(each), FIELDS["certificate-of-two-classes"])
        if each in of_nginx and said.get(f"{NGINX}server-snippet"):
            yield judged(f"{NGINX}server-snippet", order.name_of(each), FIELDS["snippet-of-the-host"])


def judged(key: str, value: str, row: Row, routes: AsHttpRoute | None = None) -> Judged:
    """Return what a row says of something."""
    return Judged(key, value, row.gateway, routes or row.httproutes, row.but, row.do)


def annotations_of(ingress: Object) -> dict[str, str]:
    """Return the annotations of an Ingress."""
    return ingress["metadata"].get("annotations") or {}
