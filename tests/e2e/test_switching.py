"""Both pages on leaving a controller, from the first command to the last, with visitors who must not notice."""

import base64
import contextlib
import http.client
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme
import yaml

from devcluster import gateway, overlay
from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Object, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.programs import find_traefik
from devcluster.story import Stage
from tests.e2e.conftest import SERVING_SETTINGS, nodes
from tests.e2e.objects import CONFIG_MAPS, GATEWAYS, INGRESS_CLASSES, SECRETS, create
from tests.e2e.objects import namespace as make_namespace
from tests.e2e.people import environment_of
from tests.e2e.traffic import IN_A_ROW, asking, with_class_nginx

PAGES = [REPOSITORY / "docs/leaving-ingress-nginx.md", REPOSITORY / "docs/switching.md"]
PATIENCE = 30

PLAIN, SECURE = "shop.switching.example.com", "pay.switching.example.com"
SHOPS = {
    ("team-a", "shop"): {"ingress/host": PLAIN, "nginx.ingress.kubernetes.io/proxy-read-timeout": "60"},
    ("team-b", "pay"): {"ingress/host": SECURE, "ingress/tls": "true"},
}
"""The annotations of each Service, beside ingress/http."""

STAFF = "staff.switching.example.com"
ALLOW_LIST = "nginx.ingress.kubernetes.io/whitelist-source-range"
PROTECTED = {("team-b", "staff"): {"ingress/host": STAFF, ALLOW_LIST: "192.0.2.0/24"}}
"""A Service that answers none of the requests that come from here."""

SETTINGS: Object = {
    # Else the old controller would send requests to a Service's Pods, and no Pod runs here.
    "defaults": {"annotations": {"nginx.ingress.kubernetes.io/service-upstream": "true"}},
    "limits": {"copyAnnotations": {ALLOW_LIST: "any", "nginx.ingress.kubernetes.io/proxy-read-timeout": "any"}},
}


class Address(NamedTuple):
    """Where a controller is reached: its ports of loopback, and which address of it."""

    http: int
    https: int
    ip: str = gateway.LOOPBACK

    def status(self, host: str, *, tls: bool = False) -> int:
        """Return the status of the answer to a request on a connection of its own."""
        connection: http.client.HTTPConnection
        if tls:
            context = ssl._create_unverified_context()  # noqa: S323 - nobody has signed what is served here
            connection = http.client.HTTPSConnection(self.ip, self.https, timeout=10, context=context)
        else:
            connection = http.client.HTTPConnection(self.ip, self.http, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/", headers={"Host": host})
            return connection.getresponse().status

    def __str__(self) -> str:
        """Return it as --old and --new of `ingress-manager compare` take it."""
        return f"{self.ip}:{self.http},{self.https}"


@dataclass
class Visitor:
    """Somebody who asks for every host, at the address that their DNS tells."""

    address: Address

    def ask(self) -> list[str]:
        """Return what isn't answered with 200."""
        time.sleep(0.005)
        answers = {host: self.address.status(host, tls=host == SECURE) for host in (PLAIN, SECURE)}
        return [f"{host}: {status}, {time.perf_counter():.3f}" for host, status in answers.items() if status != 200]


class Operator:
    """Somebody who follows the pages: does one block of them after the other, in a copy of this repository."""

    def __init__(self, cluster: DevCluster, folder: Path, old: Address, new: Address) -> None:
        self.cluster = cluster
        self.old, self.new = old, new
        text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
        self.blocks = re.findall(r"^```(sh|yaml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        self._folder = folder
        self._take_effect = ""
        for name in ("manifests", "metacontroller", "gateway"):
            shutil.copytree(REPOSITORY / name, folder / name)

    def sh(self, beginning: str, status: int = 0) -> str:
        """Run the next block, which begins so and ends with this exit status; return what it prints."""
        language, text = self.blocks.pop(0)
        assert (language, text[: len(beginning)]) == ("sh", beginning)
        for option, address in (("--old", self.old), ("--new", self.new)):
            text = re.sub(rf"{option} [\d.]+", f"{option} {address}", text)
        return self.bash(text, status)

    def bash(self, text: str, status: int = 0) -> str:
        """Run commands."""
        done = subprocess.run(
            ["bash", "-c", f"set -euo pipefail\n{text}"],  # noqa: S607
            cwd=self._folder,
            env=environment_of(self.cluster.control_plane),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == status, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    def file(self, path: str) -> None:
        """Write the next block into the file that its first line names."""
        language, text = self.blocks.pop(0)
        assert (language, text.splitlines()[0]) == ("yaml", f"# {path}")
        (self._folder / path).parent.mkdir(exist_ok=True)
        (self._folder / path).write_text(text)

    def edit(self) -> None:
        """Change the settings to the next block."""
        language, text = self.blocks.pop(0)
        assert language == "yaml"
        self.settings(yaml.safe_load(text))

    def settings(self, stated: dict[str, Any]) -> None:
        """Change the fields of the settings file, those of `defaults` one by one."""
        path = self._folder / "manifests/settings.yaml"
        before = yaml.safe_load(path.read_text())
        defaults = before["defaults"] | stated.get("defaults", {})
        path.write_text(yaml.safe_dump(before | stated | {"defaults": defaults}))

    def learn_to_take_effect(self) -> None:
        """Read the commands after which settings take effect."""
        language, self._take_effect = self.blocks.pop(0)
        assert language == "sh"

    def take_effect(self) -> None:
        """Run these commands, and do what the cluster does then: new Pods of the hook and of Metacontroller."""
        [name] = re.findall(r"configmap/(ingress-manager-settings-\w+)", self.bash(self._take_effect))
        mounted = self.cluster.api.get(CONFIG_MAPS, name, "ingress-manager")
        assert mounted is not None
        self.cluster.restart_hook(yaml.safe_load(mounted["data"]["settings.yaml"]))
        self.cluster.engine.kill()
        self.cluster.engine.start()

    def until_classes(self, ingress_class: str) -> None:
        """Return once the Ingresses of all Services have the class."""

        def check() -> bool:
            found = [self.cluster.api.get(INGRESSES, name, namespace) for namespace, name in SHOPS]
            return all(ingress and ingress["spec"]["ingressClassName"] == ingress_class for ingress in found)

        wait_for(check, PATIENCE, what=f"Ingresses of the class {ingress_class}")

    def until_routes(self, shops: set[str]) -> None:
        """Return once these Services have an HTTPRoute, and no other of ours has one."""

        def check() -> bool:
            found = {
                route["metadata"]["name"]
                for namespace in ("team-a", "team-b")
                for route in self.cluster.api.list(HTTPROUTES, namespace)
            }
            return found == shops

        wait_for(check, PATIENCE, what=f"HTTPRoutes of {shops}")

    def until_served(self, address: Address, served: bool = True) -> None:
        """Return once every controller at the address serves all hosts, or none of them does."""
        wanted = dict.fromkeys((PLAIN, SECURE), 200 if served else 404)

        def check() -> bool:
            return all(
                address.status(host, tls=host == SECURE) == status
                for _ in range(IN_A_ROW)
                for host, status in wanted.items()
            )

        wait_for(check, PATIENCE, what="an address where all hosts are served" if served else "one that serves none")


@pytest.fixture
def operator(serving: DevCluster, tmp_path: Path) -> Iterator[Operator]:
    """Yield somebody with a cluster in which an old controller serves two Services and a new one none.

    Afterwards, the cluster is as it was.
    """
    assert serving.gateway
    new = Address(serving.gateway.http_port, serving.gateway.https_port)
    with contextlib.ExitStack() as exits:
        old = exits.enter_context(old_controller(serving))
        exits.enter_context(https_listener(serving))
        exits.callback(serving.restart_hook, SERVING_SETTINGS)
        serving.restart_hook(SETTINGS)
        exits.enter_context(shops(serving))
        exits.enter_context(nodes(serving.api))
        made = Operator(serving, tmp_path, Address(*old), new)
        made.until_served(made.old)
        made.settings(SETTINGS)
        made.bash("kubectl apply -k manifests/")
        yield made


@contextlib.contextmanager
def old_controller(cluster: DevCluster) -> Iterator[tuple[int, int]]:
    """Yield the ports, for HTTP and for HTTPS, of a Traefik that plays ingress-nginx: it serves the class `nginx`.

    No package registry has ingress-nginx itself: it is an image alone.
    """
    with contextlib.ExitStack() as exits:
        ports = [cluster.processes.port() for _ in range(3)]
        create(cluster.api, INGRESS_CLASSES, "nginx", spec={"controller": "k8s.io/ingress-nginx"})
        exits.callback(cluster.api.delete, INGRESS_CLASSES, "nginx")
        points: Object = {
            name: {"address": f"{gateway.LOOPBACK}:{port}", "reusePort": True}
            for name, port in zip(("web", "websecure", "traefik"), ports, strict=True)
        }
        points["websecure"]["http"] = {"tls": {}}
        nginx = {"publishStatusAddress": ["203.0.113.10"], "httpEntryPoint": "web", "httpsEntryPoint": "websecure"}
        path = cluster.folder / "old-controller.yaml"
        providers = {"providersThrottleDuration": "50ms", "kubernetesIngressNGINX": nginx}
        silent = {"checkNewVersion": False, "sendAnonymousUsage": False}
        content = {"global": silent, "entryPoints": points, "providers": providers, "ping": {}}
        path.write_text(yaml.safe_dump(content))
        # It has a role of its own, which isn't ours to test: it is admin here.
        command, admin = [str(find_traefik()), f"--configFile={path}"], {"KUBECONFIG": str(cluster.kubeconfig)}
        process = cluster.processes.add("old-controller", command, env=admin)
        process.start()
        exits.callback(process.kill)
        process.wait_ready(lambda: gateway.answers(ports[2], "/ping"))
        yield ports[0], ports[1]


@contextlib.contextmanager
def https_listener(cluster: DevCluster) -> Iterator[None]:
    """Have a listener for https on the Gateway, with a certificate."""
    certificate = trustme.CA().issue_cert(SECURE)
    data = {"tls.crt": certificate.cert_chain_pems[0], "tls.key": certificate.private_key_pem}
    encoded = {key: base64.b64encode(pem.bytes()).decode() for key, pem in data.items()}
    create(cluster.api, SECRETS, "certificate", gateway.NAME, type="kubernetes.io/tls", data=encoded)
    found = cluster.api.get(GATEWAYS, overlay.CLASS, gateway.NAME)
    assert found is not None
    assert cluster.gateway
    before = found["spec"]["listeners"]
    tls = {"mode": "Terminate", "certificateRefs": [{"name": "certificate"}]}
    https = before[0] | {"name": "https", "protocol": "HTTPS", "port": cluster.gateway.https_port, "tls": tls}
    cluster.api.patch(GATEWAYS, overlay.CLASS, {"spec": {"listeners": [*before, https]}}, gateway.NAME)
    yield
    cluster.api.patch(GATEWAYS, overlay.CLASS, {"spec": {"listeners": before}}, gateway.NAME)
    cluster.api.delete(SECRETS, "certificate", gateway.NAME)


@contextlib.contextmanager
def shops(cluster: DevCluster) -> Iterator[None]:
    """Have the Services, and what answers for them; afterwards, neither them nor what was made for them."""
    api, namespaces = cluster.api, sorted({namespace for namespace, _ in SHOPS})
    for namespace in namespaces:
        make_namespace(api, namespace)
    with contextlib.ExitStack() as backends:
        for (namespace, name), annotations in (SHOPS | PROTECTED).items():
            stage = Stage(api, namespace)
            backends.enter_context(Backend(stage.create_service(name, {"ingress/http": "true"} | annotations)))
        yield
    for namespace, name in SHOPS | PROTECTED:
        api.delete(SERVICES, name, namespace)
    for namespace in namespaces:
        wait_for(lambda: not [*api.list(INGRESSES, namespace), *api.list(HTTPROUTES, namespace)], PATIENCE)  # noqa: B023
        api.delete(NAMESPACES, namespace)


NGINX = REPOSITORY / "gateway/ingress-nginx"


def class_nginx(operator: Operator, visitor: Visitor, late: Visitor) -> None:
    """Let the gateway serve the class nginx, forth and back; a Traefik has the component's configuration."""
    served, gateways = operator.cluster.gateway, operator.new
    assert served

    told = operator.sh("ingress-manager leaving ingress-nginx --all-namespaces")
    alike = re.findall(r"^alike .* (\S+/\S+) *$", told, re.MULTILINE)
    assert sorted(alike) == ["team-a/shop", "team-b/pay", "team-b/staff"]
    operator.file("my-gateway/kustomization.yaml")
    operator.sh("kubectl apply -k my-gateway/\nkubectl get service ingress-manager-gateway")
    assert operator.sh("kubectl get ingresses --all-namespaces --output json", status=1) == "", "no names run together"
    operator.new = gateways._replace(ip="127.0.0.10")
    with with_class_nginx(operator.cluster, operator.new.ip):
        operator.until_served(operator.new)
        assert operator.sh("ingress-manager compare") == "6 requests, 0 differ\n"
        move(operator.new, visitor, late)
        move(operator.old, visitor, late)
        operator.new = gateways
        operator.file("my-gateway/kustomization.yaml")
        operator.sh("kubectl apply -k my-gateway/")
    operator.bash(
        f"kubectl delete -f {NGINX / 'rbac.yaml'} -f {NGINX / 'name-collisions.yaml'} -f {NGINX / 'closed.yaml'}"
    )


EVERY_SHOP = {"shop", "pay"}


COMPARED = f"""\
team-a/shop https://{PLAIN}/ 200 → 404
team-b/pay http://{SECURE}/ 308 → 404
team-b/staff http://{STAFF}/ 403 → 404
team-b/staff https://{STAFF}/ 403 → 404
6 requests, 4 differ
"""
"""An HTTPRoute is served on one listener: without TLS on http, with TLS on https. What protects has none."""


def httproutes(operator: Operator, visitor: Visitor, late: Visitor) -> None:
    assert operator.sh("ingress-manager audit", status=1) == "", "no Service is refused"
    operator.edit()
    operator.learn_to_take_effect()
    operator.take_effect()
    operator.until_routes({"shop"})
    operator.settings({"namespaces": {}})
    operator.sh("kubectl apply -k metacontroller/httproute/")
    operator.edit()
    operator.take_effect()
    operator.until_routes(EVERY_SHOP)
    operator.until_served(operator.new)
    assert operator.sh("kubectl get httproutes", status=1).endswith(COMPARED)
    move(operator.new, visitor, late)
    operator.edit()
    operator.take_effect()
    operator.until_served(operator.old, served=False)

    # The way back, and then forth again.
    operator.settings({"defaults": {"class": "nginx", "outputs": ["ingress", "httproute"]}})
    operator.take_effect()
    operator.until_served(operator.old)
    move(operator.old, visitor, late)
    move(operator.new, visitor, late)

    operator.edit()
    operator.take_effect()
    operator.until_classes("ingress-manager")
    assert operator.sh("kubectl get ingresses").count(" ingress-manager ") == len(SHOPS)
    operator.until_served(operator.old, served=False)
    operator.settings({"defaults": {"outputs": ["ingress"]}})
    operator.take_effect()
    operator.until_routes(set())
    operator.edit()


def move(address: Address, visitor: Visitor, late: Visitor) -> None:
    """Move the DNS, which some learn later than others."""
    visitor.address = address
    time.sleep(0.3)
    late.address = address
    time.sleep(0.1)


@contextlib.contextmanager
def nobody_notices(operator: Operator) -> Iterator[tuple[Visitor, Visitor]]:
    """Have visitors of the old controller, of whom none may be disappointed."""
    operator.until_served(operator.old)
    visitor, late = Visitor(operator.old), Visitor(operator.old)
    with asking(visitor.ask) as answers, asking(late.ask) as answers_of_late:
        yield visitor, late
    for each in (answers, answers_of_late):
        assert [failed for failed in each if failed != []] == []
        assert len(each) > 30


def test_the_pages_are_followed_and_no_visitor_notices(operator: Operator) -> None:
    with nobody_notices(operator) as visitors:
        class_nginx(operator, *visitors)
        httproutes(operator, *visitors)
    assert operator.blocks == []
