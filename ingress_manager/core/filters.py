"""The filters and the timeouts that a profile may give to the rules of HTTPRoutes: the Gateway API's own types.

Patterns, lengths, bounds and sizes are in the types. What the functions check are the CRD's rules about several fields.
A field that the API server would default has the same default here, and is written: Metacontroller replaces a list
whole, so a default left out would look like drift.

Source: the Gateway API reference, HTTPRouteFilter and HTTPRouteTimeouts v1, and the CRD's schema (standard channel,
1.6.3). Of its filters RequestRedirect is left out: a rule that has one may not have a backend.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingress_manager.core.kubernetes import Object
from ingress_manager.core.shape import FieldPath, Found
from ingress_manager.core.text import one_line, quoted

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"^{_LABEL}(\.{_LABEL})*$"

# About two texts we are stricter than the CRD. Where the value of a request's header holds a line break, as at the end
# of a YAML block, Traefik answers every request with 500; where a path lacks its slash, it sends `GET v1/a HTTP/1.1`.
NO_CONTROLS = r"^[^\x00-\x08\x0a-\x1f\x7f]*$"
ABSOLUTE = r"^/[^\x00-\x1f\x7f]*$"

HeaderName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=256,
        pattern=r"^[A-Za-z0-9!#$%&'*+\-.^_\x60|~]+$",
        extra={"word": "the name of a header: at most 256 letters, digits, and !#$%&'*+-.^_`|~"},
    ),
]
HeaderValue = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        pattern=NO_CONTROLS,
        extra={"word": "the value of a header: 1 to 4096 characters, no line break or control character among them"},
    ),
]
ObjectName = Annotated[str, Meta(min_length=1, max_length=253)]
Kind = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=63,
        pattern="^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
        extra={"word": "a kind of objects, as in Middleware: at most 63 letters, digits and -"},
    ),
]
Group = Annotated[
    str,
    Meta(
        max_length=253,
        pattern=f"^$|{_SUBDOMAIN}",
        extra={"word": "an API group, as in traefik.io, or empty for that of Services"},
    ),
]
ReplacedPath = Annotated[
    str,
    Meta(max_length=1024, pattern=ABSOLUTE, extra={"word": "a path that begins with /: at most 1024 characters"}),
]
Origin = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=253,
        pattern=r"(^\*$)|(^(http(s)?):\/\/(((\*\.)?([a-zA-Z0-9\-]+\.)*[a-zA-Z0-9-]+|\*)(:([0-9]{1,5}))?)$)",
        extra={"word": "an origin, as in https://example.com or https://*.example.com:8443, or *"},
    ),
]
Method = Literal["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "*"]
Port = Annotated[int, Meta(ge=1, le=65535)]
Percent = Annotated[int, Meta(ge=0, le=100)]
Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Duration = Annotated[
    str,
    Meta(
        pattern="^([0-9]{1,5}(h|m|s|ms)){1,4}$",
        extra={"word": "a duration, as in 10s, 500ms or 1h30m"},
    ),
]

T = TypeVar("T")
UpTo16 = Annotated[tuple[T, ...], Meta(max_length=16)]
UpTo64 = Annotated[tuple[T, ...], Meta(max_length=64)]


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A header with its value."""

    name: HeaderName
    value: HeaderValue


class HeaderModifier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of the headers of a request, or of a response."""

    set: Annotated[UpTo16[Header] | UnsetType, Meta(description="Put in the place of those with these names.")] = UNSET
    add: Annotated[UpTo16[Header] | UnsetType, Meta(description="Added to those with these names.")] = UNSET
    remove: Annotated[UpTo16[str] | UnsetType, Meta(description="The names of those that are removed.")] = UNSET


class MirrorBackend(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The backend to which requests are mirrored."""

    name: ObjectName
    group: Group = ""
    kind: Kind = "Service"
    namespace: Annotated[
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=63,
                pattern=f"^{_LABEL}$",
                extra={"word": "a namespace's name: at most 63 lower-case letters, digits and -"},
            ),
        ]
        | UnsetType,
        Meta(description="Left out: the namespace of the HTTPRoute. Another one must have a ReferenceGrant."),
    ] = UNSET
    port: Annotated[Port | UnsetType, Meta(description="The port of a Service; must be stated for one.")] = UNSET


class Fraction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the requests."""

    numerator: Natural
    denominator: Positive = 100


class RequestMirror(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """Requests are sent to another backend, too, whose responses are ignored."""

    backend_ref: MirrorBackend
    percent: Annotated[Percent | UnsetType, Meta(description="How many of a hundred requests.")] = UNSET
    fraction: Annotated[Fraction | UnsetType, Meta(description="The same as a fraction.")] = UNSET


class PathModifier(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """What becomes of the path. The field that has the name of the type is stated."""

    type: Literal["ReplaceFullPath", "ReplacePrefixMatch"]
    replace_full_path: Annotated[ReplacedPath | UnsetType, Meta(description="In the place of the path.")] = UNSET
    replace_prefix_match: Annotated[
        ReplacedPath | UnsetType, Meta(description="In the place of the prefix that the rule matches.")
    ] = UNSET


class UrlRewrite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the backend sees in the place of the host and the path."""

    hostname: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=253,
                pattern=_SUBDOMAIN,
                extra={"word": "a name of at most 253 lower-case letters, digits, - and ."},
            ),
        ]
        | UnsetType
    ) = UNSET
    path: PathModifier | UnsetType = UNSET


class ExtensionRef(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object of the controller's own, in the namespace of the HTTPRoute, for example a Middleware of Traefik."""

    group: Group
    kind: Kind
    name: ObjectName


class Cors(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """What scripts of other origins may do."""

    allow_origins: UpTo64[Origin] | UnsetType = UNSET
    allow_credentials: bool | UnsetType = UNSET
    allow_methods: Annotated[tuple[Method, ...], Meta(max_length=9)] | UnsetType = UNSET
    allow_headers: UpTo64[HeaderName] | UnsetType = UNSET
    expose_headers: UpTo64[HeaderName] | UnsetType = UNSET
    max_age: Annotated[Positive, Meta(description="Seconds for which a browser remembers the answer.")] = 5


class Filter(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """A filter of HTTPRoute rules. The field that has the name of the type is stated."""

    type: Annotated[
        Literal[
            "RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "URLRewrite", "ExtensionRef", "CORS"
        ],
        Meta(
            extra={
                "word": "one of RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, URLRewrite, "
                "ExtensionRef, CORS (tls.redirect makes redirects)"
            }
        ),
    ]
    request_header_modifier: HeaderModifier | UnsetType = UNSET
    response_header_modifier: HeaderModifier | UnsetType = UNSET
    request_mirror: RequestMirror | UnsetType = UNSET
    url_rewrite: UrlRewrite | UnsetType = UNSET
    extension_ref: ExtensionRef | UnsetType = UNSET
    cors: Cors | UnsetType = UNSET


Filters = UpTo16[Filter]


class Timeouts(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """How long requests may take, by the rules of HTTPRoutes."""

    request: Annotated[
        Duration | UnsetType,
        Meta(description="From a client's request to the end of the response; 0s: as long as it takes."),
    ] = UNSET
    backend_request: Annotated[
        Duration | UnsetType, Meta(description="The same for each request to the Service; at most `request`.")
    ] = UNSET


ONCE = ("RequestHeaderModifier", "ResponseHeaderModifier", "URLRewrite", "CORS")
"""The types that a rule may have only once."""

FIELD_OF = {
    "RequestHeaderModifier": "requestHeaderModifier",
    "ResponseHeaderModifier": "responseHeaderModifier",
    "RequestMirror": "requestMirror",
    "URLRewrite": "urlRewrite",
    "ExtensionRef": "extensionRef",
    "CORS": "cors",
    "ReplaceFullPath": "replaceFullPath",
    "ReplacePrefixMatch": "replacePrefixMatch",
}
"""The field that belongs to a type."""

FEATURES = {
    "responseHeaderModifier": "HTTPRouteResponseHeaderModification",
    "requestMirror": "HTTPRouteRequestMirror",
    "requestMirror.percent": "HTTPRouteRequestPercentageMirror",
    "requestMirror.fraction": "HTTPRouteRequestPercentageMirror",
    "urlRewrite.hostname": "HTTPRouteHostRewrite",
    "urlRewrite.path": "HTTPRoutePathRewrite",
    "cors": "HTTPRouteCORS",
    "request": "HTTPRouteRequestTimeout",
    "backendRequest": "HTTPRouteBackendTimeout",
}
"""The feature of the Gateway API that a field of a filter, or of timeouts, needs: those that not every Gateway has.

Source: the Gateway API's package features, HTTPRouteExtendedFeatures (1.6.3)."""

MULTIPLE_MIRRORS = "HTTPRouteRequestMultipleMirrors"
SCHEME_REDIRECT = "HTTPRouteSchemeRedirect"
"""The features that two mirrors, and redirects to https, need."""

MILLISECONDS = {"h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}


def as_objects(filters: Sequence[Filter]) -> list[Object]:
    """Return the filters as they stand in a rule."""
    objects: list[Object] = _plain(filters)
    return objects


def as_object(timeouts: Timeouts) -> Object:
    """Return the timeouts as they stand in a rule."""
    made: Object = _plain(timeouts)
    return made


def _plain(stated: Any) -> Any:
    # By way of JSON: msgspec.to_builtins would keep the tuples.
    return msgspec.json.decode(msgspec.json.encode(stated))


def rewrites_prefix(filters: Sequence[Filter]) -> bool:
    """Return whether a rule with these filters must have exactly one match, of the type PathPrefix."""
    return any(
        each.url_rewrite and each.url_rewrite.path and each.url_rewrite.path.type == "ReplacePrefixMatch"
        for each in filters
    )


def find_filter_problems(at: FieldPath, filters: Sequence[Filter]) -> Found:
    """Yield what is wrong with filters beyond their types; `at` is where they stand."""
    types = [each.type for each in filters]
    for number, each in enumerate(filters):
        if each.type in ONCE and each.type in types[:number]:
            yield (*at, number, "type"), f": must not be {each.type} a second time"
        yield from _check_type((*at, number), each)
        for name, value in _stated(each):
            if type(value) in CHECKS:
                yield from CHECKS[type(value)]((*at, number, name), value)


def find_timeout_problems(at: FieldPath, timeouts: Timeouts) -> Found:
    """Yield what is wrong with timeouts beyond their types; `at` is where they stand."""
    request, of_backend = timeouts.request, timeouts.backend_request
    if request and of_backend and 0 < _milliseconds(request) < _milliseconds(of_backend):
        end = f": {quoted(of_backend)} must not be longer than the request's {quoted(request)}"
        yield (*at, "backendRequest"), end


def features_of_filters(at: FieldPath, filters: Sequence[Filter]) -> Iterator[tuple[FieldPath, str]]:
    """Yield each field that needs a feature which not every Gateway has, and the name of that feature."""
    for number, each in enumerate(filters):
        for name, stated in _stated(each):
            here = (*at, number, name)
            if name in FEATURES:
                yield here, FEATURES[name]
            if isinstance(stated, RequestMirror | UrlRewrite):
                within = ((inner, FEATURES.get(f"{name}.{inner}")) for inner, _ in _stated(stated))
                yield from (((*here, inner), feature) for inner, feature in within if feature)
    mirrors = [number for number, each in enumerate(filters) if each.request_mirror]
    if len(mirrors) > 1:
        yield (*at, mirrors[1]), MULTIPLE_MIRRORS


def features_of_timeouts(at: FieldPath, timeouts: Timeouts) -> Iterator[tuple[FieldPath, str]]:
    """Yield the same of timeouts."""
    yield from (((*at, name), FEATURES[name]) for name, _ in _stated(timeouts))


def _milliseconds(duration: str) -> int:
    return sum(int(count) * MILLISECONDS[unit] for count, unit in re.findall("([0-9]+)(ms|h|m|s)", duration))


def _stated(struct: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """Yield the fields that are stated, with the names that they have in the settings."""
    for name, attribute in zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True):
        value = getattr(struct, attribute)
        if value is not UNSET:
            yield name, value


def _check_type(at: FieldPath, stated: Filter | PathModifier) -> Found:
    """Yield that the field of the type isn't stated, or one of another type is."""
    right = FIELD_OF[stated.type]
    names = [name for name, _ in _stated(stated) if name != "type"]
    if right not in names:
        yield at, f": must state {right}, as its type is {stated.type}"
    for name in names:
        if name != right:
            yield (*at, name), f": must not be stated, as the type is {stated.type}"


def _check_headers(at: FieldPath, stated: HeaderModifier) -> Found:
    yield from _check_unique((*at, "set"), [header.name for header in stated.set or ()])
    yield from _check_unique((*at, "add"), [header.name for header in stated.add or ()])
    yield from _check_unique((*at, "remove"), stated.remove or ())


def _check_mirror(at: FieldPath, stated: RequestMirror) -> Found:
    backend, fraction = stated.backend_ref, stated.fraction
    if (backend.group, backend.kind) == ("", "Service") and backend.port is UNSET:
        yield (*at, "backendRef"), ": must state port, as it names a Service"
    if fraction and stated.percent is not UNSET:
        yield at, ": must not state both percent and fraction"
    if fraction and fraction.numerator > fraction.denominator:
        end = f": the numerator {fraction.numerator} must be at most the denominator {fraction.denominator}"
        yield (*at, "fraction"), end


def _check_rewrite(at: FieldPath, stated: UrlRewrite) -> Found:
    if stated.path:
        yield from _check_type((*at, "path"), stated.path)


def _check_cors(at: FieldPath, stated: Cors) -> Found:
    for name, values in _stated(stated):
        if isinstance(values, tuple):
            yield from _check_unique((*at, name), values)
            if name != "exposeHeaders" and "*" in values and len(values) > 1:
                yield (*at, name), ": must hold * alone, or not at all"


def _check_unique(at: FieldPath, values: Sequence[str]) -> Found:
    for value in dict.fromkeys(value for number, value in enumerate(values) if value in values[:number]):
        yield at, f": lists {one_line(value)} twice"


CHECKS: Mapping[type, Callable[[FieldPath, Any], Found]] = {
    HeaderModifier: _check_headers,
    RequestMirror: _check_mirror,
    UrlRewrite: _check_rewrite,
    Cors: _check_cors,
}
"""What checks what a filter holds; the types say all about the others."""
