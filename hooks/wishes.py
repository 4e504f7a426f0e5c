"""The wishes: what a Service's annotations say. The Service's owner decides here; nobody else.

`TABLE` is all there is to know about the annotations: parsing, error texts and docs/annotations.md come from it.
"""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import msgspec

from hooks import strict_yaml, syntax
from hooks.answers import quoted

PREFIX = "ingress/"
PATH_TYPES = ("Prefix", "Exact", "ImplementationSpecific")
MOST_HOSTS = 100
MOST_ROUTES = 100
LONGEST_ROUTES = 32 * 1024
MOST_MEANT = 20
"""Of so many unknown annotations the nearest known one is looked for; more would not fit into a refusal anyway."""


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One route of ingress/routes; what is None comes from the other annotations."""

    host: str | None = None
    path: str | None = None
    path_type: str | None = msgspec.field(name="pathType", default=None)
    port: str | None = None


class Wishes(msgspec.Struct, frozen=True):
    """What is None is left to the settings, or to the Service's ports."""

    problems: dict[str, str] = {}
    """What is wrong, by the annotation that could not be read. Its field below then means nothing."""

    hosts: tuple[str, ...] | None = None
    path: str | None = None
    path_type: str | None = None
    port: str | None = None
    ingress_class: str | None = None
    tls: bool | None = None
    tls_secret: str | None = None
    routes: tuple[Route, ...] | None = None


def boolean(value: str) -> bool:
    """Return the truth of "true" or "false"."""
    if value not in {"true", "false"}:
        raise ValueError('must be "true" or "false"')
    return value == "true"


def checked(check: Callable[[str], str | None]) -> Callable[[str], str]:
    """Return a parser that takes the text as it is, if `check` finds nothing wrong with it."""

    def parse(value: str) -> str:
        if problem := check(value):
            raise ValueError(problem)
        return value

    return parse


def hosts(value: str) -> tuple[str, ...]:
    """Return the hosts of a comma-separated list; each must be right, and stand there once."""
    listed = tuple(host.strip(" ") for host in value.split(","))
    if len(listed) > MOST_HOSTS:
        raise ValueError(f"lists {len(listed)} hosts; {MOST_HOSTS} is the most")
    for host in listed:
        if problem := syntax.host_problem(host):
            raise ValueError(problem if len(listed) == 1 else f"lists {quoted(host)}, which {problem}")
        if listed.count(host) > 1:
            raise ValueError(f"lists {host} twice")
    return listed


def path_type(value: str) -> str:
    """Return one of Kubernetes' path types."""
    if value not in PATH_TYPES:
        raise ValueError(f"must be {', '.join(PATH_TYPES[:-1])} or {PATH_TYPES[-1]}{meant(value, PATH_TYPES)}")
    return value


def port(value: str) -> str:
    """Return the text that names or numbers a port; whether the Service has it is seen later."""
    if not value:
        raise ValueError("must be the name or number of a port")
    return value


def routes(value: str) -> tuple[Route, ...]:
    """Return the routes of a YAML list of {host, path, pathType, port}."""
    if len(value) > LONGEST_ROUTES:
        raise ValueError(f"has {len(value)} characters; {LONGEST_ROUTES} is the most")
    listed = strict_yaml.text(value)
    if not isinstance(listed, list) or not listed:
        raise ValueError("must be a YAML list of {host, path, pathType, port}")
    if len(listed) > MOST_ROUTES:
        raise ValueError(f"lists {len(listed)} routes; {MOST_ROUTES} is the most")
    return tuple(route(number, fields) for number, fields in enumerate(listed, start=1))


FIELDS: dict[str, Callable[[str], str]] = {
    "host": checked(syntax.host_problem),
    "path": checked(syntax.path_problem),
    "pathType": path_type,
    "port": port,
}


def route(number: int, fields: Any) -> Route:
    """Return the `number`th route of a list."""
    if not isinstance(fields, dict):
        raise ValueError(f"route {number} must be a mapping, as in {{host: shop.example.com, path: /}}")
    for field, value in fields.items():
        if field not in FIELDS:
            instead = meant(field, FIELDS) or f"; it may have {', '.join(FIELDS)}"
            raise ValueError(f"route {number} has a field {quoted(str(field))}{instead}")
        if not isinstance(value, str):
            raise ValueError(f"route {number}: {field} must be text, not a list or a mapping")
        try:
            FIELDS[field](value)
        except ValueError as error:
            raise ValueError(f"route {number}: {field} {quoted(value)} {error}") from error
    return msgspec.convert(fields, Route)


class Annotation(msgspec.Struct, frozen=True):
    """A row of the table."""

    key: str
    field: str
    """Of Wishes."""

    parse: Callable[[str], Any]
    """Returns the field's value. Raises ValueError with the rest of a sentence that begins with the annotation."""

    value: str
    """What may be written, for the docs."""

    default: str
    """What holds without it, for the docs."""

    meaning: str
    """One line, for the docs."""

    shown: bool = True
    """Whether an error text quotes the value; for one of many lines, the error says where in it."""


HTTP = Annotation(
    "ingress/http",
    "http",
    boolean,
    '`"true"` or `"false"`',
    "off",
    "Whether the Service gets an Ingress at all.",
)
TABLE = (
    HTTP,
    Annotation(
        "ingress/host",
        "hosts",
        hosts,
        "a host, or hosts with commas between; `*.` wildcard allowed",
        "settings `host`",
        "Under which names the Service is reached.",
    ),
    Annotation(
        "ingress/path",
        "path",
        checked(syntax.path_problem),
        "an absolute path",
        "`/`",
        "Below which path it is reached.",
    ),
    Annotation(
        "ingress/path-type",
        "path_type",
        path_type,
        "`Prefix`, `Exact` or `ImplementationSpecific`",
        "`Prefix`",
        "How the path is compared with that of a request.",
    ),
    Annotation(
        "ingress/port",
        "port",
        port,
        "the name or number of a port of the Service",
        "inferred",
        "Which of the Service's ports serves HTTP.",
    ),
    Annotation(
        "ingress/class",
        "ingress_class",
        checked(syntax.name_problem),
        "the name of an IngressClass",
        "settings `class`",
        "Which ingress controller serves it.",
    ),
    Annotation(
        "ingress/tls",
        "tls",
        boolean,
        '`"true"` or `"false"`',
        "settings `tls.enabled`",
        "Whether its hosts are served with TLS.",
    ),
    Annotation(
        "ingress/tls-secret",
        "tls_secret",
        checked(syntax.name_problem),
        "the name of a Secret in the Service's namespace",
        "settings `tls.secret`",
        "Where the certificate is; turns TLS on.",
    ),
    Annotation(
        "ingress/routes",
        "routes",
        routes,
        "a YAML list of `{host, path, pathType, port}`",
        "one route",
        "Several routes; a field left out comes from the annotations above.",
        shown=False,
    ),
)
KEYS = tuple(annotation.key for annotation in TABLE)


def wishes(annotations: dict[str, str]) -> Wishes | None:
    """Return what the annotations ask for, with all that is wrong with them; None when they ask for no Ingress.

    Opting out wins over every mistake: without ingress/http, or with "false", nothing else is looked at.
    """
    if annotations.get(HTTP.key, "false") == "false":
        return None
    found: dict[str, Any] = {}
    unknown = [key for key in annotations if key.startswith(PREFIX) and key not in KEYS]
    problems = {
        key: f"{key} is not an annotation of ingress-manager{meant(key, KEYS) if number < MOST_MEANT else ''}"
        for number, key in enumerate(unknown)
    }
    for annotation in TABLE:
        value = annotations.get(annotation.key)
        if value is not None:
            try:
                found[annotation.field] = annotation.parse(value)
            except ValueError as error:
                shown = f"{quoted(value)} " if annotation.shown else ""
                problems[annotation.key] = f"{annotation.key}: {shown}{error}"
    found.pop(HTTP.field, None)
    return Wishes(problems, **found)


def meant(word: str, words: Any) -> str:
    """Return "; did you mean …?" with the one of `words` that is nearest to `word`, or nothing if none is near."""
    stems = {known.removeprefix(PREFIX): known for known in words}
    near = get_close_matches(word.removeprefix(PREFIX), stems, n=1)
    return f"; did you mean {stems[near[0]]}?" if near else ""
