"""What becomes of what an Ingress asks of ingress-nginx: at the gateway, and as HTTPRoutes.

The data are ingress-nginx.yaml. Of what the gateway opens, gateway/ingress-nginx/ denies new Ingresses.
"""

import re
from collections.abc import Iterable, Iterator, Set
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
import yaml

from ingress_manager.commands.leaving.order import Stated, answered_by_others, hosts_by_regex, hosts_of
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.objects import IngressSpec, class_of
from ingress_manager.core.vocabulary import NGINX, REWRITE, changes, is_said, protects

CLASS, OWN_CLASS = "nginx", "ingress-manager"
"""The class that the gateway serves in ingress-nginx's place, and its own."""


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
    """By what else a profile states, or a Gateway that does it."""
    SAME = "same"
    """They do the same, or do without it: it only tunes."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of an annotation, or of something else that an Ingress says."""

    gateway: AtGateway
    httproutes: AsHttpRoute = AsHttpRoute.NO
    """Unless it only tunes, or they say the value."""
    but: str = ""
    """What is different, or open: a sentence. Stated, unless it is alike or ignored."""
    do: str = ""
    """What to do about it: a sentence. Stated, if it is open or refused."""
    alike: str = ""
    """A regular expression of the values for which it is alike, in any letters."""
    switch: bool = False
    """Whether ingress-nginx takes 1, t and T for "true", as Go does, and the gateway doesn't."""
    what: str = ""
    """What it is, for the docs, where it is no annotation."""


class Judged(NamedTuple):
    """What becomes of one thing that an Ingress says."""

    key: str
    """The annotation, or a field."""
    value: str
    row: Row


_DATA = yaml.safe_load(Path(__file__).with_name("ingress-nginx.yaml").read_text(encoding="utf-8"))
TABLE, FIELDS = (msgspec.convert(_DATA[part], dict[str, Row]) for part in ("annotations", "fields"))
"""By the annotation's name behind the prefix; and by what it is that no annotation says alone."""


def judge(item: Item, spec: IngressSpec, beside: Iterable[Stated] = ()) -> list[Judged]:
    """Return what becomes of all that an Ingress says, what is worst first; what isn't mentioned is alike.

    `beside` are the Ingresses that are known, this one too or not. What only they would show isn't said without them.
    """
    others = [each for each in beside if each[0].full_name != item.full_name]
    of_nginx = [(item, spec), *(each for each in others if class_of(*each) == CLASS)]
    by_regex = hosts_by_regex(of_nginx)
    found = [*judged_annotations(item, spec), *judged_fields(item, spec, by_regex), *judged_beside(item, spec, others)]
    for route, other, by in answered_by_others((item, spec), of_nginx, by_regex):
        row = FIELDS["another-answers" if protection_of(item) <= protection_of(by) else "another-answers-unprotected"]
        what = f"{route.path_type} {route.host}{route.path}"
        found.append(Judged(what, f"answered by {by.full_name} as {other}", row))
    rank = [*AtGateway, *AsHttpRoute].index
    return sorted(found, key=lambda each: (rank(each.row.gateway), rank(each.row.httproutes), each.key, each.value))


def judged_annotations(item: Item, spec: IngressSpec) -> Iterator[Judged]:
    """Yield what becomes of each annotation of ingress-nginx."""
    paths = {path.path or "/" for _, path in spec.paths()}
    for key, value in item.annotations.items():
        if not key.startswith(NGINX):
            continue
        row = TABLE.get(key.removeprefix(NGINX)) or FIELDS["unknown-protection" if protects(key) else "unknown"]
        if row.switch and value.strip() in {"1", "t", "T"}:
            row = msgspec.structs.replace(FIELDS["switch"], httproutes=row.httproutes)
        # To rewrite a path as itself is nothing.
        asks_for_nothing = not value.strip() or (key == REWRITE and paths == {value})
        if asks_for_nothing or re.fullmatch(row.alike, value.strip(), re.IGNORECASE):
            row = Row(AtGateway.ALIKE, row.httproutes)
        if row.httproutes is AsHttpRoute.FILTER and re.search(r"\$\{?\d", value):  # No filter knows groups.
            row = msgspec.structs.replace(row, httproutes=AsHttpRoute.NO)
        only_tunes = not (protects(key) or changes(key))
        if only_tunes or asks_for_nothing or is_said(key, value, tls=bool(spec.tls), at_root=paths <= {"/"}):
            row = msgspec.structs.replace(row, httproutes=AsHttpRoute.SAME)
        yield Judged(key, value, row)


def judged_fields(item: Item, spec: IngressSpec, by_regex: Set[str]) -> Iterator[Judged]:
    """Yield what becomes of what no annotation says alone."""
    said = {key.removeprefix(NGINX): value for key, value in item.annotations.items() if key.startswith(NGINX)}
    for host, path in spec.paths():
        is_plain = re.fullmatch(r"(/[\w.\-/]*)?", path.path, re.ASCII) is not None
        if path.path_type != "ImplementationSpecific" and not is_plain:
            yield Judged("spec.rules[].http.paths[].path", path.path, FIELDS["regular-expression"])
        elif path.path_type == "ImplementationSpecific":
            row = FIELDS["implementation-specific" if is_plain else "implementation-specific-pattern"]
            row = Row(AtGateway.ALIKE) if host in by_regex or not path.path.strip("/") else row
            yield Judged("spec.rules[].http.paths[].pathType", path.path, row)
    every = said.get("cors-allow-origin", "*").strip() == "*"
    if said.get("enable-cors", "").lower() == "true" and every and said.get("cors-allow-credentials", "") != "false":
        yield Judged(f"{NGINX}enable-cors", "true", FIELDS["every-origin"])
    if said.get("auth-tls-secret") and ("" in hosts_of(spec) or spec.default_backend):
        yield Judged(f"{NGINX}auth-tls-secret", said["auth-tls-secret"], FIELDS["certificate-of-every-host"])


def judged_beside(item: Item, spec: IngressSpec, beside: Iterable[Stated]) -> Iterator[Judged]:
    """Yield what other Ingresses of its hosts make of the annotations of an Ingress."""
    for other_item, other_spec in (each for each in beside if not hosts_of(spec).isdisjoint(hosts_of(each[1]))):
        by_class = class_of(other_item, other_spec)
        if by_class == OWN_CLASS and f"{NGINX}auth-tls-secret" in item.annotations:
            yield Judged(f"{NGINX}auth-tls-secret", other_item.full_name, FIELDS["certificate-of-two-classes"])
        if by_class == CLASS and other_item.annotations.get(f"{NGINX}server-snippet"):
            yield Judged(f"{NGINX}server-snippet", other_item.full_name, FIELDS["snippet-of-the-host"])


def protection_of(item: Item) -> set[tuple[str, str]]:
    """Return the annotations of an Ingress that protect."""
    return {(key, value) for key, value in item.annotations.items() if protects(key)}
