"""Services and settings made up at random: valid ones, nearly valid ones, and nonsense."""

import msgspec
from hypothesis import strategies as st

from hooks.copying import DEFAULT_COPIED
from hooks.policy import NamespaceSettings, Policy, Tls
from hooks.settings import find_problems
from tests.metacontroller import Object, service

NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
NASTY = st.text(alphabet=st.sampled_from(list("aA0.-*/%:;{}$'\"\\\n\0 ü,[]&!?_@")), max_size=12)
LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
HOSTS = st.builds(
    lambda star, labels: star + ".".join([*labels, "example"]),
    st.sampled_from(["", "", "", "*."]),
    st.lists(LABELS, min_size=1, max_size=4),
)
PATHS = st.one_of(
    st.sampled_from(["/", "/api", "/a%20b", "/a/"]),
    st.from_regex(r"(/[A-Za-z0-9._~!&()*+,=:@-]{1,8}){1,3}/?", fullmatch=True),
)
PATH_TYPES = st.sampled_from(["Prefix", "Exact", "ImplementationSpecific"])
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
WISHED_PORTS = st.one_of(PORT_NAMES, PORT_NUMBERS.map(str))
ROUTES = st.lists(
    st.fixed_dictionaries({}, optional={"host": HOSTS, "path": PATHS, "pathType": PATH_TYPES, "port": WISHED_PORTS}),
    max_size=4,
).map(lambda routes: msgspec.json.encode(routes).decode())
CONTROLLER_KEYS = st.sampled_from(
    [
        *DEFAULT_COPIED,
        "nginx.ingress.kubernetes.io/configuration-snippet",
        "nginx.ingress.kubernetes.io/auth-url",
        "nginx.ingress.kubernetes.io/limit-rps",
        "traefik.ingress.kubernetes.io/router.middlewares",
        "haproxy.org/server-ssl",
        "prometheus.io/scrape",
    ]
)


def mostly(valid: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return what is mostly valid, and sometimes anything."""
    return st.one_of(valid, valid, valid, NASTY, st.text(max_size=20))


ANNOTATIONS = st.fixed_dictionaries(
    {"ingress/http": st.sampled_from(["true", "true", "true", "false", "yes"])},
    optional={
        "ingress/host": mostly(st.lists(HOSTS, min_size=1, max_size=3).map(",".join)),
        "ingress/path": mostly(PATHS),
        "ingress/path-type": mostly(PATH_TYPES),
        "ingress/port": mostly(WISHED_PORTS),
        "ingress/class": mostly(NAMES),
        "ingress/tls": mostly(st.sampled_from(["true", "false"])),
        "ingress/tls-secret": mostly(NAMES),
        "ingress/routes": mostly(ROUTES),
    },
)
OTHERS = st.dictionaries(CONTROLLER_KEYS, st.text(max_size=20), max_size=3)
HARMLESS = st.dictionaries(CONTROLLER_KEYS, st.from_regex(r"[A-Za-z0-9 ._/-]{0,20}", fullmatch=True), max_size=3)
UNKNOWN = st.dictionaries(st.from_regex(r"ingress/[a-z]{1,8}", fullmatch=True), st.text(max_size=9), max_size=1)
VALID_ANNOTATIONS = st.fixed_dictionaries(
    {"ingress/http": st.just("true")},
    optional={
        "ingress/host": st.lists(HOSTS, min_size=1, max_size=3, unique=True).map(",".join),
        "ingress/path": PATHS,
        "ingress/path-type": PATH_TYPES,
        "ingress/class": NAMES,
        "ingress/tls": st.just("true"),
        "ingress/tls-secret": NAMES,
    },
)


@st.composite
def services(draw: st.DrawFn) -> Object:
    """Draw a Service; nothing keeps it from being wrong."""
    annotations = draw(ANNOTATIONS) | draw(OTHERS) | draw(UNKNOWN)
    kind = draw(st.sampled_from(["ClusterIP", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]))
    return named(service(annotations, type=kind, ports=draw(st.lists(PORTS, max_size=4))), draw(NAMES))


@st.composite
def valid_services(draw: st.DrawFn) -> Object:
    """Draw a Service that is given an Ingress, where the policy allows it."""
    annotations = draw(VALID_ANNOTATIONS) | draw(HARMLESS)
    return named(service(annotations, ports=[{"port": draw(st.integers(1, 65535))}]), draw(NAMES))


def named(made: Object, name: str) -> Object:
    """Return the Service under another name."""
    made["metadata"]["name"] = name
    return made


PATTERNS = st.one_of(HOSTS, st.sampled_from(["*.example", "*.a.example"]))
TEMPLATES = st.sampled_from(
    ["example.com", "{service}.example", "{service}.{namespace}.example", "*.{service}.example"]
)
NAMESPACE_SETTINGS = st.builds(
    NamespaceSettings,
    hosts=st.none() | st.lists(PATTERNS, max_size=3).map(tuple),
    host=st.none() | TEMPLATES,
    ingress_class=st.none() | NAMES | st.just(msgspec.UNSET),
)


@st.composite
def policy(draw: st.DrawFn) -> Policy:
    """Draw settings that the hook would start with."""
    made = Policy(
        host=draw(TEMPLATES),
        ingress_class=draw(st.none() | NAMES),
        tls=Tls(enabled=draw(st.booleans()), secret=draw(st.none() | NAMES)),
        copied=tuple(draw(st.lists(CONTROLLER_KEYS | st.just("nginx.ingress.kubernetes.io/*"), max_size=4))),
        namespaces=draw(st.dictionaries(st.sampled_from(["team-a", "team-b", "*"]), NAMESPACE_SETTINGS, max_size=2)),
    )
    assert not list(find_problems(made))
    return made
