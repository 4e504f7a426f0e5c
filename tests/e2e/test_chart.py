"""docs/helm.md: its commands install, upgrade, roll back and uninstall the chart on a real API server.

No node runs the pods. So the test does what a cluster does for a Deployment: it serves the hook, with the settings that
the Deployment mounts, and reports the rollout. Metacontroller asks the hook by its Service's name. There is no DNS, so
it asks through an HTTP proxy, which is the hook itself.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from devcluster import build, engines
from devcluster.api import EVENTS, Object, Resource, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE, hook_command
from devcluster.control_plane import ControlPlane
from devcluster.gateway import answers
from devcluster.manifests import find
from devcluster.processes import Process, ReservedPort
from devcluster.story import Stage, steps_for
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import FILE_VARIABLE, parse
from tests.docs.test_docs import blocks
from tests.e2e.conftest import bare_plane
from tests.e2e.nodes import Nodes
from tests.e2e.objects import CONFIG_MAPS, PODS, namespace
from tests.e2e.shell import Ended, environment_of, sh
from tests.e2e.test_install import everything
from tests.helm import lacking
from tests.manifests.test_chart import script_against

NAME = "ingress-manager"
NETWORK_POLICIES = Resource("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy")


class Pods(Nodes):
    """What a cluster with nodes does for the hook's Deployment: it serves the hook."""

    def __init__(self, plane: ControlPlane, port: int) -> None:
        super().__init__(plane.api)
        self.plane, self.port = plane, port
        self.settings = plane.processes.folder / "settings.yaml"
        self.hook: Process = plane.processes.add(
            "hook", hook_command(port), env={FILE_VARIABLE: str(self.settings)}, cwd=REPOSITORY
        )

    def start_pods(self, deployment: Object) -> bool:
        """Serve the hook as its Deployment says; return whether it runs. If not, the one before runs on."""
        volumes = deployment["spec"]["template"]["spec"].get("volumes", [])
        if [volume["name"] for volume in volumes] != ["settings"]:
            return False
        namespace = deployment["metadata"]["namespace"]
        config = self.plane.api.get(CONFIG_MAPS, volumes[0]["configMap"]["name"], namespace) or {}
        settings = config["data"]["settings.yaml"]
        try:
            parse(settings)
        except SettingsError:
            return False
        if not self.hook.running or settings != self.settings.read_text():
            self.hook.kill()
            self.settings.write_text(settings)
            self.hook.start()
            self.hook.wait_ready(lambda: answers(self.port, "/readyz"))
        return True


class Site:
    """A control plane with nothing installed, and a folder from which the page's commands can be run as they are."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane, self.folder = plane, folder
        for name in ("charts", "manifests", "metacontroller"):
            (folder / name).symlink_to(REPOSITORY / name)
        (folder / "helm").symlink_to(build.folder("helm") / "helm")
        self.path = f"{folder}:{environment_of(plane)['PATH']}"

    def run(self, block: str, *, check: bool = True) -> Ended:
        """Run the commands of a block up to the first one that fails."""
        # Metacontroller's own CRDs are on the Internet; CRD_FILE holds CRDs of the same kinds.
        local = re.sub(r"https://\S*/metacontroller-crds-v1\.yaml", str(CRD_FILE), block)
        environment = {"PATH": self.path, "HOME": str(self.folder)}
        return sh(self.plane, local, folder=self.folder, check=check, environment=environment)

    def values(self, values: object) -> None:
        """Write the file that the commands name."""
        (self.folder / "my-values.yaml").write_text(yaml.safe_dump(values))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    if reason := lacking():
        pytest.skip(reason)
    with bare_plane("metacontroller") as plane:
        yield Site(plane, tmp_path)


@pytest.fixture
def hook_port(site: Site) -> Iterator[int]:
    """Yield the port of the hook, which is served as soon as there is a Deployment of it."""
    with contextlib.closing(ReservedPort()) as port, Pods(site.plane, port.number):
        yield port.number


def start_metacontroller(site: Site, hook_port: int) -> Process:
    """Start Metacontroller as its Deployment says."""
    kubeconfig = site.plane.processes.folder / "engine.kubeconfig"
    token = site.plane.api.service_account_token(engines.NAME, engines.NAME)
    site.plane.write_kubeconfig(kubeconfig, engines.NAME, token)
    deployment = find("metacontroller/install", "Deployment")
    command = engines.command(engines.find_engine("metacontroller"), deployment, kubeconfig)
    proxy = {"HTTP_PROXY": f"http://127.0.0.1:{hook_port}"}
    process = site.plane.processes.add("engine", command, env=proxy, cwd=REPOSITORY)
    process.start()
    return process


def stage_of(site: Site, name: str, ingress_class: str) -> Stage:
    """Return a new namespace."""
    namespace(site.plane.api, name)
    return Stage(site.plane.api, name, ingress_class=ingress_class)


def class_of_a_new_ingress(stage: Stage, name: str) -> str:
    """Return the class of the Ingress that a new Service gets."""
    stage.create_service(name, {"ingress/http": "true"})
    ingress = stage.until_ingress(name, f"the Ingress {name}", lambda _: True)
    return str(ingress["spec"]["ingressClassName"])


def test_the_commands_of_the_page_install_upgrade_roll_back_and_uninstall_it(site: Site, hook_port: int) -> None:
    metacontroller, install, _, upgrade, roll_back, uninstall, without_metacontroller = blocks("helm.md", "sh")
    before = everything(site.plane)
    site.run(metacontroller)
    site.plane.start_controllers()
    engine = start_metacontroller(site, hook_port)
    only_metacontroller = everything(site.plane)

    values = yaml.safe_load(blocks("helm.md", "yaml")[0])
    assert values["settings"] == {"defaults": {"class": "traefik"}}
    site.values(values)
    site.run(install)
    # Metacontroller was told to ask the hook only once it answered: a Service that can't be asked about gets an Event.
    assert [event["message"] for event in site.plane.api.list(EVENTS) if event["reason"] == "SyncError"] == []
    helm_test(site, hook_port)
    stage = stage_of(site, "team-a", "traefik")
    for step in steps_for(stage):
        step.play(stage)

    site.values(values | {"settings": {"defaults": {"class": "haproxy"}}})
    site.run(upgrade)
    assert class_of_a_new_ingress(stage, "upgraded") == "haproxy"
    site.run(roll_back)
    assert class_of_a_new_ingress(stage, "rolled-back") == "traefik"

    site.values(values | {"settings": {"defaults": {"host": "not a host"}}})
    failed = site.run(upgrade.replace("--rollback-on-failure", "--rollback-on-failure --timeout 5s"), check=False)
    assert failed.returncode != 0
    assert "has been rolled back due to rollback-on-failure being set" in failed.stderr
    assert class_of_a_new_ingress(stage, "upgraded-in-vain") == "traefik"

    site.values(values)
    site.run(uninstall)
    assert [stage.ingress(name) for name in ("upgraded", "rolled-back", "blog")] == 3 * [None]
    site.plane.kubectl("delete", "namespace", stage.namespace)
    assert everything(site.plane) - only_metacontroller == set()
    engine.stop()
    site.run(without_metacontroller)
    assert everything(site.plane) - before == set()


def test_helm_takes_over_what_make_install_has_made_and_every_ingress_stays(site: Site, hook_port: int) -> None:
    metacontroller, _, take_over, *_ = blocks("helm.md", "sh")
    site.run(metacontroller)
    site.run("kubectl apply -k manifests/")
    site.plane.start_controllers()
    start_metacontroller(site, hook_port)
    site.run("kubectl apply -k metacontroller/controller/")
    stage = stage_of(site, "team-a", "nginx")
    stage.create_service("shop", {"ingress/http": "true"})
    before = stage.until_ingress("shop", "the Ingress", lambda _: True)

    site.values({"image": {"repository": "registry.example.com/ingress-manager"}})
    site.run(take_over)
    assert class_of_a_new_ingress(stage, "later") == "nginx"
    after = stage.ingress("shop")
    assert after is not None
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def helm_test(site: Site, hook_port: int) -> None:
    """Run `helm test`, and what a node does for its pod: it runs the script, and tells its phase."""
    api = site.plane.api
    command = f"helm test {NAME} --namespace {NAME} --timeout 2m"
    with ThreadPoolExecutor() as beside:
        testing = beside.submit(site.run, command)
        pod = wait_for(lambda: api.get(PODS, f"{NAME}-test", NAME) or testing.done(), what="the test's pod")
        assert isinstance(pod, dict), testing.result()
        policies = {item["metadata"]["name"] for item in api.list(NETWORK_POLICIES, NAME)}
        done = script_against(pod, hook_port)
        phase = "Failed" if done.returncode else "Succeeded"
        patch = json.dumps({"status": {"phase": phase}})
        site.plane.kubectl("patch", "pod", f"{NAME}-test", "-n", NAME, "--subresource=status", "-p", patch)
        said = testing.result().stdout
    assert re.search(r"^Phase: +Succeeded$", said, re.MULTILINE), done.stderr
    assert policies == {NAME, f"{NAME}-test"}
    assert [item["metadata"]["name"] for item in api.list(NETWORK_POLICIES, NAME)] == [NAME]
