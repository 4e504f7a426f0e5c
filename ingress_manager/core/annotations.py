"""The annotations of a Service: what its owner asks for.

`TABLE` is all there is to know about the annotations: `parse` reads by it, and docs/annotations.md is made from it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from ingress_manager.core.bounds import LONGEST_LIST, MOST_HOSTS, MOST_ROUTES, MOST_YAML_NODES
from ingress_manager.core.errors import MOST_KEPT, Problem, Problems, Reason
from ingress_manager.core.strict_yaml import YamlError, load_text
from ingress_manager.core.syntax import wrong_absolute_path, wrong_host, wrong_name
from ingress_manager.core.text import nearest, quoted

PREFIX = "ingress/"
PROFILE = "ingress/profile"
"""The annotation of a Service that asks for a profile, and the one of what we make that says which it has."""

PATH_TYPES = ("Prefix", "Exact", "ImplementationSpecific")


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One route of ingress/routes; what is None comes from the other annotations."""

    host: str | None = None
    path: str | None = None
    path_type: str | None = msgspec.field(name="pathType", default=None)
    port: str | None = None


ONE_ROUTE = (Route(),)
"""The routes where ingress/routes states none: one, which states nothing by itself."""


class Stated(msgspec.Struct, frozen=True):
    """What the annotations ask for. What is None is left to the settings, or to the Service's ports."""

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
    """What is wrong with the annotations. A field whose annotation is wrong is None."""


class Wrong(NamedTuple):
    """What a parser returns for a value that it can't read."""

    end: str
    """The end of a sentence that begins with the annotation."""


Parser = Callable[[str], Any]
"""Returns what the value of an annotation means, or Wrong."""


def text(check: Callable[[str], str]) -> Parser:
    """Return a parser of values that mean themselves; `check` returns what is wrong with one."""
    return lambda value: Wrong(end) if (end := check(value)) else value


def parse_boolean(value: str) -> bool | Wrong:
    """Return True for "true" and False for "false"."""
    return value == "true" if value in {"true", "false"} else Wrong('must be "true" or "false"')


def parse_hosts(value: str) -> tuple[str, ...] | Wrong:
    """Return the hosts of a comma-separated list. Each must be valid, and listed once."""
    count = value.count(",") + 1
    if count > MOST_HOSTS:
        return Wrong(f"lists {count} hosts; {MOST_HOSTS} is the most")
    hosts = tuple(host.strip(" ") for host in value.split(","))
    for host in hosts:
        if end := wrong_host(host):
            return Wrong(end if count == 1 else f"lists {quoted(host)}, which {end}")
        if hosts.count(host) > 1:
            return Wrong(f"lists {host} twice")
    return hosts


def wrong_path_type(value: str) -> str:
    """Return what is wrong with one of Kubernetes' path types."""
    return "" if value in PATH_TYPES else f"must be {', '.join(PATH_TYPES[:-1])} or {PATH_TYPES[-1]}"


def wrong_port(value: str) -> str:
    """Return what is wrong with the name or number of a port; whether the Service has it is looked up later."""
    return "" if value else "must be the name or number of a port"


def parse_routes(value: str) -> tuple[Route, ...] | Wrong:
    """Return the routes of a YAML list of {host, path, pathType, port}."""
    if len(value) > LONGEST_LIST:
        return Wrong(f"has {len(value)} characters; {LONGEST_LIST} is the most")
    try:
        routes = load_text(value, MOST_YAML_NODES)
    except YamlError as error:
        return Wrong(str(error))
    if not isinstance(routes, list) or not routes:
        return Wrong(f"must be a YAML list of {{{', '.join(ROUTE_FIELDS)}}}")
    if len(routes) > MOST_ROUTES:
        return Wrong(f"lists {len(routes)} routes; {MOST_ROUTES} is the most")
    for number, fields in enumerate(routes, start=1):
        if end := wrong_fields(fields):
            return Wrong(f"route {number}{end}")
    return tuple([msgspec.convert(fields, Route) for fields in routes])


def wrong_fields(fields: Any) -> str:
    """Return what is wrong with a route, as the end of a sentence; "" if nothing is."""
    if not isinstance(fields, dict):
        return f" must be a mapping of {', '.join(ROUTE_FIELDS)}"
    for field, value in fields.items():
        if field not in ROUTE_FIELDS:
            return f" has a field {quoted(str(field))}; it may have {', '.join(ROUTE_FIELDS)}"
        if not isinstance(value, str):
            return f": {field} must be text, not a list or a mapping"
        if end := ROUTE_FIELDS[field](value):
            return f": {field} {quoted(value)} {end}"
    return ""


_CHECKS = wrong_host, wrong_absolute_path, wrong_path_type, wrong_port
ROUTE_FIELDS = dict(zip(("host", "path", "pathType", "port"), _CHECKS, strict=True))


class Annotation(msgspec.Struct, frozen=True):
    """A row of the table."""

    key: str
    field: str
    """The field of Stated that holds what the annotation says."""

    parse: Parser
    """Returns the field's value."""

    meaning: str
    """What its value says, in one line, for the docs."""

    default: str
    """What holds without it, for the docs."""

    shows_value: bool = True
    """Whether a refusal quotes the value. A value of many lines isn't quoted: the refusal says where the mistake is."""


HTTP = Annotation("ingress/http", "http", parse_boolean, '`"true"`: the Service gets an Ingress.', "off")
# fmt: off
TABLE = (
    # key, field, parser,
    #     what its value says, what holds without it
    HTTP,
    Annotation(PROFILE, "profile", text(wrong_name),
        "The profile, which fills in what the annotations leave out.", "`defaults.profile`"),
    Annotation("ingress/host", "hosts", parse_hosts,
        "The hosts, with commas between; `*.` is a wildcard; `*`: all other hosts.", "`defaults.host`"),
    Annotation("ingress/path", "path", text(wrong_absolute_path), "The path.", "`/`"),
    Annotation("ingress/path-type", "path_type", text(wrong_path_type),
        "`Prefix`, `Exact`, or `ImplementationSpecific`, if it is allowed.", "`Prefix`"),
    Annotation("ingress/port", "port", text(wrong_port),
        "The name or number of the port that serves HTTP.", "[inferred](#ports)"),
    Annotation("ingress/class", "ingress_class", text(wrong_name), "The IngressClass.", "`defaults.class`"),
    Annotation("ingress/tls", "tls", parse_boolean, '`"true"`: TLS for all its hosts.', "`defaults.tls.enabled`"),
    Annotation("ingress/tls-secret", "tls_secret", text(wrong_name),
        "The Secret with its certificate; turns TLS on.", "`defaults.tls.secret`"),
    Annotation("ingress/tls-redirect", "tls_redirect", parse_boolean,
        '`"true"`: http redirects to https; HTTPRoutes only.', "`defaults.tls.redirect`"),
    Annotation("ingress/routes", "routes", parse_routes,
        "A YAML list of `{host, path, pathType, port}`; the other annotations fill in what a route leaves out.",
        "one route", shows_value=False),
)
# fmt: on
ROWS = {annotation.key: annotation for annotation in TABLE}
KEYS = tuple(ROWS)


def is_on(annotations: Mapping[str, str]) -> bool:
    """Return whether the annotations ask for something, or may do so with a mistake.

    Opting out wins over every mistake: without ingress/http, or with "false", nothing else is looked at.
    """
    return annotations.get(HTTP.key, "false") != "false"


def parse(annotations: Mapping[str, str], begin: str = "") -> Stated:
    """Return what the annotations of one entrance say, with all that is wrong with them.

    `begin` is what stands before each key on the Service: internal. for that of another entrance.
    """
    found: dict[str, Any] = {}
    wrong: dict[str, Problem] = {}
    unknown: list[str] = []
    for key, value in annotations.items():
        if annotation := ROWS.get(key):
            parsed = annotation.parse(value)
            if isinstance(parsed, Wrong):
                subject = f"{begin}{key}: {quoted(value)}" if annotation.shows_value else f"{begin}{key}:"
                wrong[key] = Problem(f"{subject} {parsed.end}", annotation=begin + key)
            else:
                found[annotation.field] = parsed
        else:
            unknown.append(key)
    found.pop(HTTP.field, None)
    if not unknown and not wrong:
        return Stated(**found)
    problems = Problems(more=max(0, len(unknown) - MOST_KEPT))
    problems.extend(unknown_annotation(key, begin) for key in unknown[:MOST_KEPT])
    problems.extend(wrong[key] for key in KEYS if key in wrong)
    return Stated(problems=problems, **found)


def unknown_annotation(key: str, begin: str) -> Problem:
    """Return the problem with a key that begins with ingress/ and isn't in the table."""
    near = nearest(key, KEYS, PREFIX)
    instead = f"; did you mean {begin}{near}?" if near else ""
    sentence = f"{begin}{key} is not an annotation of ingress-manager{instead}"
    return Problem(sentence, Reason.UNKNOWN_ANNOTATION, begin + key)
