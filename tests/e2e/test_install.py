"""The pages on installing, also by Helm, and uninstalling: their commands are run, on a cluster without nodes."""

import contextlib
import json
import os
import re
from pathlib import Path

import pytest
import yaml

from devcluster import build
from devcluster.api import SERVICE_ACCOUNTS, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.control_plane import ControlPlane
from devcluster.errors import NotReady
from tests.docs.test_docs import blocks
from tests.e2e.objects import CONFIG_MAPS, DEPLOYMENTS
from tests.e2e.people import environment_of, fences, sh
from tests.helm import lacking

ELSEWHERE = {
    "make image": "not run: there is no builder; tests/node has buildah build it",
    "docker push": "not run: there is no registry",
    "kind": "not run: as in kind's own documentation",
}
"""What the commands begin with that aren't run here, and why."""


def commands_of(page: str) -> list[str]:
    """Return the commands of a page that are run here."""
    text = "".join(fence.text for fence in fences(f"docs/{page}") if fence.info == "sh")
    text = re.sub(r" - <<'END'\n.*?^END$", "", text, flags=re.MULTILINE | re.DOTALL)
    elsewhere = tuple(f"{start} " for start in ELSEWHERE)
    return [line for line in text.splitlines() if not f"{line} ".startswith(elsewhere)]


UNINSTALL = [command for command in commands_of("commands/adopt.md") if command.startswith("make uninstall")]


def run(plane: ControlPlane, command: str) -> str:
    """Run a command as somebody would who has a download of Metacontroller's CRDs; return what it prints."""
    if command.startswith("make install"):
        command = re.sub(" DOMAIN=[^ ]*", "", command)  # it would change the repository's settings
        command = f"{command.partition(' METACONTROLLER_CRDS=')[0]} METACONTROLLER_CRDS={CRD_FILE} YES=1"
    if command.startswith("make uninstall"):
        command += " YES=1"
    return sh(plane, f"{command} 2>&1").stdout


def everything(plane: ControlPlane) -> set[tuple[str, ...]]:
    """Return all objects of the cluster: kind, namespace and name. Events and leases come and go by themselves."""
    resources = plane.kubectl("api-resources", "--verbs=list", "--output=name").split()
    listed = ",".join(name for name in resources if not name.startswith(("events", "leases.")))
    columns = "--output=custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name"
    lines = plane.kubectl("get", listed, "--all-namespaces", "--no-headers", columns).splitlines()
    return {tuple(line.split()) for line in lines}


def until_only(plane: ControlPlane, before: set[tuple[str, ...]]) -> None:
    """Return once the cluster holds what it held before; some objects go a moment after the command."""
    seen: list[set[tuple[str, ...]]] = []

    def check() -> bool:
        seen.append(everything(plane))
        return seen[-1] == before

    with contextlib.suppress(NotReady):
        wait_for(check, 20, what="what was there before", interval=0.5)
    assert seen[-1] == before


def test_what_the_pages_install_and_uninstall_leaves_nothing_behind(plane: ControlPlane) -> None:
    before = everything(plane)
    commands = [command for command in commands_of("install.md") if "CONTEXT=" not in command]
    assert len(commands) == 9
    printed = [run(plane, command) for command in commands]
    installs = [text for text in printed if "Installing on the cluster" in text]
    assert len(installs) == 2
    for text in installs:
        applied = re.findall(r"^kubectl (?:apply|rollout status) (\S+)", text, re.MULTILINE)
        assert applied[1] == "deployment/ingress-manager", "before Metacontroller is told"
        assert applied.index("--kustomize=metacontroller/install") < applied.index(
            "--kustomize=metacontroller/controller"
        )
        checked = text.partition("\ningress-manager check --wait --timeout=30s\n")[2]
        assert "✓ Kubernetes: its version is known to work\n" in checked
    for namespace in ("ingress-manager", "metacontroller"):
        assert plane.api.get(DEPLOYMENTS, namespace, namespace) is not None
    [hook] = plane.api.list(DEPLOYMENTS, "ingress-manager")
    [container] = hook["spec"]["template"]["spec"]["containers"]
    assert f"IMAGE={container['image']}" in commands[0]

    account = plane.api.get(SERVICE_ACCOUNTS, "ingress-manager", "ingress-manager")
    assert account is not None
    assert account["imagePullSecrets"] == [{"name": "registry"}], "the second installation leaves it as it is"

    assert "It is removed." in run(plane, UNINSTALL[0])
    until_only(plane, before)


def test_a_metacontroller_that_was_there_before_is_left_as_it_is(plane: ControlPlane) -> None:
    empty = everything(plane)
    keep, remove = UNINSTALL
    assert "It is removed." in run(plane, keep), "where nothing is installed, or no longer"
    plane.kubectl("apply", "--filename", str(CRD_FILE))
    before = everything(plane)
    [install] = [command for command in commands_of("install.md") if "CONTEXT=" in command]
    context = plane.kubectl("config", "current-context").strip()
    printed = run(plane, install.replace("CONTEXT=kind-kind", f"CONTEXT={context}"))
    assert "The cluster has a Metacontroller already." in printed
    assert plane.api.list(DEPLOYMENTS, "metacontroller") == []
    assert ("DecoratorController", "<none>", "ingress-manager") in everything(plane)
    run(plane, remove)
    until_only(plane, before)
    plane.kubectl("delete", "--filename", str(CRD_FILE))
    until_only(plane, empty)


def test_the_commands_of_the_charts_page_can_be_run_in_their_order_and_leave_nothing_behind(
    plane: ControlPlane, tmp_path: Path
) -> None:
    if reason := lacking():
        pytest.skip(reason)
    metacontroller, _, take_over, upgrade, roll_back, uninstall, without_metacontroller = blocks("helm.md", "sh")
    for name in ("charts", "manifests", "metacontroller"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    path = f"{build.folder('helm')}:{environment_of(plane)['PATH']}"

    def run(block: str, ingress_class: str = "traefik") -> str:
        """Run the commands of a block; return the class in the settings that the hook's Deployment mounts then."""
        values = yaml.safe_load(blocks("helm.md", "yaml")[0])
        values["settings"] = {"defaults": {"class": ingress_class}}
        (tmp_path / "my-values.yaml").write_text(yaml.safe_dump(values))
        # Metacontroller's own CRDs are on the Internet; CRD_FILE holds CRDs of the same kinds.
        local = re.sub(r"https://\S*/metacontroller-crds-v1\.yaml", str(CRD_FILE), block)
        sh(plane, local, folder=tmp_path, environment={"PATH": path, "HOME": str(tmp_path)})
        deployment = plane.api.get(DEPLOYMENTS, "ingress-manager", "ingress-manager")
        if deployment is None:
            return ""
        [volume] = deployment["spec"]["template"]["spec"]["volumes"]
        mounted = plane.api.get(CONFIG_MAPS, volume["configMap"]["name"], "ingress-manager")
        assert mounted is not None
        return str(yaml.safe_load(mounted["data"]["settings.yaml"])["defaults"]["class"])

    before = everything(plane)
    assert run(metacontroller) == ""
    only_metacontroller = everything(plane)
    by_kustomize = "kubectl apply -k manifests/\nkubectl apply -k metacontroller/controller/"
    assert [run(by_kustomize), run(take_over)] == ["nginx", "traefik"]
    assert [run(upgrade, "haproxy"), run(roll_back)] == ["haproxy", "traefik"]
    assert run(uninstall) == ""
    until_only(plane, only_metacontroller)
    run(without_metacontroller)
    until_only(plane, before)


def test_an_installed_webhook_is_brought_along_and_keeps_its_certificate(plane: ControlPlane, tmp_path: Path) -> None:
    [install] = [command for command in commands_of("install.md") if command.endswith("DOMAIN=apps.example.com")]
    run(plane, install)
    manifests = os.path.relpath(REPOSITORY / "manifests", tmp_path)
    content = {"resources": [manifests], "components": [f"{manifests}/admission"]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(content))
    plane.kubectl("apply", f"--kustomize={tmp_path}")
    patch = {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "bm8gUEVN"}
    webhook = ("validatingwebhookconfiguration", "ingress-manager")
    plane.kubectl("patch", *webhook, "--type=json", f"--patch={json.dumps([patch])}")

    image = "registry.example.com/ingress-manager:0.2.0"
    context = plane.kubectl("config", "current-context").strip()
    run(plane, re.sub(r"IMAGE=\S+", f"IMAGE={image} CONTEXT={context}", install))
    for name in ("ingress-manager", "ingress-manager-admission"):
        deployment = plane.api.get(DEPLOYMENTS, name, "ingress-manager")
        assert deployment is not None
        assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == image
    [configured] = json.loads(plane.kubectl("get", *webhook, "--output=json"))["webhooks"]
    assert configured["clientConfig"]["caBundle"] == "bm8gUEVN"
    run(plane, UNINSTALL[0])
