"""Follows the page on switching controllers from the first command to the last, with visitors who must not notice."""

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import trustme
import yaml

from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Object, Resource, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK, answers
from devcluster.gateway import NAME as GATEWAY
from devcluster.overlay import GATEWAY_CLASS
from devcluster.story import Stage
from tests.e2e.conftest import SERVING_SETTINGS
from tests.e2e.objects import GATEWAYS, ON, SECRETS, create
from tests.e2e.people import asking, meanwhile, sh
from tools import markdown

INGRESS_CLASSES = Resource("networking.k8s.io/v1", "ingressclasses", "IngressClass", namespaced=False)
OLD = "127.0.0.11"
"""The address of the old controller, which uses the same ports as the gateway."""

PATIENCE = 30

PLAIN, SECURE, STAFF = (f"{name}.switching.example.com" for name in ("shop", "pay", "staff"))
ALLOW_LIST, TIMEOUT = (f"nginx.ingress.kubernetes.io/{key}" for key in ("whitelist-source-range", "proxy-read-timeout"))
SHOPS = {
    ("team-a", "shop"): {"ingress/host": PLAIN, TIMEOUT: "60"},
    ("team-b", "pay"): {"ingress/host": SECURE, "ingress/tls": "true"},
    ("team-b", "staff"): {"ingress/host": STAFF, ALLOW_LIST: "192.0.2.0/24"},
}
"""The annotations of each Service, besides ingress/http. `staff` rejects all requests from here."""

TEAMS = ("team-a", "team-b")
SETTINGS: Object = {
    # Otherwise, the old controller would send requests to Pods, and no Pod runs here.
    "defaults": {"annotations": {"nginx.ingress.kubernetes.io/service-upstream": "true"}},
    "limits": {"copyAnnotations": {ALLOW_LIST: "any", TIMEOUT: "any"}},
}


class Operator:
    """An administrator who follows the page block by block, in a copy of this repository.

    A visitor requests the hosts at each address that the DNS returns; during a move, both, as caches expire late.
    """

    def __init__(self, cluster: DevCluster, folder: Path) -> None:
        assert cluster.gateway
        self.cluster, self.folder = cluster, folder
        self._gateway = cluster.gateway
        self._dns = {OLD}
        page = (REPOSITORY / "docs/switching.md").read_text()
        self.blocks = [each for each in markdown.fences(page) if each.info in {"sh", "yaml"}]
        for name in ("manifests", "metacontroller", "gateway"):
            shutil.copytree(REPOSITORY / name, folder / name)

    def block(self, info: str, beginning: str = "") -> str:
        """Return the next block. Fails unless it has this info string and begins with this text."""
        fence = self.blocks.pop(0)
        assert (fence.info, fence.text[: len(beginning)]) == (info, beginning)
        return fence.text

    def sh(self, beginning: str, status: int = 0) -> str:
        """Run the next block, which must begin with this text and end with this status; return its output."""
        text = self.block("sh", beginning)
        for option, address in (("--old", OLD), ("--new", LOOPBACK)):
            of = f"{address}:{self._gateway.http_port},{self._gateway.https_port}"
            text = re.sub(rf"{option} [\d.:,]+", f"{option} {of}", text)
        return self.run(text, status)

    def run(self, text: str, status: int = 0) -> str:
        ended = sh(self.cluster.control_plane, text, folder=self.folder, check=False)
        assert ended.returncode == status, f"{text}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def edit(self, stated: Object | None = None) -> None:
        """Merge fields, by default from the next block, into the settings file, and likewise into its `defaults`."""
        stated = stated or yaml.safe_load(self.block("yaml"))
        path = self.folder / "manifests/settings.yaml"
        before = yaml.safe_load(path.read_text())
        defaults = before["defaults"] | stated.get("defaults", {})
        path.write_text(yaml.safe_dump(before | stated | {"defaults": defaults}))

    def until_routes(self, *shops: str) -> None:
        """Wait until exactly these Services have an HTTPRoute."""

        def found() -> list[str]:
            return [route["metadata"]["name"] for team in TEAMS for route in self.cluster.api.list(HTTPROUTES, team)]

        wait_for(lambda: found() == [*shops], PATIENCE, what=f"HTTPRoutes of {shops}")

    def until_served(self, address: str, status: int = 200) -> None:
        wait_for(lambda: {*self.statuses(address).values()} == {status}, PATIENCE, what=f"{status} from {address}")

    def statuses(self, address: str) -> dict[str, int]:
        return {host: self._gateway.ask(host, tls=host == SECURE, address=address).status for host in (PLAIN, SECURE)}

    def visit(self) -> list[str]:
        time.sleep(0.005)
        found = {(address, *each) for address in self._dns for each in self.statuses(address).items()}
        return [f"{address}, {host}: {status}" for address, host, status in found if status != 200]

    def move(self, address: str) -> None:
        self._dns = self._dns | {address}
        time.sleep(0.3)
        self._dns = {address}
        time.sleep(0.1)


@pytest.fixture
def operator(serving: DevCluster, tmp_path: Path) -> Iterator[Operator]:
    """Yield an operator with a cluster in which the old controller serves the Services and the new one serves none.

    Afterwards, the cluster is restored.
    """
    with contextlib.ExitStack() as exits:
        # The page replaces the overlay with the one for HTTPRoutes.
        exits.callback(serving.control_plane.kubectl, "apply", f"--kustomize={REPOSITORY}/metacontroller/listenerset")
        create(serving.api, INGRESS_CLASSES, "nginx", spec={"controller": "k8s.io/ingress-nginx"})
        exits.callback(serving.api.delete, INGRESS_CLASSES, "nginx")
        exits.enter_context(old_controller(serving))
        exits.enter_context(https_listener(serving))
        exits.callback(serving.restart_hook, SERVING_SETTINGS)
        exits.enter_context(meanwhile(serving.apply_deployments, 0.1))
        made = Operator(serving, tmp_path)
        made.edit(SETTINGS)
        made.run("kubectl apply -k manifests/")
        exits.enter_context(shops(serving))
        made.until_served(OLD)
        yield made


@contextlib.contextmanager
def old_controller(cluster: DevCluster) -> Iterator[None]:
    """Run a Traefik with ingress-nginx's class and annotations, because no package registry has ingress-nginx."""
    assert cluster.gateway
    first, port = cluster.gateway.traefik, cluster.gateway.internal_port
    static = yaml.safe_load((cluster.folder / first.name / "traefik.yaml").read_text())
    for entry_point in static["entryPoints"].values():
        entry_point["address"] = entry_point["address"].replace(LOOPBACK, OLD)
    entry_points = {"httpEntryPoint": "web", "httpsEntryPoint": "websecure"}
    static["providers"] = {"file": static["providers"]["file"], "kubernetesIngressNGINX": entry_points}
    path = cluster.folder / "old-controller.yaml"
    path.write_text(yaml.safe_dump(static))
    command = [first.command[0], f"--configFile={path}"]
    process = cluster.add(path.stem, command, env={"KUBECONFIG": str(cluster.kubeconfig)})
    process.start()
    process.wait_ready(lambda: answers(port, "/ping", address=OLD))
    yield
    process.kill()


@contextlib.contextmanager
def https_listener(cluster: DevCluster) -> Iterator[None]:
    api, certificate = cluster.api, trustme.CA().issue_cert(SECURE)
    pems = {"tls.crt": certificate.cert_chain_pems[0], "tls.key": certificate.private_key_pem}
    data = {key: pem.bytes().decode() for key, pem in pems.items()}
    create(api, SECRETS, "certificate", GATEWAY, type="kubernetes.io/tls", stringData=data)
    assert cluster.gateway
    before = (api.get(GATEWAYS, GATEWAY_CLASS, GATEWAY) or {})["spec"]["listeners"]
    tls = {"mode": "Terminate", "certificateRefs": [{"name": "certificate"}]}
    https = before[0] | {"name": "https", "protocol": "HTTPS", "port": cluster.gateway.https_port, "tls": tls}
    api.patch(GATEWAYS, GATEWAY_CLASS, {"spec": {"listeners": [*before, https]}}, GATEWAY)
    yield
    api.patch(GATEWAYS, GATEWAY_CLASS, {"spec": {"listeners": before}}, GATEWAY)
    api.delete(SECRETS, "certificate", GATEWAY)


@contextlib.contextmanager
def shops(cluster: DevCluster) -> Iterator[None]:
    """Create the Services and their backends; afterwards, remove the Services and their objects."""
    api = cluster.api
    with contextlib.ExitStack() as backends:
        for team in TEAMS:
            wait_for(lambda: api.get(NAMESPACES, team) is None, 60)  # noqa: B023 - that of an earlier try
            create(api, NAMESPACES, team)
        for (namespace, name), annotations in SHOPS.items():
            backends.enter_context(Backend(Stage(api, namespace).create_service(name, ON | annotations)))
        yield
    for namespace, name in SHOPS:
        api.delete(SERVICES, name, namespace)
    for team in TEAMS:
        wait_for(lambda: not [*api.list(INGRESSES, team), *api.list(HTTPROUTES, team)], PATIENCE)  # noqa: B023
        api.delete(NAMESPACES, team)


COMPARED = f"""\
team-a/shop https://{PLAIN}/ 200 → 404
team-b/pay http://{SECURE}/ 308 → 404
team-b/staff http://{STAFF}/ 403 → 404
team-b/staff https://{STAFF}/ 403 → 404
6 requests, 4 differ
"""
"""An HTTPRoute is served on one listener: http without TLS, https with TLS. A protected Service has no HTTPRoute."""


def follow(operator: Operator) -> None:
    """Switch from Ingresses to HTTPRoutes, back and forth again, and then to Ingresses of the new controller."""
    assert operator.sh("ingress-manager audit", status=1) == "", "no Service is refused"
    operator.edit()
    take_effect = partial(operator.run, operator.block("sh", "kubectl apply -k manifests/"))
    take_effect()
    operator.until_routes("shop")
    operator.edit({"namespaces": {}})
    (operator.folder / "my-gateway").mkdir()
    kustomization = operator.block("yaml", "# my-gateway/kustomization.yaml\n")
    (operator.folder / "my-gateway/kustomization.yaml").write_text(kustomization)
    # A dry run, to keep the Gateway's address for other tests, and its https listener for this one.
    commands = operator.block("sh", "kubectl apply -k my-gateway/\n")
    operator.run(commands.replace("my-gateway/", "my-gateway/ --dry-run=server"))
    operator.edit()
    take_effect()
    operator.until_routes("shop", "pay")
    operator.until_served(LOOPBACK)
    operator.sh("kubectl get httproutes")
    operator.block("sh", "kubectl port-forward ")  # needs a kubelet; the test uses the gateway's own address
    assert operator.sh("ingress-manager compare", status=1) == COMPARED
    operator.move(LOOPBACK)
    operator.edit()
    take_effect()
    operator.until_served(OLD, 404)

    # Back, and forth again.
    operator.edit({"defaults": {"class": "nginx", "outputs": ["ingress", "httproute"]}})
    take_effect()
    operator.until_served(OLD)
    operator.move(OLD)
    operator.move(LOOPBACK)

    operator.edit()
    take_effect()
    shown = operator.block("sh", "kubectl get ingresses")
    both = "both Ingresses that protect nothing"
    wait_for(lambda: operator.run(shown).count(" ingress-manager ") == 2, PATIENCE, what=both)
    operator.until_served(OLD, 404)
    operator.edit({"defaults": {"outputs": ["ingress"]}})
    take_effect()
    operator.until_routes()


def test_the_page_is_followed_and_no_visitor_notices(operator: Operator) -> None:
    with asking(operator.visit) as answers:
        follow(operator)
    assert [failed for failed in answers if failed != []] == []
    assert len(answers) > 30
    assert operator.blocks == []
