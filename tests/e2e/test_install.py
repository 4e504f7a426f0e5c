"""Runs the commands on the install and uninstall pages, on a cluster without nodes. tests/node uses a node."""

import contextlib
import re
from pathlib import Path

import pytest
import yaml

from devcluster import build
from devcluster.api import INGRESSES, NAMESPACES, SERVICE_ACCOUNTS, SERVICES, WEBHOOKS, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.control_plane import ControlPlane
from devcluster.errors import NotReady
from devcluster.overlay import Overlay
from ingress_manager.core.settings import Defaults, Limits, Settings
from tests.core.test_properties import desired_for
from tests.docs.test_docs import blocks
from tests.e2e import people
from tests.e2e.objects import CONFIG_MAPS, DEPLOYMENTS, ON, POLICIES, by_hand, create, made_for, service
from tests.e2e.people import checkout, sh

ELSEWHERE = ("make image ", "docker push ", "kind ")
"""Prefixes of commands that aren't run, because there is no builder or registry. tests/node builds with buildah."""


def commands_of(page: str) -> list[str]:
    return [line for line in people.commands_of(f"docs/{page}") if not line.startswith(ELSEWHERE)]


UNINSTALL = [command for command in commands_of("commands/adopt.md") if command.startswith("make uninstall")]


def run(plane: ControlPlane, command: str) -> str:
    """Run a command like a user who has downloaded Metacontroller's CRDs; return its output."""
    if command.startswith("make "):
        command = re.sub(" DOMAIN=[^ ]*", "", command)  # it would change the repository's settings
        command = f"{command.partition(' METACONTROLLER_CRDS=')[0]} METACONTROLLER_CRDS={CRD_FILE} YES=1"
    return sh(plane, f"{command} 2>&1").stdout


def everything(plane: ControlPlane) -> set[tuple[str, ...]]:
    """Return kind, namespace and name of all objects except Events and Leases, which come and go by themselves."""
    resources = plane.kubectl("api-resources", "--verbs=list", "--output=name").split()
    listed = ",".join(name for name in resources if not name.startswith(("events", "leases.")))
    columns = "--output=custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name"
    lines = plane.kubectl("get", listed, "--all-namespaces", "--no-headers", columns).splitlines()
    return {tuple(line.split()) for line in lines}


def until_only(plane: ControlPlane, before: set[tuple[str, ...]]) -> None:
    """Wait until the cluster has the same objects as before; some are deleted after the command ends."""
    with contextlib.suppress(NotReady):
        wait_for(lambda: everything(plane) == before, 20, interval=0.5)
    assert everything(plane) == before


BUNDLE = "bm8gUEVN"


def install_webhook(plane: ControlPlane) -> None:
    """Add the admission webhook to an installation, with a CA bundle of the administrator."""
    webhook = Overlay(["manifests"], components=["manifests/admission"])
    webhook.patch(WEBHOOKS.kind, "ingress-manager", ("add", "/webhooks/0/clientConfig/caBundle", BUNDLE))
    plane.kubectl("apply", "--filename=-", input=webhook.render().text)


IMAGE = "registry.example.com/ingress-manager:0.1.0"
PEM = "-----BEGIN CERTIFICATE-----"


def test_installing_and_uninstalling_as_on_the_pages_leaves_nothing_behind(plane: ControlPlane) -> None:
    before = everything(plane)
    *commands, again = [command for command in commands_of("install.md") if "CONTEXT=" not in command]
    assert len(commands) == 8
    printed = [run(plane, command) for command in commands]
    install_webhook(plane)
    image = "registry.example.com/ingress-manager:0.2.0"
    printed.append(run(plane, re.sub(r"IMAGE=\S+", f"IMAGE={image}", again)))
    installs = [text for text in printed if "Installing on the cluster" in text]
    assert len(installs) == 2
    for text in installs:
        applied = re.findall(r"^kubectl (?:apply|rollout status) (\S+)", text, re.MULTILINE)
        assert applied[1] == "deployment/ingress-manager", "before Metacontroller is told"
        assert applied.index("--kustomize=metacontroller/install") < applied.index(
            "--kustomize=metacontroller/controller"
        )
        checked = text.partition("\ningress-manager check --wait --timeout=30\n")[2]
        assert "✓ Kubernetes: its version is supported\n" in checked

    assert plane.api.get(DEPLOYMENTS, "metacontroller", "metacontroller") is not None
    hooks = {hook["metadata"]["name"]: hook["spec"] for hook in plane.api.list(DEPLOYMENTS, "ingress-manager")}
    assert {*hooks} == {"ingress-manager", "ingress-manager-admission"}, "an installed webhook is brought along"
    assert {spec["template"]["spec"]["containers"][0]["image"] for spec in hooks.values()} == {image}
    configuration = plane.api.get(WEBHOOKS, "ingress-manager") or {}
    assert configuration["webhooks"][0]["clientConfig"]["caBundle"] == BUNDLE
    account = plane.api.get(SERVICE_ACCOUNTS, "ingress-manager", "ingress-manager") or {}
    assert account["imagePullSecrets"] == [{"name": "registry"}], "the second installation leaves it as it is"

    assert "ingress-manager is removed." in run(plane, UNINSTALL[0])
    until_only(plane, before)


def test_an_existing_metacontroller_is_left_unchanged(plane: ControlPlane) -> None:
    empty = everything(plane)
    keep, remove = UNINSTALL
    assert "ingress-manager is removed." in run(plane, keep), "where nothing is installed, or no longer"
    plane.kubectl("apply", "--filename", str(CRD_FILE))
    before = everything(plane)
    [install] = [command for command in commands_of("install.md") if "CONTEXT=" in command]
    context = plane.kubectl("config", "current-context").strip()
    printed = run(plane, install.replace("CONTEXT=kind-kind", f"CONTEXT={context}"))
    assert "The cluster already has Metacontroller." in printed
    assert plane.api.list(DEPLOYMENTS, "metacontroller") == []
    assert ("DecoratorController", "<none>", "ingress-manager") in everything(plane)
    run(plane, remove)
    until_only(plane, before)
    plane.kubectl("delete", "--filename", str(CRD_FILE))
    until_only(plane, empty)


def test_losses_of_services_are_shown_before_anything_changes(plane: ControlPlane, tmp_path: Path) -> None:
    before, folder = everything(plane), checkout(tmp_path)
    file, command = folder / "manifests/settings.yaml", f"make install IMAGE={IMAGE} METACONTROLLER_CRDS={CRD_FILE}"
    text = file.read_text(encoding="utf-8")

    def install(options: str = "", answer: str = "") -> tuple[int, str]:
        on_a_terminal = f"echo {answer} | python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "
        script = f"{answer and on_a_terminal}{command} {options} 2>&1"
        ended = sh(plane, script, folder=folder, check=False)
        return ended.returncode, ended.stdout.replace("\r", "")

    def settings() -> list[str]:
        maps = plane.api.list(CONFIG_MAPS, "ingress-manager")
        return [each["data"]["settings.yaml"] for each in maps if "settings" in each["metadata"]["name"]]

    file.write_text(text.replace("\ndefaults:", "\ndefaults:\n  hots: a.example.com"), encoding="utf-8")
    status, printed = install()
    assert status
    assert re.search(r"^manifests/settings\.yaml:\d+: .*hots", printed, re.MULTILINE), printed
    assert everything(plane) == before

    file.write_text(text, encoding="utf-8")
    assert install()[0] == 0, "nothing to ask, where nothing is installed"
    [running] = settings()
    create(plane.api, NAMESPACES, "team-a")
    allowed = Settings(Defaults(host="{service}.example.org"), Limits(hosts=("*.example.org",)))
    for number in range(12):
        parent = plane.api.create(SERVICES, service("team-a", f"shop{number:02}", annotations=ON))
        [ingress] = desired_for(parent, allowed)
        made_for(plane.api, parent, ingress)
    plane.api.create(INGRESSES, by_hand("team-a", "by-hand", "theirs.example.org", "shop00"))
    for answer in ("", "n"):
        status, printed = install("DOMAIN=apps.example.net", answer)
        assert status
        assert "Nothing was done" in printed
        assert '\n+  hosts: ["*.{namespace}.apps.example.net"]\n' in printed
        assert "ConfigMap\n" not in printed.partition("# Already installed")[2], "its lines are the settings'"
        assert "\n# 12 Services would lose an object or a URL.\n" in printed
        assert re.findall(r"^removed  Ingress (\S+)  the Ingress's host ", printed, re.MULTILINE) == [
            f"team-a/shop{number:02}" for number in range(10)
        ]
        assert "\nand 2 more: " in printed
        assert "\n# 1 hand-written object outside the limits: " in printed
        assert file.read_text(encoding="utf-8") == text
        assert settings() == [running]
    file.write_text(text.replace("\npaused: false", "\npaused: true"), encoding="utf-8")
    status, printed = install("DOMAIN=apps.example.net YES=1")
    assert status == 0, printed
    assert file.read_text(encoding="utf-8") in settings()
    assert "apps.example.net" in file.read_text(encoding="utf-8")
    warn = "ingress-manager settings --policies=warn manifests/settings.yaml | kubectl apply --filename=-"
    sh(plane, warn, folder=folder)
    status, printed = install()
    assert status == 0, "where nothing changes, nobody is asked"
    assert "\n# 0 Services would lose an object or a URL.\n# 12 more would, once `paused` is false.\n" in printed
    plane.kubectl("delete", "namespace", "team-a")
    file.write_text(text, encoding="utf-8")
    assert (install("YES=1")[0], plane.api.get(POLICIES, "ingress-manager-limits-ingresses")) == (0, None), (
        "without limits, the policies go"
    )
    run(plane, UNINSTALL[1])
    until_only(plane, before)


@pytest.mark.skipif(not build.built("helm"), reason="`python -m devcluster build --helm` builds Helm.")
def test_helm_takes_over_an_installation_by_make_with_the_webhook(plane: ControlPlane, tmp_path: Path) -> None:
    before = everything(plane)
    run(plane, f"make install IMAGE={IMAGE}")
    install_webhook(plane)
    repository, _, tag = IMAGE.rpartition(":")
    certificate = {"certManager": {"enabled": False}, "secretName": "ingress-manager-admission-tls", "caBundle": PEM}
    values = {
        "image": {"repository": repository, "tag": tag},
        "settings": yaml.safe_load((REPOSITORY / "manifests/settings.yaml").read_text(encoding="utf-8")),
        "admission": {"enabled": True, **certificate},
    }
    (tmp_path / "my-values.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    (tmp_path / "charts").symlink_to(REPOSITORY / "charts")
    _, _, take_over, upgrade, *_, remove, _ = blocks("helm.md", "sh")
    path = f"{build.folder('helm')}:{people.environment_of(plane)['PATH']}"
    environment = {"PATH": path, "HOME": str(tmp_path)}
    for script in (take_over, upgrade):
        sh(plane, script, folder=tmp_path, environment=environment)
    hooks = {hook["metadata"]["name"]: hook for hook in plane.api.list(DEPLOYMENTS, "ingress-manager")}
    assert {*hooks} == {"ingress-manager", "ingress-manager-admission"}
    releases = [hook["metadata"]["annotations"]["meta.helm.sh/release-name"] for hook in hooks.values()]
    assert releases == ["ingress-manager", "ingress-manager"]
    sh(plane, remove, folder=tmp_path, environment=environment)
    run(plane, UNINSTALL[1])
    until_only(plane, before)
