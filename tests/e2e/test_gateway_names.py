"""Traefik gives the names that `audit` takes it to give, and the admission policy lets none run together.

Namespaces, names and ports are made up from few words, so that many run together. What the policy says of each is asked
by a dry run. Traefik reads those that don't run together, under a class of its own.
"""

import random
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
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
from ingress_manager.commands.audit.claims import TRAEFIK, names_of
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

Names = tuple[str, str]
"""What has a name, a Service or an Ingress (one of its routes), and the name."""

Path = tuple[str, str, str, str]
"""A host, a path, a Service, and its port's name or number."""


@dataclass
class Probe:
    """A control plane with the policy, and a Traefik that says what it has read."""

    api: Api
    url: str

    def create_service(self, namespace: str, name: str, ports: Iterable[str]) -> None:
        """Create a Service with ports of these names or numbers."""
        numbers = (each for each in range(8000, 9000))
        spec = {
            "ports": [
                {"name": f"p-{port}", "port": int(port)} if port.isdigit() else {"name": port, "port": next(numbers)}
                for port in sorted(ports)
            ]
        }
        create(self.api, SERVICES, name, namespace, spec=spec)

    def names(self, of: Iterable[str]) -> dict[str, set[Names]]:
        """Return what Traefik calls the routes and Services of these Ingresses, once it has read all of them."""
        found: dict[str, set[Names]] = defaultdict(set)

        def read() -> bool:
            answer = requests.get(f"{self.url}/api/rawdata", timeout=10).json()
            for name, router in answer["routers"].items():
                if name.endswith("@kubernetes"):
                    of_ingress = router["observability"]["metadata"]["ingress"]
                    own = found[f"{of_ingress['namespace']}/{of_ingress['name']}"]
                    own.add(("Ingress", name.removesuffix("@kubernetes")))
                    if router["service"] != "default-backend":
                        own.add(("Service", router["service"].removesuffix("@kubernetes")))
            return found.keys() >= {*of}

        wait_for(read, 30, what="Traefik to have read all")
        return found

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
        for names in (OLDER, YOUNGER):
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


def by_audit(ingresses: dict[str, Object]) -> dict[str, ObjectView]:
    """Return Ingresses as `audit` sees them."""
    view = look((Item(of_class(made, CLASS), Origin("", "default")) for made in ingresses.values()), Policy())
    return {made.item.full_name: made for made in view.objects.values()}


def in_traefik(made: ObjectView) -> set[Names]:
    """Return the names that `audit` takes an Ingress to need in Traefik."""
    return {(name.kind, name.text) for name, _ in names_of(made) if name.controller == TRAEFIK}


def test_traefik_gives_the_names_that_audit_takes_it_to_give(probe: Probe) -> None:
    ingresses, services = made_up(1)
    for of, ports in services.items():
        probe.create_service(*of, ports)
    read: dict[str, set[Names]] = {}
    taken: set[Names] = set()
    for key, made in by_audit(ingresses).items():
        if taken.isdisjoint(names := in_traefik(made)):
            taken |= names
            read[key] = names
            probe.api.create(INGRESSES, of_class(ingresses[key], CLASS))
    assert len(read) > INGRESSES_OF_A_SEED / 5
    found = probe.names(read)
    assert {key: {each for each in names if not HASHED.search(each[1])} for key, names in found.items()} == read


@pytest.mark.parametrize("seed", range(1, 4))
def test_of_those_that_need_one_name_the_policy_leaves_those_of_one_namespace(probe: Probe, seed: int) -> None:
    ingresses, _ = made_up(seed)
    left = [key for key, made in ingresses.items() if probe.says(made) is None]
    assert 0 < len(left) < len(ingresses)
    users: dict[Names, set[str]] = defaultdict(set)
    views = by_audit(ingresses)
    for key in left:
        for name in in_traefik(views[key]):
            users[name].add(key.partition("/")[0])
    assert {name: some for name, some in users.items() if len(some) > 1} == {}


def backends(made: Object) -> Iterator[tuple[str, str]]:
    """Yield the Service and the port of each path, or of the default backend."""
    paths = [path for rule in made["spec"].get("rules", []) for path in rule["http"]["paths"]]
    for each in [path["backend"] for path in paths] or [made["spec"]["defaultBackend"]]:
        service = each["service"]
        yield service["name"], str(service["port"].get("name") or service["port"]["number"])
