"""Services and settings made up at random: valid ones, nearly valid ones, and nonsense."""

import json
from functools import cache
from typing import Any, TypeVar

import msgspec
from hypothesis import assume
from hypothesis import strategies as st
from yaml import SafeLoader

from devcluster.sync_requests import HTTPROUTES, INGRESSES, Object, service
from ingress_manager.core.copying import ANY, MANAGED_BY_LABEL
from ingress_manager.core.kubernetes import LAST_APPLIED
from ingress_manager.core.policy import (
    HTTPROUTE,
    OUTPUT_NAMES,
    Defaults,
    Gateway,
    Limits,
    NamespaceSettings,
    Policy,
    Profile,
    Tls,
)
from ingress_manager.core.settings import read
from ingress_manager.core.shape import FieldError
from ingress_manager.core.vocabulary import KNOWN, OLD_CLASS, protects

T = TypeVar("T", Defaults, Profile)
NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
NASTY = st.text(alphabet=st.sampled_from(list("aA0.-*/%:;{}$'\"\\\n\0 ü,[]&!?_@")), max_size=12)
LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
LONGEST_HOST = f"{'a' * 63}.{'0-' * 31}0.{'c' * 63}.{'d' * 53}.example"
HOSTS = st.builds(
    lambda star, labels: star + ".".join([*labels, "example"]),
    st.sampled_from(["", "", "", "*."]),
    st.lists(LABELS, min_size=1, max_size=4),
) | st.sampled_from([LONGEST_HOST, f"*.{LONGEST_HOST[2:]}"])
PATHS = st.one_of(
    st.sampled_from(["/", "/api", "/a%20b", "/a/", f"/{'a' * 1023}", "/...", "/.a/a./%7B%c3%BC"]),
    st.from_regex(r"(/[A-Za-z0-9._~!&,=:@-]{1,8}){1,3}/?", fullmatch=True).filter(
        lambda path: not {".", ".."} & set(path.split("/"))
    ),
)
PATTERNS_OF_PATHS = st.sampled_from(["/*", "/api/*", "/a(/|$)(.*)", "/v[0-9]{1,3}\\.x$", "/a.*b?", "/%zz//.."])
PATH_TYPE_NAMES = ["Prefix", "Exact", "ImplementationSpecific"]
PATH_TYPES = st.sampled_from(PATH_TYPE_NAMES)
CLASSES = st.sampled_from(["nginx", "internal"])
PROFILE_NAMES = st.sampled_from(["internal", "public", "sso"])
NAMESPACES = st.sampled_from(["team-a", "team-a", "team-b", "team-c"])
LABEL_KEYS = st.sampled_from(["team", "app", "example.com/tier", "app.kubernetes.io/managed-by"])
OWN_LABEL_KEYS = LABEL_KEYS.filter(lambda key: key != MANAGED_BY_LABEL)
LABEL_VALUES = st.sampled_from(["a", "b", "B_2.c", ""])
SERVICE_LABELS = st.dictionaries(LABEL_KEYS, LABEL_VALUES, max_size=3)
ASCII = st.characters(codec="ascii")
PORT_NAMES = st.sampled_from(["http", "web", "metrics"])
PORT_NUMBERS = st.sampled_from([80, 8080, 9090])
PORTS = st.fixed_dictionaries(
    {"port": st.one_of(PORT_NUMBERS, st.integers(1, 65535))},
    optional={
        "name": st.one_of(PORT_NAMES, NAMES),
        "protocol": st.sampled_from(["TCP", "TCP", "UDP", "SCTP"]),
        "appProtocol": st.sampled_from(["http", "https", "kubernetes.io/h2c"]),
        "targetPort": st.one_of(st.integers(1, 65535), NAMES),
    },
)
PORTS_ASKED_FOR = st.one_of(PORT_NAMES, PORT_NUMBERS.map(str))
EVERY_HOST = st.just("*")


def written(values: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    """Return the values as JSON, which is YAML, too."""
    return values.map(lambda value: msgspec.json.encode(value).decode())


ANY_PATHS = PATHS | PATTERNS_OF_PATHS
ROUTE = {"host": HOSTS | EVERY_HOST, "path": ANY_PATHS, "pathType": PATH_TYPES, "port": PORTS_ASKED_FOR}
ROUTES = written(st.lists(st.fixed_dictionaries({}, optional=ROUTE), max_size=4))
NGINX, MIDDLEWARES = "nginx.ingress.kubernetes.io", "traefik.ingress.kubernetes.io/router.middlewares"
OTHER_KEYS = [MIDDLEWARES, "haproxy.org/server-ssl", "prometheus.io/scrape", "sticky-sessions"]
CONTROLLER_KEYS = st.sampled_from([*KNOWN, f"{NGINX}/configuration-snippet", f"{NGINX}/auth-url", *OTHER_KEYS])
PROTECTING = ["alb.ingress.kubernetes.io/auth-type", "konghq.com/headers.x-token", "konghq.com/plugins", MIDDLEWARES]
PROTECTING_KEYS = st.sampled_from(
    [f"{NGINX}/auth-url", f"{NGINX}/limit-rps", f"{NGINX}/Auth-of-next-year", *PROTECTING]
)


def mostly(valid: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return what is mostly valid, and sometimes anything."""
    return st.one_of(valid, valid, valid, NASTY, st.text(max_size=20))


WORDS = {
    "ingress/host": mostly(st.lists(HOSTS | EVERY_HOST, min_size=1, max_size=3).map(",".join)),
    "ingress/path": mostly(PATHS | PATTERNS_OF_PATHS),
    "ingress/path-type": mostly(PATH_TYPES),
    "ingress/port": mostly(PORTS_ASKED_FOR),
    "ingress/class": mostly(NAMES | CLASSES),
    "ingress/tls": mostly(st.sampled_from(["true", "false"])),
    "ingress/tls-secret": mostly(NAMES),
    "ingress/tls-redirect": mostly(st.sampled_from(["true", "false"])),
    "ingress/profile": mostly(PROFILE_NAMES),
    "ingress/routes": mostly(ROUTES),
}
"""The values of all annotations but ingress/http."""

ANNOTATIONS = st.fixed_dictionaries(
    {"ingress/http": st.sampled_from(["true", "true", "true", "false", "yes"])}, optional=WORDS
)
LARGE = st.sampled_from(["&" * 15_000, "\u2028" * 15_000, "x" * 90_000, "\0" * 15_000])
OTHERS = st.dictionaries(CONTROLLER_KEYS, st.one_of(st.text(max_size=20), st.text(max_size=20), LARGE), max_size=3)
RIGHT_VALUES = {
    key: st.from_regex(f"(?:{known.pattern})", fullmatch=True, alphabet=ASCII) for key, known in KNOWN.items()
}
RIGHT = st.fixed_dictionaries(
    {}, optional={key: values for key, values in RIGHT_VALUES.items() if "nginx.ing" in key and not protects(key)}
)
UNKNOWN = st.dictionaries(st.from_regex(r"ingress/[a-z]{1,8}", fullmatch=True), st.text(max_size=9), max_size=1)
VALID_ANNOTATIONS = st.fixed_dictionaries(
    {"ingress/http": st.just("true")},
    optional={
        "ingress/host": st.lists(HOSTS | EVERY_HOST, min_size=1, max_size=3, unique=True).map(",".join),
        "ingress/path": PATHS,
        "ingress/path-type": st.sampled_from(["Prefix", "Exact"]),
        "ingress/class": NAMES,
        "ingress/tls": st.just("true"),
        "ingress/tls-secret": NAMES,
    },
)
LITTLE_STATED = st.tuples(
    st.sampled_from(["true", "true", "true", "true", "false"]).map(lambda http: {"ingress/http": http}),
    st.one_of(
        st.just({}),
        st.fixed_dictionaries({"ingress/host": HOSTS | EVERY_HOST}),
        st.fixed_dictionaries({"ingress/profile": PROFILE_NAMES}),
        st.fixed_dictionaries({"ingress/tls-secret": NAMES}),
        st.fixed_dictionaries({"ingress/path-type": st.just(PATH_TYPE_NAMES[2]), "ingress/path": PATTERNS_OF_PATHS}),
    ),
).map(lambda drawn: drawn[0] | drawn[1])
ENTRANCE_NAMES = ["internal", "b-2", "a" * 30]
WRONG_ENTRANCE_NAMES = ["redirect", "A", "a.b", "a" * 31, "internal.internal"]


def of_entrances(names: list[str], annotations: st.SearchStrategy[dict[str, str]]) -> st.SearchStrategy[dict[str, str]]:
    """Return the annotations of up to two entrances."""
    entrances = st.dictionaries(st.sampled_from(names), annotations, max_size=2)
    return entrances.map(
        lambda drawn: {f"{name}.{key}": value for name, own in drawn.items() for key, value in own.items()}
    )


@st.composite
def services(draw: st.DrawFn) -> Object:
    """Draw a Service; nothing keeps it from being wrong."""
    annotations = draw(ANNOTATIONS) | draw(OTHERS) | draw(UNKNOWN)
    annotations |= draw(of_entrances(ENTRANCE_NAMES * 3 + WRONG_ENTRANCE_NAMES, ANNOTATIONS))
    kind = draw(st.sampled_from(["ClusterIP", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]))
    made = service(annotations, type=kind, ports=draw(st.lists(PORTS, max_size=4)))
    return placed(draw, made)


@st.composite
def valid_services(draw: st.DrawFn) -> Object:
    """Draw a Service that is given an Ingress, where the policy allows it."""
    annotations = draw(VALID_ANNOTATIONS) | draw(RIGHT)
    return placed(draw, service(annotations, ports=[{"port": draw(st.integers(1, 65535))}]))


@st.composite
def protected_services(draw: st.DrawFn) -> Object:
    """Draw a Service that states annotations that protect, and nothing that is wrong by itself."""
    protection = draw(st.dictionaries(PROTECTING_KEYS, st.sampled_from(["1", "2"]), min_size=1, max_size=2))
    named_profile = draw(st.fixed_dictionaries({}, optional={"ingress/profile": PROFILE_NAMES}))
    return placed(draw, service({"ingress/http": "true"} | named_profile | protection, ports=[{"port": 80}]))


@st.composite
def services_with_a_profile(draw: st.DrawFn) -> Object:
    """Draw a Service that asks for a profile, and for nothing that is wrong by itself."""
    made = draw(valid_services())
    made["metadata"]["annotations"]["ingress/profile"] = draw(PROFILE_NAMES)
    return made


@st.composite
def services_with_entrances(draw: st.DrawFn) -> Object:
    """Draw a Service with other entrances. Each states little, so that settings often allow them all."""
    annotations = draw(LITTLE_STATED) | draw(of_entrances(ENTRANCE_NAMES, LITTLE_STATED))
    return placed(draw, service(annotations, ports=[{"port": 80}]))


def placed(draw: st.DrawFn, made: Object) -> Object:
    """Return the Service with a name, a namespace and labels that are drawn."""
    made["metadata"] |= {"namespace": draw(NAMESPACES), "labels": draw(SERVICE_LABELS), "name": draw(NAMES)}
    return made


def names_in(type_: type[msgspec.Struct]) -> list[str]:
    """Return the names that the settings have for the fields of a type."""
    return [field.encode_name for field in msgspec.structs.fields(type_)]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
YAML = st.lists(
    st.sampled_from(["\n", "\n  ", ": ", "- ", "[", "]", "{", "}", "# ", "&a ", "*a", "!!str ", "<<", "'", "~", "0x1"])
    | st.sampled_from(sorted({name for each in (Policy, Defaults, Limits, Profile, Tls) for name in names_in(each)}))
    | NASTY,
    max_size=20,
).map("".join)


_TYPED = sorted({pattern for each in SafeLoader.yaml_implicit_resolvers.values() for _, pattern in each}, key=str)
SCALARS = st.one_of(
    st.sampled_from(_TYPED).flatmap(lambda pattern: st.from_regex(pattern, fullmatch=True)),
    st.builds(
        lambda piece, times, end: piece * times + end,
        st.sampled_from(["1", "1:", "0b1", "0xf"]),
        st.sampled_from([200, 5000]),
        st.sampled_from(["", "1.5", "_"]),
    ),
)
"""Plain scalars that YAML 1.1 has types for, also those of which PyYAML can't make a value."""


@st.composite
def spoiled(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> Any:
    """Draw a value as JSON, in which one thing, anywhere, is anything."""
    made = draw(values)
    if made and isinstance(made, dict | list) and draw(st.integers(0, 4)):
        made = made.copy()
        at = draw(st.sampled_from(sorted(made) if isinstance(made, dict) else range(len(made))))
        made[at] = draw(spoiled(st.just(made[at])))
        return made
    return draw(ANYTHING)


OTHERS_METADATA: dict[str, st.SearchStrategy[Any]] = {
    "name": st.sampled_from(["private", "kube-system"]),
    "namespace": st.sampled_from(["team-b", "kube-system", ""]),
    "finalizers": st.just(["example.com/held"]),
    "ownerReferences": st.just([]),
    "labels": SERVICE_LABELS,
    "annotations": st.dictionaries(CONTROLLER_KEYS, st.text(max_size=9), max_size=2),
}
OTHERS_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "apiVersion": st.sampled_from(["rbac.authorization.k8s.io/v1", "v1", "gateway.networking.k8s.io/v1"]),
    "kind": st.sampled_from(["ClusterRoleBinding", "HTTPRoute", "Ingress", "Service"]),
    "metadata": st.fixed_dictionaries({}, optional=OTHERS_METADATA),
    "spec": st.just({"hostnames": ["evil.example"], "rules": [{"host": "evil.example"}]}),
    "roleRef": st.just({"kind": "ClusterRole", "name": "cluster-admin"}),
}
OTHERS_OBJECTS = st.fixed_dictionaries({}, optional=OTHERS_FIELDS)


@st.composite
def forged(draw: st.DrawFn, observed: list[Object]) -> Object:
    """Draw the `attachments` of a request with these objects, when somebody has written whatever into them."""
    found: Object = {INGRESSES: {}, HTTPROUTES: {}}
    for each in observed:
        made, metadata = each, each["metadata"]
        if draw(st.booleans()):
            others = draw(OTHERS_OBJECTS)
            record = json.loads(metadata["annotations"][LAST_APPLIED])
            records = [others, record | others, record | {"metadata": record["metadata"] | others.get("metadata", {})}]
            written = draw(st.sampled_from(records).map(json.dumps) | spoiled(st.just(record)).map(json.dumps) | NASTY)
            metadata = metadata | draw(OTHERS_OBJECTS).get("metadata", {}) | {"annotations": metadata["annotations"]}
            metadata["annotations"] = metadata["annotations"] | {LAST_APPLIED: written}
            made = draw(st.just(each) | spoiled(st.just(each)).filter(lambda made: isinstance(made, dict)))
            made = made | {"metadata": metadata}
        key = f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        others_keys = ["team-b/private", f"team-b/{key}", f"{key}-2", f"{key}.private", "private", "", "/"]
        kind = INGRESSES if each["kind"] == "Ingress" else HTTPROUTES
        kind = draw(st.sampled_from([kind] * 9 + [INGRESSES, HTTPROUTES]))
        found[kind][draw(st.sampled_from([key] * 5 + others_keys))] = made
    return found


PATTERNS = st.one_of(
    HOSTS, st.sampled_from(["*", "*.example", "*.a.example", "*.{namespace}.example", "{namespace}.example"])
)


def limit(values: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Return a limit: lifted, or a list of what is allowed."""
    return st.just(ANY) | st.lists(values.filter(lambda value: value != ANY), min_size=1, max_size=3).map(tuple)


TEMPLATES = st.sampled_from(
    ["example.com", "{service}.example", "{service}.{namespace}.example", "*.{service}.example", "*"]
)
COPIED_VALUES = RIGHT_VALUES | {
    "nginx.ingress.kubernetes.io/auth-url": st.text(max_size=5),
    "haproxy.org/server-ssl": st.sampled_from(["true", "false"]),
    "konghq.com/headers.x-token": st.sampled_from(["1", "2"]),
    "sticky-sessions": st.sampled_from(["on", "off"]),
}
COPIED = st.fixed_dictionaries({}, optional={key: limit(values) for key, values in COPIED_VALUES.items()})
SECRETS = st.none() | NAMES | st.sampled_from(["{service}-tls", "{namespace}.{service}"])
ADDED = st.dictionaries(CONTROLLER_KEYS, st.text(max_size=9), max_size=2)
OUTPUTS = st.sampled_from([OUTPUT_NAMES[:1], OUTPUT_NAMES[:1], OUTPUT_NAMES[1:], OUTPUT_NAMES])
LISTENERS = st.sampled_from(["http", "https", "web", None])
GATEWAYS = st.builds(Gateway, name=NAMES, namespace=LABELS, http=LISTENERS, https=LISTENERS)
PATH_TYPE_LISTS = st.sampled_from([("Prefix",), ("Prefix", "Exact"), *[tuple(PATH_TYPE_NAMES)] * 3])


def or_left_out(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the values, and that none is stated."""
    return values | st.just(msgspec.UNSET)


ACCEPTED = or_left_out(st.lists(PROTECTING_KEYS, max_size=7).map(tuple))
TLS = st.builds(
    Tls,
    enabled=or_left_out(st.booleans()),
    secret=or_left_out(SECRETS),
    redirect=or_left_out(st.booleans()),
    annotations=or_left_out(ADDED),
)
STATED: dict[str, st.SearchStrategy[Any]] = {
    "host": or_left_out(TEMPLATES),
    "ingress_class": or_left_out(st.none() | CLASSES),
    "tls": or_left_out(TLS),
    "annotations": or_left_out(ADDED),
    "labels": or_left_out(st.dictionaries(OWN_LABEL_KEYS, LABEL_VALUES, max_size=2)),
    "outputs": or_left_out(OUTPUTS),
    "gateway": or_left_out(GATEWAYS),
}
BESIDE = {"group": "", "kind": "Service", "name": "copy", "port": 80}
FILTERS = st.lists(
    st.sampled_from(
        [
            {"type": "ExtensionRef", "extensionRef": {"group": "traefik.io", "kind": "Middleware", "name": "sso"}},
            {"type": "RequestMirror", "requestMirror": {"backendRef": BESIDE, "percent": 5}},
            {"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": [{"name": "A", "value": "b"}]}},
            {"type": "CORS", "cors": {"allowOrigins": ["https://example.com"], "maxAge": 9}},
        ]
    ),
    max_size=3,
    unique_by=lambda each: str(each["type"]),
).map(tuple)
TIMEOUTS = st.fixed_dictionaries(
    {"request": st.sampled_from(["60s", "1h30m", "0s"]), "backendRequest": st.just("500ms")}
)


def with_class_by_annotation(draw: st.DrawFn, made: T) -> T:
    """Return the profile, or the defaults, perhaps with a class that an annotation names."""
    if draw(st.integers(0, 3)):
        return made
    annotations = (made.annotations or {}) | {OLD_CLASS: draw(CLASSES)}
    return msgspec.structs.replace(made, ingress_class=None, annotations=annotations)


PROFILES = st.builds(
    Profile, **STATED, filters=or_left_out(FILTERS), timeouts=or_left_out(TIMEOUTS), accepted_losses=ACCEPTED
)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Draw a profile that contradicts itself only in its Gateway."""
    made = draw(PROFILES)
    if made.filters or made.timeouts or (made.tls and made.tls.redirect):
        outputs = draw(st.sampled_from([(HTTPROUTE,), OUTPUT_NAMES]))
        made = msgspec.structs.replace(made, outputs=outputs, annotations=made.annotations or {})
    return with_class_by_annotation(draw, made)


# What depends on the names of the profiles is kept: hypothesis takes longer to make a strategy than to draw from it.


@cache
def any_defaults(names: tuple[str, ...]) -> st.SearchStrategy[Defaults]:
    """Return defaults, where there are profiles of these names."""
    return st.builds(Defaults, **STATED, profile=or_left_out(st.sampled_from([None, *names])))


@st.composite
def defaults(draw: st.DrawFn, names: tuple[str, ...]) -> Defaults:
    """Draw defaults that contradict themselves only in their Gateway and in what isn't allowed."""
    made = draw(any_defaults(names))
    if made.tls and made.tls.redirect:
        made = msgspec.structs.replace(made, outputs=draw(st.sampled_from([(HTTPROUTE,), OUTPUT_NAMES])))
    return with_class_by_annotation(draw, made)


@cache
def limits(names: tuple[str, ...]) -> st.SearchStrategy[Limits]:
    """Return limits, where there are profiles of these names."""
    of_profiles = limit(st.sampled_from(names)) if names else st.just(ANY)
    return st.builds(
        Limits,
        hosts=or_left_out(limit(PATTERNS)),
        classes=or_left_out(limit(CLASSES)),
        path_types=or_left_out(PATH_TYPE_LISTS),
        copy_annotations=or_left_out(COPIED),
        profiles=or_left_out(of_profiles),
        accepted_losses=ACCEPTED,
    )


@cache
def namespaces(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, NamespaceSettings]]:
    """Return the settings of namespaces, where there are profiles of these names."""
    own = st.builds(NamespaceSettings, defaults=or_left_out(defaults(names)), limits=or_left_out(limits(names)))
    return st.dictionaries(st.sampled_from(["team-a", "team-b", "team-*"]), own, max_size=2)


KNOWN_PROFILES = st.dictionaries(PROFILE_NAMES, profiles(), max_size=2)


@st.composite
def policy(draw: st.DrawFn) -> Policy:
    """Draw whole settings that the hook would start with."""
    known = draw(KNOWN_PROFILES)
    names = tuple(sorted(known))
    made = Policy(
        defaults=msgspec.structs.replace(draw(defaults(names)), gateway=draw(GATEWAYS)),
        limits=draw(limits(names)),
        profiles=known,
        namespaces=draw(namespaces(names)),
    ).whole
    assume(is_right(made))
    return made


def is_right(made: Policy) -> bool:
    """Return whether the hook would start with these settings."""
    try:
        read(msgspec.to_builtins(made), {})
    except FieldError:
        return False
    return True


@st.composite
def tightened(draw: st.DrawFn, made: Policy) -> Policy:
    """Draw the same settings with smaller limits of what is refused: hosts, classes, path types and profiles."""
    values = {"hosts": PATTERNS, "classes": CLASSES}
    if made.profiles:
        values["profiles"] = st.sampled_from(list(made.profiles))

    def smaller(stated: Limits) -> Limits:
        changes: dict[str, Any] = {}
        for field, drawn in values.items():
            before = getattr(stated, field)
            if before is not msgspec.UNSET and draw(st.booleans()):
                among = drawn if before == ANY else st.sampled_from(before)
                changes[field] = tuple(draw(st.lists(among.filter(lambda value: value != ANY), min_size=1, max_size=3)))
        if stated.path_types is not msgspec.UNSET:
            kept = draw(st.sets(st.sampled_from(stated.path_types)))
            changes["path_types"] = tuple(each for each in stated.path_types if each in kept | {"Prefix"})
        return msgspec.structs.replace(stated, **changes)

    tight = msgspec.structs.replace(
        made,
        limits=smaller(made.limits),
        namespaces={
            name: msgspec.structs.replace(entry, limits=smaller(entry.limits)) if entry.limits else entry
            for name, entry in made.namespaces.items()
        },
    )
    assume(is_right(tight))
    return tight
