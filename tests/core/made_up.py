"""Random Services and settings: valid, nearly valid, and nonsense."""

import json
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from devcluster.sync_requests import HTTPROUTES, INGRESSES, Object, service
from ingress_manager.core.copying import ANY
from ingress_manager.core.kubernetes import LAST_APPLIED, Spec
from ingress_manager.core.settings import Defaults, Limits, Profile, Settings, Tls
from ingress_manager.core.settings_parser import read
from ingress_manager.core.shape import FieldError
from ingress_manager.core.vocabulary import KNOWN, OLD_CLASS, protects

Texts = st.SearchStrategy[str]
Annotations = st.SearchStrategy[dict[str, str]]

# Values of annotations.

NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
NASTY = st.text(alphabet=st.sampled_from(list("aA0.-*/%:;{}$'\"\\\n\0 ü,[]&!?_@")), max_size=12)
LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
LONGEST_HOST = f"{'a' * 63}.{'0-' * 31}0.{'c' * 63}.{'d' * 53}.example"
HOSTS = st.builds(
    lambda star, labels: star + ".".join([*labels, "example"]),
    st.sampled_from(["", "", "", "*."]),
    st.lists(LABELS, min_size=1, max_size=4),
) | st.sampled_from([LONGEST_HOST, f"*.{LONGEST_HOST[2:]}"])
EVERY_HOST = st.just("*")
HOST_LISTS = st.lists(HOSTS | EVERY_HOST, min_size=1, max_size=3, unique=True).map(",".join)
PATHS = st.sampled_from(["/", "/api", "/a%20b", "/a/", f"/{'a' * 1023}", "/...", "/.a/a./%7B%c3%BC"]) | st.from_regex(
    r"(/[A-Za-z0-9._~!&,=:@-]{1,8}){1,3}/?", fullmatch=True
).filter(lambda path: not {".", ".."} & set(path.split("/")))
PATTERNS_OF_PATHS = st.sampled_from(["/*", "/api/*", "/a(/|$)(.*)", "/v[0-9]{1,3}\\.x$", "/a.*b?", "/%zz//.."])
PATH_TYPES = st.sampled_from(["Prefix", "Exact", "ImplementationSpecific"])
CLASSES = st.sampled_from(["nginx", "internal"])
PROFILE_NAMES = st.sampled_from(["internal", "public", "sso"])
SWITCH = st.sampled_from(["true", "false"])
LABEL_SETS = st.dictionaries(
    st.sampled_from(["team", "app", "example.com/tier"]), st.sampled_from(["a", "b", "B_2.c", ""]), max_size=3
)
PORT_NAMES = st.sampled_from(["http", "web", "metrics"])
PORT_NUMBERS = st.sampled_from([80, 8080, 9090])
PORTS = st.fixed_dictionaries(
    {"port": PORT_NUMBERS | st.integers(1, 65535)},
    optional={
        "name": PORT_NAMES | NAMES,
        "protocol": st.sampled_from(["TCP", "TCP", "UDP", "SCTP"]),
        "appProtocol": st.sampled_from(["http", "https", "kubernetes.io/h2c"]),
    },
)
PORTS_ASKED_FOR = PORT_NAMES | PORT_NUMBERS.map(str)
ROUTE = {"host": HOSTS | EVERY_HOST, "path": PATHS | PATTERNS_OF_PATHS, "pathType": PATH_TYPES, "port": PORTS_ASKED_FOR}
WORDS: dict[str, Texts] = {
    "ingress/http": SWITCH,
    "ingress/host": HOST_LISTS,
    "ingress/path": PATHS | PATTERNS_OF_PATHS,
    "ingress/path-type": PATH_TYPES,
    "ingress/port": PORTS_ASKED_FOR,
    "ingress/class": NAMES | CLASSES,
    "ingress/tls": SWITCH,
    "ingress/tls-secret": NAMES,
    "ingress/tls-redirect": SWITCH,
    "ingress/profile": PROFILE_NAMES,
    "ingress/routes": st.lists(st.fixed_dictionaries({}, optional=ROUTE), min_size=1, max_size=4).map(json.dumps),
}

NGINX, MIDDLEWARES = "nginx.ingress.kubernetes.io", "traefik.ingress.kubernetes.io/router.middlewares"
OTHER_KEYS = [MIDDLEWARES, "haproxy.org/server-ssl", "prometheus.io/scrape", "sticky-sessions"]
CONTROLLER_KEYS = st.sampled_from([*KNOWN, f"{NGINX}/configuration-snippet", f"{NGINX}/auth-url", *OTHER_KEYS])
PROTECTING = ["alb.ingress.kubernetes.io/auth-type", "konghq.com/headers.x-token", "konghq.com/plugins", MIDDLEWARES]
PROTECTING_KEYS = st.sampled_from([f"{NGINX}/auth-url", f"{NGINX}/limit-rps", f"{NGINX}/Auth-of-tomorrow", *PROTECTING])
RIGHT_VALUES = {
    key: st.from_regex(f"(?:{pattern})", fullmatch=True, alphabet=st.characters(codec="ascii"))
    for key, (pattern, _) in KNOWN.items()
}
RIGHT = st.fixed_dictionaries(
    {}, optional={key: values for key, values in RIGHT_VALUES.items() if NGINX in key and not protects(key)}
)
LARGE = st.sampled_from(["&" * 15_000, "\u2028" * 15_000, "x" * 90_000, "\0" * 15_000])

# Services.

HTTP = st.sampled_from(["true", "true", "true", "true", "false"])
MOSTLY_RIGHT = {key: st.one_of(values, values, values, NASTY, st.text(max_size=20)) for key, values in WORDS.items()}
del MOSTLY_RIGHT["ingress/http"]
ANNOTATIONS = st.fixed_dictionaries({"ingress/http": HTTP | st.just("yes")}, optional=MOSTLY_RIGHT)
ON = st.fixed_dictionaries({"ingress/http": st.just("true")})
LITTLE = {key: WORDS[key] for key in ("ingress/host", "ingress/profile", "ingress/tls-secret")}
LITTLE_REQUESTED = st.fixed_dictionaries({"ingress/http": HTTP}, optional=LITTLE)
VALID = {key: WORDS[key] for key in ("ingress/host", "ingress/class", "ingress/tls-secret")} | {
    "ingress/path": PATHS,
    "ingress/path-type": st.sampled_from(["Prefix", "Exact"]),
    "ingress/tls": st.just("true"),
}
OTHERS = st.dictionaries(CONTROLLER_KEYS, st.text(max_size=20) | st.text(max_size=20) | LARGE, max_size=3)
UNKNOWN = st.dictionaries(st.from_regex(r"ingress/[a-z]{1,8}", fullmatch=True), st.text(max_size=9), max_size=1)
ENTRANCE_NAMES = ["internal", "b-2", "a" * 30]
WRONG_ENTRANCE_NAMES = ["redirect", "A", "a.b", "a" * 31, "internal.internal"]


def of_entrances(names: list[str], annotations: Annotations) -> Annotations:
    """Return the annotations of up to two entrances with these names."""
    return st.dictionaries(st.sampled_from(names), annotations, max_size=2).map(
        lambda drawn: {f"{name}.{key}": value for name, values in drawn.items() for key, value in values.items()}
    )


@st.composite
def placed(draw: st.DrawFn, /, *annotations: Annotations, **spec: st.SearchStrategy[Any]) -> Object:
    """Draw a Service with all these annotations, and a random name, namespace and labels."""
    drawn = {key: value for strategy in annotations for key, value in draw(strategy).items()}
    fields = {"ports": [{"port": 80}]} | {field: draw(values) for field, values in spec.items()}
    made = service(drawn, **fields)
    namespace = draw(st.sampled_from(["team-a", "team-a", "team-b", "team-c"]))
    made["metadata"] |= {"namespace": namespace, "labels": draw(LABEL_SETS), "name": draw(NAMES)}
    return made


def services() -> st.SearchStrategy[Object]:
    """Return Services that may be invalid in any way."""
    entrances = of_entrances(ENTRANCE_NAMES * 3 + WRONG_ENTRANCE_NAMES, ANNOTATIONS)
    types = st.sampled_from(["ClusterIP", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])
    return placed(ANNOTATIONS, OTHERS, UNKNOWN, entrances, type=types, ports=st.lists(PORTS, max_size=4))


def valid_services() -> st.SearchStrategy[Object]:
    """Return valid Services, which get an Ingress if the settings allow it."""
    return placed(ON, st.fixed_dictionaries({}, optional=VALID), RIGHT)


WITH_ENTRANCES = placed(LITTLE_REQUESTED, of_entrances(ENTRANCE_NAMES, LITTLE_REQUESTED))
"""Services with other entrances. Each has few annotations, so that settings often allow all of them."""

PROFILES = st.fixed_dictionaries({"ingress/profile": PROFILE_NAMES})
PROTECTION = st.dictionaries(PROTECTING_KEYS, st.sampled_from(["1", "2"]), min_size=1, max_size=2)
PROTECTED = placed(ON, PROFILES | st.just({}), PROTECTION)
"""Services with protecting annotations and otherwise without mistakes."""

WITH_PROFILE = placed(ON, st.fixed_dictionaries({}, optional=VALID), RIGHT, PROFILES)
ANY_SERVICES = st.one_of(services(), valid_services(), WITH_PROFILE, WITH_ENTRANCES)

# Settings: plain values, to be parsed.


def limit(values: Texts) -> st.SearchStrategy[Any]:
    return st.just(ANY) | st.lists(values.filter(lambda value: value != ANY), min_size=1, max_size=3)


PATTERNS = HOSTS | st.sampled_from(["*", "*.example", "*.a.example", "*.{namespace}.example", "{namespace}.example"])
TEMPLATES = st.sampled_from(["example.com", "{service}.{namespace}.example", "*.{service}.example", "*"])
COPIED = RIGHT_VALUES | {key: st.sampled_from(["1", "2"]) for key in (f"{NGINX}/auth-url", *OTHER_KEYS, *PROTECTING)}
ADDED = st.dictionaries(CONTROLLER_KEYS, st.text(max_size=9), max_size=2)
LISTENERS = st.sampled_from(["http", "https", "web", None])
GATEWAY = {"name": NAMES, "namespace": LABELS, "http": LISTENERS, "https": LISTENERS}
GATEWAYS = st.fixed_dictionaries(GATEWAY, optional={"listenerSets": st.just({"port": 443})})
TLS = {"enabled": st.booleans(), "secret": st.none() | NAMES | st.just("{service}-tls"), "annotations": ADDED}
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "host": TEMPLATES,
    "class": st.none() | CLASSES,
    "tls": st.fixed_dictionaries({}, optional=TLS),
    "annotations": ADDED,
    "labels": LABEL_SETS,
    "outputs": st.sampled_from([["ingress"], ["ingress"], ["httproute"], ["ingress", "httproute"]]),
    "gateway": GATEWAYS,
}
FILTER = {"type": "ExtensionRef", "extensionRef": {"group": "traefik.io", "kind": "Middleware", "name": "sso"}}
LOSSES = st.lists(PROTECTING_KEYS, max_size=7)
ONLY_HTTPROUTES = {
    "filters": st.just([FILTER]) | st.just([]),
    "timeouts": st.just({"request": "60s"}),
    "retry": st.fixed_dictionaries({"attempts": st.integers(0, 3)}, optional={"codes": st.just([502, 503])}),
}
LIMITS = {
    "hosts": limit(PATTERNS),
    "classes": limit(CLASSES),
    "pathTypes": st.lists(PATH_TYPES, min_size=1, unique=True) | st.just(["Prefix", "Exact", "ImplementationSpecific"]),
    "copyAnnotations": st.fixed_dictionaries({}, optional={key: limit(values) for key, values in COPIED.items()}),
    "acceptedLosses": LOSSES,
}
PROFILE = st.fixed_dictionaries({}, optional=COMMON | ONLY_HTTPROUTES | {"acceptedLosses": LOSSES})


def fields_of_defaults(names: list[str]) -> dict[str, st.SearchStrategy[Any]]:
    """Return the valid values of each default, if profiles of these names exist."""
    return COMMON | {"profile": st.sampled_from([None, *names])}


def defaults(names: list[str], **needed: st.SearchStrategy[Any]) -> st.SearchStrategy[Object]:
    """Return defaults for settings with these profiles; one in three sets the class by annotation."""
    optional = fields_of_defaults(names)
    made = st.fixed_dictionaries(needed, optional={key: optional[key] for key in optional if key not in needed})
    classed = st.builds(
        lambda plain, name: plain | {"class": None, "annotations": plain.get("annotations", {}) | {OLD_CLASS: name}},
        made,
        CLASSES,
    )
    return made | made | classed


@st.composite
def plain_settings(draw: st.DrawFn) -> Object:
    """Draw settings that rarely contradict themselves."""
    profiles = draw(st.dictionaries(PROFILE_NAMES, PROFILE, max_size=2))
    for profile in profiles.values():
        if ONLY_HTTPROUTES.keys() & profile.keys():
            outputs = draw(st.sampled_from([["httproute"], ["ingress", "httproute"]]))
            profile |= {"outputs": outputs, "annotations": profile.get("annotations", {})}
        elif profile.get("class"):
            profile.setdefault("annotations", {})
    names = sorted(profiles)
    limits = st.fixed_dictionaries({}, optional=LIMITS | ({"profiles": limit(st.sampled_from(names))} if names else {}))
    entries = st.fixed_dictionaries({}, optional={"defaults": defaults(names), "limits": limits})
    return {
        "defaults": draw(defaults(names, gateway=GATEWAYS)),
        "limits": draw(limits),
        "profiles": profiles,
        "namespaces": draw(st.dictionaries(st.sampled_from(["team-a", "team-b", "team-*"]), entries, max_size=2)),
    }


@st.composite
def settings(draw: st.DrawFn) -> Settings:
    """Draw complete settings that the hook would start with."""
    try:
        return read(draw(plain_settings()))
    except FieldError:
        reject()


# Nonsense.

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({field for cls in (Settings, Defaults, Limits, Profile, Tls) for field in cls.__struct_encode_fields__})
YAML = st.lists(
    st.sampled_from(["\n", "\n  ", ": ", "- ", "[", "]", "{", "}", "# ", "&a ", "*a", "!!str ", "<<", "'", "~", "0x1"])
    | st.sampled_from(FIELDS)
    | NASTY,
    max_size=20,
).map("".join)


@st.composite
def spoiled(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> Any:
    """Draw a JSON value with one part, anywhere in it, replaced by an arbitrary value."""
    made = draw(values)
    if made and isinstance(made, dict | list) and draw(st.integers(0, 4)):
        made = made.copy()
        at = draw(st.sampled_from(sorted(made) if isinstance(made, dict) else range(len(made))))
        made[at] = draw(spoiled(st.just(made[at])))
        return made
    return draw(ANYTHING)


EVIL = {
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "evil", "namespace": "kube-system"},
    "spec": {"hostnames": ["evil.example"], "rules": [{"host": "evil.example"}]},
    "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"},
}


@st.composite
def forged(draw: st.DrawFn, observed: list[Object]) -> Object:
    """Draw the `attachments` of a request with these objects after someone has tampered with them."""
    attached: Object = {INGRESSES: {}, HTTPROUTES: {}}
    for item in observed:
        metadata = item["metadata"]
        record = json.loads(metadata["annotations"][LAST_APPLIED])
        written = draw(st.sampled_from([json.dumps(value) for value in (EVIL, record, record | EVIL)]) | NASTY)
        annotations = metadata["annotations"] | {LAST_APPLIED: written}
        made = draw(st.just(item) | spoiled(st.just(item)).filter(lambda made: isinstance(made, dict)))
        key = f"{metadata['namespace']}/{metadata['name']}"
        keys = st.sampled_from([*[key] * 5, "team-b/private", f"team-b/{key}", f"{key}.private", "private", "", "/"])
        kind = draw(st.sampled_from([INGRESSES, HTTPROUTES]))
        attached[kind][draw(keys)] = made | {"metadata": metadata | {"annotations": annotations}}
    return attached


# Values that the API server stores but no decision depends on.

TIMES = NASTY | st.sampled_from(
    [
        None,
        "2026-11-21T10:59:00Z",
        "2026-11-21T10:59:00.123456789Z",
        "2016-12-31T23:59:60Z",
        "9999-12-31T23:59:59Z",
        "10000-01-01T11:59:59Z",
        "292277026596-12-04T15:30:08Z",
        "0001-01-01T00:00:00Z",
        "0000-12-31T10:00:00Z",
        "-0001-01-01T00:00:00Z",
    ]
)
"""Includes times that an offset or protobuf moves out of Python's range, the years 1 to 9999."""

LARGE_NUMBERS = st.integers(-(2**80), 2**80)
MANAGED = st.fixed_dictionaries({"manager": NASTY, "time": TIMES, "fieldsV1": ANYTHING})
ODD_METADATA = {
    "creationTimestamp": TIMES,
    "deletionTimestamp": TIMES,
    "deletionGracePeriodSeconds": LARGE_NUMBERS,
    "finalizers": st.none(),
    "managedFields": st.none() | st.lists(MANAGED, max_size=3),
}
ODD_SPEC = {"sessionAffinity": NASTY, "healthCheckNodePort": LARGE_NUMBERS, "later": ANYTHING}
LISTS_AND_MAPS = sorted({*Spec.__struct_encode_fields__, "ports", "annotations", "labels"})


@st.composite
def odd(draw: st.DrawFn, stored: Object) -> Object:
    """Draw a Service or attachment with values in unused fields, and null in some absent ones."""
    nulls = dict.fromkeys(draw(st.sets(st.sampled_from(LISTS_AND_MAPS))))
    metadata = nulls | draw(st.fixed_dictionaries({}, optional=ODD_METADATA)) | stored["metadata"]
    spec = nulls | draw(st.fixed_dictionaries({}, optional=ODD_SPEC)) | stored["spec"]
    return stored | {"metadata": metadata, "spec": spec, "status": draw(ANYTHING)}
