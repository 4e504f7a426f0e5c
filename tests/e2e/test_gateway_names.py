"""The names that Traefik gives, asked of Traefik itself, beside what `audit` and the admission policy take them for.

Namespaces, names and ports are made up from few words, so that many run together. Traefik reads them under a class of
its own, so that the policy, which would deny many, lets them stand; what it says of each is asked by a dry run.
"""

import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
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
from ingress_manager.commands.audit.claims import TRAEFIK, names_of, upstream_collisions
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

    def routes(self) -> dict[Route, tuple[str, str]]:
        """Return what Traefik calls each route that it has, and its service, when it has read all there is."""
        self.count += 1
        self.create_service("sentinel", f"sentinel-{self.count}", ["80"])
        paths = [("s.example", "/", f"sentinel-{self.count}", "80")]
        sentinel = ingress("sentinel", f"sentinel-{self.count}", paths)
        self.api.create(INGRESSES, of_class(sentinel, CLASS))
        found: dict[Route, tuple[str, str]] = {}

        def read() -> bool:
            answer = requests.get(f"{self.url}/api/rawdata", timeout=10).json()
            for name, router in answer["routers"].items():
                if name.endswith("@kubernetes"):
                    of = router["observability"]["metadata"]["ingress"]
                    key = of["namespace"], of["name"], router["rule"]
                    found[key] = name.removesuffix("@kubernetes"), router["service"].removesuffix("@kubernetes")
            done = any(name == f"sentinel-{self.count}" for _, name, _ in found)
            if not done:
                found.clear()
            return done

        wait_for(read, 30, what="Traefik to have read all")
        self.api.delete(INGRESSES, f"sentinel-{self.count}", "sentinel")
        return {key: names for key, names in found.items() if key[0] != "sentinel"}

    def says(self, made: Object) -> str | None:
        """Return what the policy says against an Ingress of the gateway's class; None if it lets it through."""
        path = path_of(INGRESSES, made["metadata"]["namespace"])
        try:
            self.api.request("POST", path, params={"dryRun": "All"}, body=of_class(made, overlay.CLASS))
        except ApiError as error:
            if error.status != 403:
                raise
            return str(error).partition("denied request: ")[2]
        return None


@pytest.fixture(scope="module")
def probe() -> Iterator[Probe]:
    """Yield the probe; it has all namespaces."""
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
        policy, binding = yaml.safe_load_all((REPOSITORY / "gateway/name-collisions.yaml").read_text())
        plane.api.create(POLICIES, policy)
        plane.api.create(POLICY_BINDINGS, binding)
        with closing(ReservedPort()) as api_port, closing(ReservedPort()) as port:
            static = yaml.safe_load((REPOSITORY / "gateway/traefik.yaml").read_text())
            kubernetes = static["providers"]["kubernetesIngress"] | {"ingressClass": CLASS}
            del kubernetes["ingressEndpoint"]
            static = {
                "global": static["global"],
                "api": {"insecure": True},
                "providers": static["providers"] | {"kubernetesIngress": kubernetes, "file": None},
                "entryPoints": {
                    name: {"address": f"{gateway.LOOPBACK}:{each.number}", "reusePort": True}
                    for name, each in (("traefik", api_port), ("web", port))
                },
            }
            path = plane.folder / "names.yaml"
            path.write_text(yaml.safe_dump(static))
            command = [str(find_traefik().path), f"--configFile={path}"]
            process = processes.add("traefik", command, env={"KUBECONFIG": str(plane.kubeconfig)})
            process.start()
            process.wait_ready(lambda: gateway.answers(api_port.number, "/api/overview"))
            probe = Probe(plane.api, f"http://{gateway.LOOPBACK}:{api_port.number}")
            denied = ingress("a", "denied", [("", "/", "b-x", "80")])
            wait_for(lambda: probe.says(denied), 30, what="the policy to be enforced")
            yield probe
            process.kill()


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


def made_up(seed: int) -> tuple[dict[str, Object], dict[tuple[str, str], set[str]]]:
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
        path = chance.choice(["/", "/a", "/b/c", "/A/b", "/c.a-", "/é/a", "/80"])
        port = chance.choice(["80", words(3, "-"), f"{words(2, '-')}-80"])
        paths = [(host, path, service, port)]
        if chance.random() < 0.2:
            # Another path, which may have the same name.
            paths.append((host, f"{path.removesuffix('/')}/{chance.choice('-x')}", service, port))
        add(ingress(chance.choice([*OLDER, *YOUNGER]), words(3, "-", "--", "."), paths))
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


@pytest.mark.parametrize("seed", range(1, 5))
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
