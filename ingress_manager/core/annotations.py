"""The annotations of a Service: what the owner requests, for one entrance or several.

Each annotation is a row of `TABLE`. Parsing, messages, `adopt` and the docs are derived from it.

An entrance is one way to reach a Service. The main entrance, called "", has the keys ingress/…. The keys of a named
entrance begin with its name, as in internal.ingress/http. The names of its objects begin with SERVICE.ENTRANCE, which
can't clash with names for another Service, because Service names contain no dots.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ingress_manager.core.bounds import LONGEST_LIST, MOST_ENTRANCES, MOST_HOSTS, MOST_ROUTES, MOST_YAML_NODES
from ingress_manager.core.errors import MOST_KEPT, Problem, Problems, Reason
from ingress_manager.core.strict_yaml import YamlError, as_text, load
from ingress_manager.core.syntax import check, wrong_absolute_path, wrong_host, wrong_name
from ingress_manager.core.text import listed, nearest, quoted

PREFIX = "ingress/"
HTTP, CLASS, ROUTES = "ingress/http", "ingress/class", "ingress/routes"
HOST, PATH, PATH_TYPE, PORT = "ingress/host", "ingress/path", "ingress/path-type", "ingress/port"
TLS, SECRET, REDIRECT = "ingress/tls", "ingress/tls-secret", "ingress/tls-redirect"
PROFILE = "ingress/profile"
"""On a Service, the profile that it requests; on a managed object, the profile used to make it."""

PATH_TYPES = ("Prefix", "Exact", "ImplementationSpecific")


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One route in ingress/routes. A field that is None falls back to the other annotations."""

    host: str | None = None
    path: str | None = None
    path_type: str | None = msgspec.field(name="pathType", default=None)
    port: str | None = None


ONE_ROUTE = (Route(),)  # without ingress/routes

wrong_path_type = check((lambda value: value not in PATH_TYPES, "is not Prefix, Exact or ImplementationSpecific"))
wrong_port = check((lambda value: not value, "must be the name or number of a port"))
"""Rejects only an empty value; `choose_ports` looks for the port."""


class Requested(msgspec.Struct, frozen=True):
    """The parsed annotations of one entrance. A field keeps its default if its annotation is absent or invalid."""

    http: bool | None = None
    hosts: tuple[str, ...] | None = None
    path: str | None = None
    path_type: str | None = None
    port: str | None = None
    ingress_class: str | None = None
    tls: bool | None = None
    tls_secret: str | None = None
    tls_redirect: bool | None = None
    profile: str | None = None
    routes: tuple[Route, ...] = ONE_ROUTE
    problems: Problems = msgspec.field(default_factory=Problems)


class Wrong(str):
    """A parser's error: the end of a message that begins with the annotation."""


def checked(check: Callable[[str], str]) -> Callable[[str], str]:
    """Return a parser that returns a valid value unchanged, or Wrong with the message from `check`."""
    return lambda value: Wrong(end) if (end := check(value)) else value


def parse_boolean(value: str) -> bool | Wrong:
    return value == "true" if value in {"true", "false"} else Wrong('is not "true" or "false"')


def parse_hosts(value: str) -> tuple[str, ...] | Wrong:
    count = value.count(",") + 1
    if count > MOST_HOSTS:
        return Wrong(f"lists {count} hosts; the limit is {MOST_HOSTS}")
    hosts = tuple(host.strip(" ") for host in value.split(","))
    for host in hosts:
        if not host and count > 1:
            return Wrong("lists an empty host; remove the extra comma")
        if end := wrong_host(host):
            return Wrong(end if count == 1 else f"lists {quoted(host)}, which {end}")
        if hosts.count(host) > 1:
            return Wrong(f"lists {host} twice")
    return hosts


def parse_routes(value: str) -> tuple[Route, ...] | Wrong:
    if len(value) > LONGEST_LIST:
        return Wrong(f"has {len(value)} characters; the limit is {LONGEST_LIST}")
    try:
        routes, _ = load(value, MOST_YAML_NODES, as_text)
    except YamlError as error:
        return Wrong(str(error))
    if not isinstance(routes, list) or not routes:
        return Wrong(f"must be a YAML list of {{{', '.join(ROUTE_FIELDS)}}}")
    if len(routes) > MOST_ROUTES:
        return Wrong(f"lists {len(routes)} routes; the limit is {MOST_ROUTES}")
    for number, fields in enumerate(routes, start=1):
        if end := wrong_fields(fields):
            return Wrong(f"route {number}{end}")
    return tuple([msgspec.convert(fields, Route) for fields in routes])


def wrong_fields(fields: Any) -> str:
    if not isinstance(fields, dict):
        return f" must be a mapping with any of the keys {', '.join(ROUTE_FIELDS)}"
    for field, value in fields.items():
        if field not in ROUTE_FIELDS:
            return f" has the unknown field {quoted(str(field))}; the fields are {', '.join(ROUTE_FIELDS)}"
        if not isinstance(value, str):
            return f": {field} must be text, not a list or a mapping"
        if end := ROUTE_FIELDS[field](value):
            return f": {field} {quoted(value)} {end}"
    return ""


ROUTE_FIELDS = {"host": wrong_host, "path": wrong_absolute_path, "pathType": wrong_path_type, "port": wrong_port}


class Annotation(msgspec.Struct, frozen=True):
    field: str
    """The field of `Requested` that holds the parsed value."""
    parse: Callable[[str], Any]
    """Returns the parsed value, or Wrong."""
    meaning: str
    """One line for the docs."""
    default: str
    """The default as the docs show it, in Markdown."""
    only: str = ""
    """The only kind of object that supports the annotation, or "" if every kind does."""
    adopted: bool = True
    """Whether `adopt` derives the value from an Ingress instead of keeping the Service's value."""


# fmt: off
TABLE = {
    # key: field, parser, meaning, default, optional fields
    HTTP: Annotation("http", parse_boolean, '`"true"` exposes the Service through an Ingress or HTTPRoutes.', "off"),
    PROFILE: Annotation("profile", checked(wrong_name),
        "The [profile](profiles.md), which the other annotations override.", "`defaults.profile`", adopted=False),
    HOST: Annotation("hosts", parse_hosts,
        "Comma-separated hosts; `*.example.org` is a wildcard; `*` matches all other hosts.", "`defaults.host`"),
    PATH: Annotation("path", checked(wrong_absolute_path), "The path.", "`/`"),
    PATH_TYPE: Annotation("path_type", checked(wrong_path_type),
        "`Prefix`, `Exact`, or, if allowed, `ImplementationSpecific`.", "`Prefix`"),
    PORT: Annotation("port", checked(wrong_port),
        "The name or number of the port that serves HTTP.", "[inferred](#ports)"),
    CLASS: Annotation("ingress_class", checked(wrong_name), "The IngressClass.", "`defaults.class`", only="Ingress"),
    TLS: Annotation("tls", parse_boolean,
        '`"true"` enables TLS for the whole [entrance](#several-entrances).', "`defaults.tls.enabled`"),
    SECRET: Annotation("tls_secret", checked(wrong_name),
        "The Secret with the certificate; enables TLS.", "`defaults.tls.secret`"),
    REDIRECT: Annotation("tls_redirect", parse_boolean,
        '`"true"` redirects http to https (HTTPRoutes only).', "`defaults.tls.redirect`",
        only="HTTPRoute", adopted=False),
    ROUTES: Annotation("routes", parse_routes,
        "A YAML list of `{host, path, pathType, port}`; the other annotations set the fields that a route omits.",
        "one route"),
}
# fmt: on
KEYS = tuple(TABLE)
SUFFIXES = [key.removeprefix(PREFIX) for key in KEYS]
SINGLE_KIND = {key: row for key, row in TABLE.items() if row.only}


def parse(annotations: Mapping[str, str], prefix: str = "") -> Requested:
    """Parse one entrance's ingress/… annotations. Their keys omit the entrance's `prefix`, which messages add."""
    unknown = [key for key in annotations if key not in TABLE]
    problems = Problems(more=max(0, len(unknown) - MOST_KEPT))
    for key in unknown[:MOST_KEPT]:
        suggestion = nearest(key.removeprefix(PREFIX), SUFFIXES)
        instead = f"did you mean {prefix}{PREFIX}{suggestion}?" if suggestion else "remove it"
        sentence = f"{prefix}{key} is not an annotation for Services; {instead}"
        problems.add(sentence, Reason.UNKNOWN_ANNOTATION, prefix + key)
    values: dict[str, Any] = {}
    for key in filter(annotations.__contains__, KEYS):
        parsed = TABLE[key].parse(annotations[key])
        if isinstance(parsed, Wrong):
            # ingress/routes can have many lines; its message names the wrong route.
            shown = "" if key == ROUTES else f" {quoted(annotations[key])}"
            problems.add(f"{prefix}{key}:{shown} {parsed}", annotation=prefix + key)
        else:
            values[TABLE[key].field] = parsed
    return Requested(problems=problems, **values)


# Entrances.

LONGEST_ENTRANCE = 30
"""Characters. An HTTPRoute's name can end in a 32-digit hash or in `redirect`, so an entrance's name must be shorter
than that hash, and differ from `redirect`."""

_ENTRANCE = re.compile(rf"(?!redirect$)[a-z0-9]([-a-z0-9]{{0,{LONGEST_ENTRANCE - 2}}}[a-z0-9])?")


def is_entrance_name(name: str) -> bool:
    return _ENTRANCE.fullmatch(name) is not None


def key_prefix(entrance: str) -> str:
    """Return the prefix of an entrance's keys, such as "internal.", or "" for the main entrance."""
    return f"{entrance}." if entrance else ""


def object_name(entrance: str, service: str) -> str:
    return f"{service}.{entrance}" if entrance else service


def entrance_of(service: str, name: str) -> str:
    """Return the entrance to which an object of a Service belongs. The object's `name` may include its namespace."""
    entrance = f"/{name}".partition(f"/{service}.")[2].partition(".")[0]
    return entrance if is_entrance_name(entrance) else ""


def by_entrance(annotations: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Group the ingress/… annotations by entrance: internal.ingress/host becomes ingress/host under "internal"."""
    described: dict[str, dict[str, str]] = {}
    for key, value in annotations.items():
        start, prefix, word = key.rpartition(PREFIX)
        if prefix and (not start or start[1:].endswith(".")):  # .ingress/host names no entrance
            described.setdefault(start[:-1], {})[PREFIX + word] = value
    return described


def read_entrances(annotations: Mapping[str, str]) -> dict[str, Requested]:
    """Parse the annotations of each entrance that is switched on.

    An entrance is off if ingress/http is absent or "false". It isn't parsed, so a mistake can't prevent its removal.
    """
    described = by_entrance(annotations)
    enabled = [name for name in sorted(described) if described[name].get(HTTP, "false") != "false"]
    names = [name for name in enabled if name]
    if len(names) > MOST_ENTRANCES:
        # There can be thousands: don't parse them.
        sentence = f"this Service has {len(names)} named entrances ({listed(names)}); the limit is {MOST_ENTRANCES}"
        too_many = Requested(problems=Problems([Problem(sentence, annotation=HTTP)]))
        return {name: too_many if name else parse(described[name]) for name in enabled}
    requested = {name: parse(described[name], key_prefix(name)) for name in enabled}
    for name in names:
        if not is_entrance_name(name):
            end = f'at most {LONGEST_ENTRANCE} lowercase letters, digits and hyphens, other than "redirect"'
            sentence = f"{name}.{HTTP}: the prefix must be a name of {end}"
            requested[name].problems.kept.insert(0, Problem(sentence, annotation=f"{name}.{HTTP}"))
    return requested


def without_effect(annotations: Mapping[str, str]) -> list[Problem]:
    """Return one problem that lists all annotations of entrances without ingress/http, or [] if there are none."""
    described = by_entrance(annotations)
    disabled = [name for name in described if HTTP not in described[name] and (not name or is_entrance_name(name))]
    if not (keys := sorted([key_prefix(name) + key for name in disabled for key in described[name]])):
        return []
    parts = [key.rpartition(PREFIX) for key in keys]
    needed = listed([*dict.fromkeys(f'{start}{HTTP}: "true"' for start, _, _ in parts)])
    unknown = [(start, word) for start, _, word in parts if word not in SUFFIXES][:MOST_KEPT]
    typos = [(start, word) for start, word in unknown if PREFIX + nearest(word, SUFFIXES) == HTTP][:1]
    instead = "".join(f"; should {start}{PREFIX}{word} be {start}{HTTP}?" for start, word in typos)
    sentence = f"{listed(keys)} {'have' if keys[1:] else 'has'} no effect because this Service lacks {needed}{instead}"
    return [Problem(sentence, Reason.CONTRADICTION, keys[0])]
