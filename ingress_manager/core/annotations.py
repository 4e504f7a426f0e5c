"""The annotations of a Service: what its owner asks for.

`TABLE` is all there is to know about the annotations: `read` parses by it, and docs/annotations.md is made from it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ingress_manager.core.errors import MOST_KEPT, Problem, Reason
from ingress_manager.core.strict_yaml import load_text
from ingress_manager.core.syntax import check_absolute_path, check_host, check_name
from ingress_manager.core.text import did_you_mean, quoted

PREFIX = "ingress/"
PROFILE = "ingress/profile"
"""The annotation of a Service that asks for a profile, and the one of what we make that says which it has."""

PATH_TYPES = ("Prefix", "Exact", "ImplementationSpecific")
MOST_HOSTS = 100
MOST_ROUTES = 100
LONGEST_LIST = 32 * 1024
MOST_YAML_NODES = 1000
"""100 routes have 901: the list, and for each route a mapping with four keys and four values."""


class Route(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One route of ingress/routes; what is None comes from the other annotations."""

    host: str | None = None
    path: str | None = None
    path_type: str | None = msgspec.field(name="pathType", default=None)
    port: str | None = None


ONE_ROUTE = (Route(),)
"""The routes where ingress/routes states none: one, which states nothing by itself."""


class Stated(msgspec.Struct, frozen=True, gc=False):
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
    problems: tuple[Problem, ...] = ()
    """What is wrong with the annotations. A field whose annotation is wrong is None."""

    more_problems: int = 0
    """How many problems there are beyond those in `problems`."""

    def has_wrong(self, annotation: str) -> bool:
        """Return whether the annotation has a value that can't be read."""
        return bool(self.problems) and any(problem.annotation == annotation for problem in self.problems)


# Each parser returns what the value of an annotation means. It raises Problem with the end of a sentence; whoever calls
# it puts the annotation in front.


def parse_boolean(value: str) -> bool:
    """Return True for "true" and False for "false"."""
    if value not in {"true", "false"}:
        raise Problem('must be "true" or "false"')
    return value == "true"


def parse_hosts(value: str) -> tuple[str, ...]:
    """Return the hosts of a comma-separated list. Each must be valid, and listed once."""
    count = value.count(",") + 1
    if count > MOST_HOSTS:
        raise Problem(f"lists {count} hosts; {MOST_HOSTS} is the most")
    hosts = tuple(host.strip(" ") for host in value.split(","))
    for host in hosts:
        try:
            check_host(host)
        except Problem as problem:
            raise (problem if count == 1 else problem.about(f"lists {quoted(host)}, which")) from None
        if hosts.count(host) > 1:
            raise Problem(f"lists {host} twice")
    return hosts


def parse_path_type(value: str) -> str:
    """Return one of Kubernetes' path types."""
    if value not in PATH_TYPES:
        raise Problem(f"must be {', '.join(PATH_TYPES[:-1])} or {PATH_TYPES[-1]}{did_you_mean(value, PATH_TYPES)}")
    return value


def parse_port(value: str) -> str:
    """Return the name or number of a port; whether the Service has it is checked later."""
    if not value:
        raise Problem("must be the name or number of a port")
    return value


def parse_routes(value: str) -> tuple[Route, ...]:
    """Return the routes of a YAML list of {host, path, pathType, port}."""
    if len(value) > LONGEST_LIST:
        raise Problem(f"has {len(value)} characters; {LONGEST_LIST} is the most")
    routes = load_text(value, MOST_YAML_NODES)
    if not isinstance(routes, list) or not routes:
        raise Problem(f"must be a YAML list of {{{', '.join(ROUTE_FIELDS)}}}")
    if len(routes) > MOST_ROUTES:
        raise Problem(f"lists {len(routes)} routes; {MOST_ROUTES} is the most")
    for number, fields in enumerate(routes, start=1):
        check_fields(f"route {number}", fields)
    return tuple([msgspec.convert(fields, Route) for fields in routes])


def check_fields(route: str, fields: Any) -> None:
    """Raise Problem when a route is no mapping, or has a field that is not as it should be."""
    if not isinstance(fields, dict):
        raise Problem(f"{route} must be a mapping of {', '.join(ROUTE_FIELDS)}")
    for field, value in fields.items():
        if field not in ROUTE_FIELDS:
            instead = did_you_mean(field, ROUTE_FIELDS) or f"; it may have {', '.join(ROUTE_FIELDS)}"
            raise Problem(f"{route} has a field {quoted(str(field))}{instead}")
        if not isinstance(value, str):
            raise Problem(f"{route}: {field} must be text, not a list or a mapping")
        try:
            ROUTE_FIELDS[field](value)
        except Problem as problem:
            raise problem.about(f"{route}: {field} {quoted(value)}") from None


ROUTE_FIELDS: dict[str, Callable[[str], str]] = {
    "host": check_host,
    "path": check_absolute_path,
    "pathType": parse_path_type,
    "port": parse_port,
}


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table."""

    key: str
    field: str
    """The field of Stated that holds what the annotation says."""

    parse: Callable[[str], Any]
    """Returns the field's value. Raises Problem with the end of a sentence that begins with the annotation."""

    meaning: str
    """What it decides, in one line, for the docs."""

    value: str
    """What may be written, for the docs."""

    default: str
    """What holds without it, for the docs."""

    shows_value: bool = True
    """Whether a refusal quotes the value. A value of many lines isn't quoted: the refusal says where the mistake is."""


HTTP = Annotation(
    key="ingress/http",
    field="http",
    parse=parse_boolean,
    meaning="Whether the Service gets an Ingress.",
    value='`"true"` or `"false"`',
    default="off",
)
TABLE = (
    HTTP,
    Annotation(
        key=PROFILE,
        field="profile",
        parse=check_name,
        meaning="Which profile says what the annotations below leave out.",
        value="the name of an allowed profile",
        default="settings `defaults.profile`",
    ),
    Annotation(
        key="ingress/host",
        field="hosts",
        parse=parse_hosts,
        meaning="Its hosts.",
        value="hosts, with commas between; `*.` is a wildcard; `*`: every host that no other rule names",
        default="settings `defaults.host`",
    ),
    Annotation(
        key="ingress/path",
        field="path",
        parse=check_absolute_path,
        meaning="Its path.",
        value="an absolute path",
        default="`/`",
    ),
    Annotation(
        key="ingress/path-type",
        field="path_type",
        parse=parse_path_type,
        meaning="How the path is compared.",
        value="`Prefix` or `Exact`; `ImplementationSpecific` where `limits.pathTypes` allow it",
        default="`Prefix`",
    ),
    Annotation(
        key="ingress/port",
        field="port",
        parse=parse_port,
        meaning="Which of the Service's ports serves HTTP.",
        value="the name or number of a port",
        default="inferred",
    ),
    Annotation(
        key="ingress/class",
        field="ingress_class",
        parse=check_name,
        meaning="Which ingress controller serves it.",
        value="the name of an allowed IngressClass",
        default="settings `defaults.class`",
    ),
    Annotation(
        key="ingress/tls",
        field="tls",
        parse=parse_boolean,
        meaning="Whether its hosts are served with TLS.",
        value='`"true"` or `"false"`',
        default="settings `defaults.tls.enabled`",
    ),
    Annotation(
        key="ingress/tls-secret",
        field="tls_secret",
        parse=check_name,
        meaning="The Secret with its certificate; turns TLS on.",
        value="the name of a Secret in its namespace",
        default="settings `defaults.tls.secret`",
    ),
    Annotation(
        key="ingress/tls-redirect",
        field="tls_redirect",
        parse=parse_boolean,
        meaning="Whether http is redirected to https; HTTPRoutes only.",
        value='`"true"` or `"false"`',
        default="settings `defaults.tls.redirect`",
    ),
    Annotation(
        key="ingress/routes",
        field="routes",
        parse=parse_routes,
        meaning="Several routes; the annotations above give the fields that are left out.",
        value="a YAML list of `{host, path, pathType, port}`",
        default="one route",
        shows_value=False,
    ),
)
ROWS = {annotation.key: annotation for annotation in TABLE}
KEYS = tuple(ROWS)
GONE = {"ingress/certificates": "ingress/tls-secret", "ingress/default-backend": 'ingress/host: "*"'}
"""What to say instead of an annotation that isn't there any more."""


def read(annotations: Mapping[str, str]) -> Stated | None:
    """Return what the annotations ask for, with all that is wrong with them; None when they ask for no Ingress.

    Opting out wins over every mistake: without ingress/http, or with "false", nothing else is looked at.
    """
    return parse(annotations) if is_on(annotations) else None


def is_on(annotations: Mapping[str, str]) -> bool:
    """Return whether the annotations ask for an Ingress, or may do so with a mistake."""
    return annotations.get(HTTP.key, "false") != "false"


def parse(annotations: Mapping[str, str]) -> Stated:
    """Return what the annotations say, with all that is wrong with them."""
    unknown = []
    found: dict[str, Any] = {}
    wrong: dict[str, Problem] = {}
    for key, value in annotations.items():
        if annotation := ROWS.get(key):
            try:
                found[annotation.field] = annotation.parse(value)
            except Problem as problem:
                subject = f"{key}: {quoted(value)}" if annotation.shows_value else f"{key}:"
                wrong[key] = problem.about(subject, key)
        elif key.startswith(PREFIX):
            unknown.append(key)
    found.pop(HTTP.field, None)
    if not unknown and not wrong:
        return Stated(**found)
    shown = [unknown_annotation(key) for key in unknown[:MOST_KEPT]]
    problems = (*shown, *[wrong[key] for key in KEYS if key in wrong])
    return Stated(problems=problems, more_problems=len(unknown) - len(shown), **found)


def unknown_annotation(key: str) -> Problem:
    """Return the problem with a key that begins with ingress/ and isn't in the table."""
    instead = f"; say {GONE[key]} instead" if key in GONE else did_you_mean(key, KEYS, PREFIX)
    return Problem(f"{key} is not an annotation of ingress-manager{instead}", Reason.UNKNOWN_ANNOTATION, key)
