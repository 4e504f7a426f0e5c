"""The names that Traefik gives, asked of Traefik itself, beside what `audit` and the admission policy take them for.

Namespaces, names and ports are made up from few words, so that many run together. Traefik reads them under a class of
its own, so that the policy, which would deny many, lets them stand; what it says of each is asked by a dry run.
"""

import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest
import requests
import yaml

from devcluster import gateway, overlay
from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, ApiError, Object, path_of, wait_for
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from devcluster.ports import ReservedPort
from devcluster.processes import Processes
from devcluster.programs import find_programs, find_traefik
from ingress_manager.commands.audit.claims import (
    CANARY,
    CLASS_NGINX,
    TRAEFIK,
    TRAEFIK_OF_NGINX,
    names_of,
    upstream_collisions,
)
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.view.look import ObjectView, look
from ingress_manager.core.policy import Policy
from tests.e2e import objects
from tests.e2e.conftest import require
from tests.e2e.objects import INGRESS_CLASSES, POLICIES, POLICY_BINDINGS, create, new

CLASS = "names"
OURS = {"app.kubernetes.io/managed-by": "ingress-manager"}

OLDER = ["a", "a-b", "a-b--c", "b--a", "b--a-b", "c", "a-b-a"]
YOUNGER = ["a--b", "a-b-c", "b-a", "b", "a-ab", "ab", "c-80", "c-a-b-c", "a---b"]

Route = tuple[str, str, str]
"""What Traefik says of a route: the namespace and the name of its Ingress, and the rule."""

Path = tuple[str, str, str, str]
"""A host, a path, a Service, and its port's name or number."""


@dataclass
class Probe:
    """A control plane with the policy, and a Traefik that says what it has read."""

    api: Api
    url: str
    provider: str
    """Of Traefik, as its names end in."""
    ingress_class: str
    """That which the policy knows."""
    count: int = 0

    def create_service(self, namespace: str, name: str, ports: Iterable[str]) -> bool:
        """Create the Service with ports of these names or numbers, or give them to it; return whether it may exist."""
        numbers = (each for each in range(8000, 9000))
        spec = {
            "ports": [
                {"name": f"p-{port}", "port": int(port)} if port.isdigit() else {"name": port, "port": next(numbers)}
                for port in sorted(ports)
            ]
        }
        try:
            if self.api.get(SERVICES, name, namespace):
                self.api.patch(SERVICES, name, {"spec": spec}, namespace)
            else:
                create(self.api, SERVICES, name, namespace, spec=spec)
        except ApiError as error:
            if error.status != 422:
                raise
            return False
        return True

    def read(self) -> Object:
        """Return all that Traefik has, when it has read all there is."""
        self.count += 1
        self.create_service("sentinel", f"sentinel-{self.count}", ["80"])
        paths = [("s.example", "/", f"sentinel-{self.count}", "80")]
        sentinel = ingress("sentinel", f"sentinel-{self.count}", paths)
        self.api.create(INGRESSES, of_class(sentinel, CLASS))

        def read() -> Object | None:
            answer: Object = requests.get(f"{self.url}/api/rawdata", timeout=10).json()
            routers = answer.get("routers", {})
            return answer if any(f"-sentinel-{self.count}-" in name for name in routers) else None

        found = wait_for(read, 30, what="Traefik to have read all")
        self.api.delete(INGRESSES, f"sentinel-{self.count}", "sentinel")
        return found

    def routes(self) -> dict[Route, tuple[str, str]]:
        """Return what Traefik calls each route that it has, and its service, when it has read all there is."""
        found = {}
        for name, router in self.routers(self.read()):
            of = router["observability"]["metadata"]["ingress"]
            found[of["namespace"], of["name"], router["rule"]] = name, router["service"].partition("@")[0]
        return found

    def routers(self, raw: Object) -> Iterator[tuple[str, Object]]:
        """Yield the name and the content of each router of the provider, but for those of the sentinel."""
        for qualified, router in raw["routers"].items():
            name, _, provider = qualified.partition("@")
            if provider == self.provider and not name.startswith("sentinel-"):
                yield name, router

    def says(self, made: Object) -> str | None:
        """Return what the policy says against an Ingress of the gateway's class; None if it lets it through."""
        path = path_of(INGRESSES, made["metadata"]["namespace"])
        try:
            self.api.request("POST", path, params={"dryRun": "All"}, body=of_class(made, self.ingress_class))
        except ApiError as error:
            if error.status != 403:
                raise
            return str(error).partition("denied request: ")[2]
        return None


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield a control plane with all namespaces."""
    require("standin")
    if reason := gateway.lacking():
        pytest.skip(reason)
    with Processes() as processes, closing(ControlPlane(find_programs(print), processes)) as plane:
        plane.start()
        plane.wait_ready()
        create(plane.api, INGRESS_CLASSES, CLASS, spec={"controller": "traefik.io/ingress-controller"})
        for names in (["sentinel", *OLDER], YOUNGER):
            for name in names:
                create(plane.api, NAMESPACES, name)
            time.sleep(1.1)  # their age counts in seconds
        yield plane


@contextmanager
def probing(plane: ControlPlane, policy: str, providers: Object, name: str, ingress_class: str) -> Iterator[Probe]:
    """Yield a probe, of a Traefik with one provider, beside the policy of a file."""
    for made, resource in zip(
        yaml.safe_load_all((REPOSITORY / policy).read_text()), (POLICIES, POLICY_BINDINGS), strict=True
    ):
        plane.api.create(resource, made)
    with closing(ReservedPort()) as api_port, closing(ReservedPort()) as port:
        static = {
            "global": {"checkNewVersion": False, "sendAnonymousUsage": False},
            "api": {"insecure": True},
            "providers": {"providersThrottleDuration": "50ms", **providers},
            "entryPoints": {
                point: {"address": f"{gateway.LOOPBACK}:{each.number}", "reusePort": True}
                for point, each in (("traefik", api_port), ("web", port))
            },
        }
        probe = Probe(plane.api, f"http://{gateway.LOOPBACK}:{api_port.number}", name, ingress_class)
        path = plane.folder / f"names-{probe.provider}.yaml"
        path.write_text(yaml.safe_dump(static))
        command = [str(find_traefik()), f"--configFile={path}"]
        process = plane.processes.add(path.stem, command, env={"KUBECONFIG": str(plane.kubeconfig)})
        process.start()
        process.wait_ready(lambda: gateway.answers(api_port.number, "/api/overview"))
        denied = ingress("a", "b-x", [("", "/", "b-x", "80")])
        wait_for(lambda: probe.says(denied), 30, what="the policy to be enforced")
        yield probe
        process.kill()


@pytest.fixture(scope="module")
def probe(plane: ControlPlane) -> Iterator[Probe]:
    """Yield the probe of the gateway's own class."""
    static = yaml.safe_load((REPOSITORY / "gateway/traefik.yaml").read_text())
    provider = static["providers"]["kubernetesIngress"] | {"ingressClass": CLASS}
    del provider["ingressEndpoint"]
    policy, providers = "gateway/name-collisions.yaml", {"kubernetesIngress": provider}
    with probing(plane, policy, providers, "kubernetes", overlay.CLASS) as found:
        yield found


@pytest.fixture(scope="module")
def nginx(plane: ControlPlane) -> Iterator[Probe]:
    """Yield the probe of the class nginx."""
    provider = yaml.safe_load((REPOSITORY / "gateway/ingress-nginx/provider.yaml").read_text())
    provider["kubernetesIngressNGINX"] |= {"ingressClass": CLASS, "httpsEntryPoint": "web"}
    policy = "gateway/ingress-nginx/name-collisions.yaml"
    with probing(plane, policy, provider, "kubernetesingressnginx", CLASS_NGINX) as found:
        yield found


def ingress(namespace: str, name: str, paths: list[Path]) -> Object:
    """Return an Ingress without a class."""
    rules = [
        {
            **({"host": host} if host else {}),
            "http": {"paths": [{"path": path, "pathType": "Prefix", "backend": backend(service, port)}]},
        }
        for host, path, service, port in paths
    ]
    return new(INGRESSES, name, namespace, {"labels": OURS}, spec={"rules": rules})


def backend(service: str, port: str) -> Object:
    return objects.backend(service, int(port) if port.isdigit() else port)


def of_class(made: Object, class_: str) -> Object:
    return {**made, "spec": {**made["spec"], "ingressClassName": class_}}


EVERYTHING = {**ingress("b", "everything", []), "spec": {"defaultBackend": backend("a", "80")}}
"""It has a default backend alone."""


def label(made: Object) -> str:
    return f"{made['metadata']['namespace']}/{made['metadata']['name']}"


def rules_of(made: Object) -> set[str]:
    """Return the rules that Traefik makes of an Ingress."""
    found = set()
    for rule in made["spec"].get("rules", []):
        [path] = [each["path"] for each in rule["http"]["paths"]]
        start = path.removesuffix("/")
        matcher = f"(Path({quoted(start)}) || PathPrefix({quoted(start + '/')}))" if start else 'PathPrefix("/")'
        found.add(" && ".join([*([f"Host({quoted(rule['host'])})"] if "host" in rule else []), matcher]))
    return found or {'PathPrefix("/")'}


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def made_up(
    seed: int, paths: Sequence[str] = ("/", "/a", "/b/c", "/A/b", "/c.a-", "/é/a", "/80")
) -> tuple[dict[str, Object], dict[tuple[str, str], set[str]]]:
    """Return Ingresses that are made up, by their namespace/name, and the ports of each Service that they lead to."""
    chance = random.Random(seed)  # noqa: S311 - nothing here is a secret
    ingresses: dict[str, Object] = {}
    services: dict[tuple[str, str], set[str]] = defaultdict(set)

    def words(most: int, *joints: str) -> str:
        first, *others = chance.choices(("a", "b", "a", "b", "c", "ab"), k=chance.randint(1, most))
        return first + "".join(chance.choice(joints) + word for word in others)

    def add(made: Object) -> None:
        if ingresses.setdefault(label(made), made) is made:
            for service, port in backends(made):
                services[made["metadata"]["namespace"], service].add(port)

    add(ingress("default", "router", [("", "/", "a", "80")]))
    add(EVERYTHING)
    while len(ingresses) < INGRESSES_OF_A_SEED:
        host, service = chance.choice(["", words(2, "-", ".", "--")]), words(3, "-", "--")
        path = chance.choice(paths)
        port = chance.choice(["80", words(3, "-"), f"{words(2, '-')}-80"])
        made = [(host, path, service, port)]
        if chance.random() < 0.2:
            # Another path, which may have the same name.
            made.append((host, f"{path.removesuffix('/')}/{chance.choice('-x')}", service, port))
        add(ingress(chance.choice([*OLDER, *YOUNGER]), words(3, "-", "--", "."), made))
    return ingresses, services


def told_by_traefik(probe: Probe, ingresses: dict[str, Object]) -> dict[Route, tuple[str, str]]:
    """Return what Traefik calls each route and service. What it drops because of others is asked again without them."""
    for made in ingresses.values():
        probe.api.create(INGRESSES, of_class(made, CLASS))
    left = dict(ingresses)
    told: dict[Route, tuple[str, str]] = {}
    for attempt in range(20):
        found = probe.routes()
        told |= found
        if attempt == 0:
            first = {router for router, _ in found.values()}
        for key, made in list(left.items()):
            namespace, name = made["metadata"]["namespace"], made["metadata"]["name"]
            if all((namespace, name, rule) in told for rule in rules_of(made)):
                probe.api.delete(INGRESSES, name, namespace)
                del left[key]
        if not left:
            # Of those with one name there was one, and of each name there was one.
            assert first == {router for router, _ in told.values()}
            return told
    raise AssertionError(f"Traefik never served {sorted(left)}")


RULE = {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend("x", "80")}]}}
DECORATED = {"metacontroller.k8s.io/decorator-controller": "ingress-manager"}


@pytest.mark.parametrize(
    ("key", "spec", "says"),
    [
        pytest.param("a/all", {"rules": [RULE]}, None, id="a rule without a host"),
        pytest.param("a/all", {"defaultBackend": backend("x", "80")}, None, id="a default backend alone"),
        pytest.param("a/all", {"defaultBackend": backend("b", "80"), "rules": [RULE]}, None, id="one beside a rule"),
        pytest.param(
            "a/all", {"rules": [RULE], "tls": [{}, {"secretName": "x"}]}, None, id="certificates without hosts"
        ),
        pytest.param("a/all", {"rules": [{"host": "x.example"}, {}]}, None, id="rules without paths"),
        pytest.param("a/x.b-c", {"rules": [RULE]}, None, id="an entrance"),
        pytest.param(
            "a/b.c", {"rules": [RULE]}, "give the Service or its entrance a name", id="an entrance like another's"
        ),
        pytest.param(
            "default/router", {"rules": [RULE]}, "give the Service another name", id="the name of the default backend"
        ),
        pytest.param("default/router", {"defaultBackend": backend("x", "80")}, None, id="the default backend itself"),
    ],
)
def test_what_an_ingress_may_leave_out_is_no_error_to_the_policy(
    probe: Probe, key: str, spec: Object, says: str | None
) -> None:
    namespace, _, name = key.partition("/")
    said = probe.says(new(INGRESSES, name, namespace, {"annotations": DECORATED}, spec=spec))
    assert (said is None) == (says is None), said
    assert (says or "") in (said or "")


INGRESSES_OF_A_SEED = 300
HASHED = re.compile("-[0-9a-f]{20}$")


@pytest.mark.parametrize("seed", range(1, 3))
def test_what_traefik_takes_for_one_is_found_by_audit_and_denied_by_the_policy(
    probe: Probe, seed: int, record_property: Callable[[str, object], None]
) -> None:
    ingresses, services = made_up(seed)
    for of, ports in services.items():
        assert probe.create_service(*of, ports)
    sentences = {key: sentence for key, made in ingresses.items() if (sentence := probe.says(made))}
    needed, users = named(ingresses, told_by_traefik(probe, ingresses))
    twice = {name for name, some in users.items() if len(some) > 1}
    assert {kind for kind, _ in twice} == {"Ingress", "Service"}

    # `audit` takes them to have the same names, and so finds the same.
    view = look((Item(of_class(made, CLASS), Origin("", "default")) for made in ingresses.values()), Policy())
    objects = {made.item.full_name: made for made in view.objects.values()}
    assert {key: in_traefik(made) for key, made in objects.items()} == {
        key: {(kind, name) for kind, name in names if not HASHED.search(name)} for key, names in needed.items()
    }
    found = [collision for collision in upstream_collisions(objects.values()) if TRAEFIK in collision.controllers]
    assert {(collision.kind, collision.name) for collision in found} == twice

    # Of those that need one name, the policy leaves those of one namespace.
    left = {
        name: {namespace_of(key) for key in needed if name in needed[key] and key not in sentences} for name in users
    }
    assert {name: some for name, some in left.items() if len(some) > 1} == {}

    # What it denies has the name of something that can be in the other namespace; Traefik is shown that, too.
    witnesses = {key: witness(key, sentence, ingresses[key], needed[key]) for key, sentence in sentences.items()}
    ports_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for made in witnesses.values():
        for service, port in backends(made):
            ports_of[made["metadata"]["namespace"], service].add(port)
    possible = {of for of, some in ports_of.items() if probe.create_service(*of, some)}
    shown = {
        key: made for key, made in witnesses.items() if (made["metadata"]["namespace"], service_of(made)) in possible
    }
    left_out = dict(shown)
    while left_out:
        # Those of one namespace and name are shown one after the other.
        beside = {label(made): key for key, made in left_out.items()}
        batch = {of: left_out.pop(key) for of, key in beside.items()}
        theirs, _ = named(batch, told_by_traefik(probe, batch))
        assert [key for of, key in beside.items() if not needed[key] & theirs[of]] == []
    collide = {key for key, names in needed.items() for name in names if len(set(map(namespace_of, users[name]))) > 1}
    record_property(
        "figures",
        f"of {len(ingresses)} Ingresses {len(collide)} have a name in common with another namespace's, and "
        f"{len(witnesses)} are denied, {len(witnesses) - len(shown)} of them for a name that no Service can have",
    )


Names = tuple[str, str]
"""What has a name, a Service or an Ingress (one of its routes), and the name."""


def named(
    ingresses: dict[str, Object], told: dict[Route, tuple[str, str]]
) -> tuple[dict[str, set[Names]], dict[Names, set[str]]]:
    """Return the names that each Ingress needs, and what has each name, as namespace/name."""
    needed: dict[str, set[Names]] = defaultdict(set)
    users: dict[Names, set[str]] = defaultdict(set)
    for (namespace, name, _), (router, service) in told.items():
        key = f"{namespace}/{name}"
        needed[key].add(("Ingress", router))
        users["Ingress", router].add(key)
        if service != "default-backend":
            needed[key].add(("Service", service))
            users["Service", service].add(f"{namespace}/{service_of(ingresses[key])}")
    return needed, users


def service_of(made: Object) -> str:
    [service] = {service for service, _ in backends(made)}
    return service


def backends(made: Object) -> Iterator[tuple[str, str]]:
    """Yield the Service and the port of each path, or of the default backend."""
    paths = [path for rule in made["spec"].get("rules", []) for path in rule["http"]["paths"]]
    for each in [path["backend"] for path in paths] or [made["spec"]["defaultBackend"]]:
        service = each["service"]
        yield service["name"], str(service["port"].get("name") or service["port"]["number"])


def namespace_of(key: str) -> str:
    return key.partition("/")[0]


def in_traefik(made: ObjectView) -> set[tuple[str, str]]:
    """Return the names that `audit` takes an Ingress to need in Traefik."""
    return {(name.kind, name.text) for name, _ in names_of(made) if name.controller == TRAEFIK}


def witness(key: str, sentence: str, made: Object, needed: set[tuple[str, str]]) -> Object:
    """Return an Ingress of the other namespace, with a name that a denied one needs, as the sentence says."""
    if "default-router" in sentence:
        return EVERYTHING
    [(kind, other)] = re.findall(r"could not tell a (Service|route) of .* from one of namespace ([^ ]+):", sentence)
    if "it takes repeated - for one" in sentence:
        return {**made, "metadata": {**made["metadata"], "namespace": other}}
    [name] = re.findall("names run together, as ([^ ]+);", sentence)
    words = len([word for word in other.split("-") if word])
    own = f"witness-of-{key.replace('/', '.')}"
    if kind == "Service":
        assert ("Service", name) in needed
        *service, port = name.split("-")[words:]
        return ingress(other, own, [("", "/", "-".join(service), port)])
    # Where an Ingress needs a name twice, the sentence has it without the hash.
    router = min(text for kind, text in needed if kind == "Ingress" and HASHED.sub("", text) == name)
    first, *others = router.split("-")[words:]
    return ingress(other, first, [("", "/" + "/".join(others), "a", "80")])


# The class nginx: other names, and another policy.

KEY = CANARY.removesuffix("canary")
ANNOTATED: list[dict[str, str]] = [
    {CANARY: "true", f"{KEY}canary-weight": "50"},
    {f"{KEY}custom-http-errors": "503", f"{KEY}default-backend": "b-c"},
]
"""What has Traefik give other names."""

BACKENDS = re.compile(r"-rule-\d+-path-\d+(-.*)?$|-default-backend(-tls)?$")


def of_class_nginx(seed: int) -> tuple[dict[str, Object], dict[tuple[str, str], set[str]]]:
    """Return the same, as Ingresses of the class nginx: some are canaries of others, some have pages of errors."""
    chance = random.Random(seed)  # noqa: S311 - nothing here is a secret
    plain, services = made_up(seed, ("/", "/a", "/b/c", "/A/b", "/c.a-", "/80"))
    del plain[label(EVERYTHING)]
    ingresses: dict[str, Object] = {}
    plain["default/backend"] = ingress("default", "backend", [("", "/x", "a", "b-c")])
    services["default", "a"].add("b-c")
    for key, made in plain.items():
        annotations = {f"{KEY}service-upstream": "true"} | (ANNOTATED[1] if chance.random() < 0.1 else {})
        ingresses[key] = of_class({**made, "metadata": made["metadata"] | {"annotations": annotations}}, CLASS)
        namespace = namespace_of(key)
        services[namespace, "b-c"].add("80")
        if chance.random() < 0.1:
            [rule, *_] = made["spec"]["rules"]
            [path] = rule["http"]["paths"]
            canary = ingress(namespace, f"canary-{made['metadata']['name']}", [])
            canary["metadata"]["annotations"] = {f"{KEY}service-upstream": "true"} | ANNOTATED[0]
            service = chance.choice([name for of, name in services if of == namespace])
            [port, *_] = sorted(services[namespace, service])
            canary["spec"]["rules"] = [rule | {"http": {"paths": [path | {"backend": backend(service, port)}]}}]
            ingresses[label(canary)] = of_class(canary, CLASS)
    return ingresses, services


@pytest.mark.parametrize("seed", range(1, 3))
def test_of_the_class_nginx_the_policy_leaves_each_namespace_its_own_names_and_services(
    nginx: Probe, seed: int, record_property: Callable[[str, object], None]
) -> None:
    ingresses, services = of_class_nginx(seed)
    for of, ports in services.items():
        assert nginx.create_service(*of, ports)
    sentences = {key: sentence for key, made in ingresses.items() if (sentence := nginx.says(made))}
    left = {key: made for key, made in ingresses.items() if key not in sentences}
    for made in left.values():
        nginx.api.create(INGRESSES, made)
    raw = nginx.read()
    for made in left.values():
        nginx.api.delete(INGRESSES, made["metadata"]["name"], made["metadata"]["namespace"])
    needed = {key: of_nginx(made) for key, made in ingresses.items()}

    # `audit` takes Traefik's names for what they are …
    seen = {BACKENDS.sub("", name) for name, _ in nginx.routers(raw)}
    assert seen == {name for key in left for kind, name in needed[key] if kind == "Ingress"}
    # … no two namespaces have one, and each is led to its own Services.
    by_name: dict[Names, set[str]] = defaultdict(set)
    for key in left:
        for name in needed[key]:
            by_name[name].add(namespace_of(key))
    assert {name: some for name, some in by_name.items() if len(some) > 1} == {}
    addresses = {each["spec"]["clusterIP"]: each["metadata"]["namespace"] for each in nginx.api.list(SERVICES)}
    for called, router in nginx.routers(raw):
        own = router["observability"]["metadata"]["ingress"]["namespace"]
        assert {addresses[address] for address in reached(raw, router)} == {own}, called

    # What it denies has the name of something that can be in the other namespace.
    for key, sentence in sentences.items():
        for kind, other, name in TOLD.findall(sentence):
            rest = re.split("(?<=[a-z0-9])-(?=[a-z0-9])", name.removeprefix(f"{other}-"))
            witness = ingress(other, "-".join(rest), [("", "/", "a", "80")])
            if kind == "Service":
                witness = ingress(other, rest[0], [("", "/", "-".join(rest[1:-1]), rest[-1])])
            assert of_nginx(witness) & needed[key] or name == f"{namespace_of(key)}-b-c", (key, sentence)
    record_property("figures", f"of {len(ingresses)} Ingresses {len(sentences)} are denied")


TOLD = re.compile(
    "could not tell a (Service|route) of .* from one of namespace ([^ ]+): their names run together, as ([^ ]+);"
)


def of_nginx(made: Object) -> set[Names]:
    """Return the names that `audit` takes an Ingress of the class nginx to need in Traefik."""
    [found] = look([Item(of_class(made, CLASS_NGINX), Origin("", "default"))], Policy()).objects.values()
    return {(name.kind, name.text) for name, _ in names_of(found) if name.controller == TRAEFIK_OF_NGINX}


def reached(raw: Object, router: Object) -> set[str]:
    """Return the addresses of all Services that a router leads to, those that answer its errors among them."""
    names = [router["service"]]
    for middleware in router.get("middlewares", ()):
        names += [errors["service"] for errors in [raw["middlewares"][middleware].get("errors")] if errors]
    found = set()
    for name in names:
        service = raw["services"][name if "@" in name else f"{name}@kubernetesingressnginx"]
        names += [each["name"] for each in service.get("weighted", {}).get("services", ())]
        for server in service.get("loadBalancer", {}).get("servers", ()):
            found.add(server["url"].partition("://")[2].rpartition(":")[0])
    return found
