"""`make install` and `make uninstall`: what is run, in which order. On a real API server: tests/e2e/test_install.py."""

import json
import os
import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from devcluster.build import REPOSITORY
from devcluster.manifests import built
from tests.commands.commands import installed, listing
from tests.docs.test_docs import blocks
from tools import install
from tools.image import EXAMPLE


class Machine:
    """A machine with a kubectl of the test's own, which notes what it is asked to do."""

    def __init__(self, folder: Path) -> None:
        self._calls, self._program = folder / "calls", folder / "kubectl"
        self.answers: dict[str, tuple[int, str]] = {
            "config current-context": (0, "here"),
            "version": (0, '{"serverVersion": {"gitVersion": "v1.30.0"}}'),
        }
        """By how a command begins: the exit status, and what is printed. Of several, the first one counts."""

    def run(self, *arguments: str, typed: str = "") -> tuple[int, str]:
        """Return the exit status and what tools/install.py itself prints; `typed` is what a person answers."""
        answers = "\n".join(
            f"{shlex.quote(beginning)}*) printf '%s\\n' {shlex.quote(said)}; exit {status};;"
            for beginning, (status, said) in self.answers.items()
        )
        self._program.write_text(f'#!/bin/sh\necho "$*" >> {self._calls}\ncase "$*" in\n{answers}\nesac\n')
        self._program.chmod(0o755)
        self._calls.write_text("")
        ended = CliRunner().invoke(install.main, arguments, input=typed)
        return ended.exit_code, ended.output

    @property
    def writes(self) -> list[str]:
        """Return the commands that were not just questions, with the temporary folder's name left out."""
        return [
            re.sub(r"=/\S*/ingress-manager-\w+", "=TEMPORARY", call)
            for call in self._calls.read_text().splitlines()
            if not call.startswith(("get", "config", "version"))
        ]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setattr(
        install, "check", lambda shell: click.echo(f"check of {shell.context or 'the current context'}")
    )
    return made


HOOK = [
    "apply --kustomize=TEMPORARY",
    "rollout status deployment/ingress-manager --namespace=ingress-manager --timeout=5m",
]
METACONTROLLER = [
    f"apply --filename={install.METACONTROLLER_CRDS}",
    f"wait --for=condition=established --timeout=1m {install.CRD}",
    "apply --kustomize=metacontroller/install",
    "rollout status deployment/metacontroller --namespace=metacontroller --timeout=5m",
]
CONTROLLER = ["apply --kustomize=metacontroller/controller"]


@pytest.mark.parametrize(
    ("found", "writes"),
    [
        ([], [*HOOK, *METACONTROLLER, *CONTROLLER]),
        ([install.CRD], [*HOOK, *CONTROLLER]),
        ([install.CRD, install.OURS], [*HOOK, *METACONTROLLER, *CONTROLLER]),
        ([install.CRD, install.HTTPROUTES], [*HOOK, "apply --kustomize=metacontroller/httproute"]),
    ],
    ids=["no Metacontroller", "another Metacontroller", "installed already", "installed already, with HTTPRoutes"],
)
def test_the_hook_is_first_and_the_controller_last(machine: Machine, found: list[str], writes: list[str]) -> None:
    machine.answers["get"] = (0, "\n".join(found))
    status, said = machine.run("install", EXAMPLE)
    assert status == 0, said
    assert machine.writes == writes
    assert "Installing on the cluster of the context here." in said
    for command in writes:
        assert command == "apply --kustomize=TEMPORARY" or f"\nkubectl {command}\n" in said


def test_a_kubernetes_that_is_too_old_is_refused_and_one_that_nobody_has_tried_is_named(machine: Machine) -> None:
    machine.answers["version"] = (0, '{"serverVersion": {"gitVersion": "v1.29.15-gke.1"}}')
    status, said = machine.run("install", EXAMPLE)
    assert (status, machine.writes) == (1, [])
    assert said == "Error: Nothing was done: Kubernetes v1.29.15-gke.1 is too old: it takes 1.30 or later.\n"

    machine.answers["version"] = (0, '{"serverVersion": {"gitVersion": "v2.0.0"}}')
    status, said = machine.run("install", EXAMPLE)
    assert (status, machine.writes[:2]) == (0, HOOK)
    assert said.startswith("! Kubernetes v2.0.0 is newer than 1.37.2, with which ingress-manager is tested. It may")


def test_who_may_claim_every_host_is_said_at_the_end_unless_the_settings_limit_the_hosts(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, said = machine.run("install", EXAMPLE)
    assert said.endswith(f"\n\n{install.UNLIMITED_HOSTS}\ncheck of the current context\n")
    limited = tmp_path / "settings.yaml"
    limited.write_text("limits: {hosts: [a.example.com]}\nnamespaces: {team-a: {limits: {hosts: any}}}\n")
    monkeypatch.setattr(install, "SETTINGS", limited)
    status, said = machine.run("install", EXAMPLE)
    assert status == 0
    assert "every host" not in said


def test_every_command_goes_to_the_context_that_is_named(machine: Machine) -> None:
    machine.run("install", "--context", "there", "--crds", "crds.yaml", EXAMPLE)
    assert [command for command in machine.writes[1:] if not command.endswith(" --context=there")] == []
    assert "apply --filename=crds.yaml --context=there" in machine.writes


def test_while_the_hook_does_not_answer_nothing_is_told_to_ask_it(machine: Machine) -> None:
    machine.answers["rollout status deployment/ingress-manager"] = (1, "error: timed out waiting for the condition")
    status, said = machine.run("install", EXAMPLE)
    assert (status, machine.writes) == (1, HOOK)
    assert said.endswith(f"Error: {install.HOOK_FAILED}\n")


def on_a_cluster(machine: Machine, place: str, image: str, settings: str, *, by: str = "") -> None:
    """Let the cluster have an installation."""
    namespace, _, name = place.partition("/")
    controller, service, deployment = installed(namespace, name)
    deployment["metadata"]["labels"] = {"app.kubernetes.io/managed-by": by}
    deployment["spec"]["template"]["spec"]["containers"] = [{"image": image}]
    data = {"settings.yaml": settings}
    about = {"name": f"{name}-settings", "namespace": namespace}
    configmap = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data}
    machine.answers[f"get {install.CRD}"] = (0, install.CRD)
    machine.answers["get decoratorcontrollers"] = (0, json.dumps(listing(controller)))
    found = json.dumps(listing(service, deployment, configmap))
    machine.answers[f"get services,deployments.apps,configmaps --namespace={namespace}"] = (0, found)


SETTINGS = install.SETTINGS.read_text(encoding="utf-8")
PLACE = "ingress-manager/ingress-manager"


def test_nothing_is_asked_where_nothing_differs(machine: Machine) -> None:
    on_a_cluster(machine, PLACE, EXAMPLE, SETTINGS)
    status, printed = machine.run("install", EXAMPLE)
    assert (status, "installed already, and" in printed) == (0, False)


@pytest.mark.parametrize(
    ("place", "image", "settings", "said"),
    [
        (PLACE, "a:1", SETTINGS, f"The image is a:1, and would be {EXAMPLE}."),
        (PLACE, EXAMPLE, "paused: true\n", "\n-paused: true\n"),
        (PLACE, EXAMPLE, SETTINGS, f"Helm keeps {PLACE}, as the release "),
        ("tools/hook", EXAMPLE, SETTINGS, "tools/hook is there, and would be left running: Metacontroller"),
    ],
    ids=["image", "settings", "by Helm", "place"],
)
def test_what_would_change_of_an_installation_is_said_and_nothing_done_before_somebody_says_yes(
    machine: Machine, place: str, image: str, settings: str, said: str
) -> None:
    on_a_cluster(machine, place, image, settings, by=said.partition(" ")[0])
    status, printed = machine.run("install", EXAMPLE)
    assert (status, machine.writes) == (1, [])
    assert said in printed
    assert printed.endswith("Error: Nothing was done: there is no terminal on which to ask. YES=1 says yes.\n")
    status, printed = machine.run("install", "--yes", EXAMPLE)
    assert (status, said in printed, bool(machine.writes)) == (0, True, True)


EMPTY = json.dumps({"apiVersion": "v1", "kind": "List", "items": []})
REMOVED = [
    "delete --ignore-not-found -- decoratorcontroller ingress-manager",
    "delete --namespace=ingress-manager --cascade=foreground --ignore-not-found -- deployment ingress-manager",
]


@pytest.mark.parametrize("ours", [True, False])
def test_a_metacontroller_that_was_there_before_stays(machine: Machine, ours: bool) -> None:
    machine.answers[f"get {install.OURS}"] = (0, install.OURS if ours else "")
    machine.answers["get"] = (0, EMPTY)
    status, said = machine.run("uninstall", "--yes")
    assert status == 0, said
    assert machine.writes[:2] == REMOVED
    assert any(command.endswith(" -- namespace ingress-manager metacontroller") for command in machine.writes) is ours
    assert any(" -- crd " in command for command in machine.writes) is ours


@pytest.mark.parametrize(
    ("there", "typed", "said"),
    [
        (True, "y\n", "\nIt is removed.\n"),
        (True, "\n", "Do that? [y/N]: \nError: Nothing was done.\n"),
        (False, "y\n", "Error: Nothing was done: there is no terminal on which to ask. YES=1 says yes.\n"),
    ],
    ids=["yes", "no", "nobody"],
)
def test_nothing_is_removed_before_somebody_has_read_what_goes_and_says_yes(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, there: bool, typed: str, said: str
) -> None:
    machine.answers["get"] = (0, EMPTY)
    monkeypatch.setattr(install, "has_terminal", lambda: there)
    ended, printed = machine.run("uninstall", typed=typed)
    removed = "removed" in said
    assert (ended, bool(machine.writes)) == (0 if removed else 1, removed)
    assert printed.startswith("Removing it from the cluster of the context here:\n  Stop ingress-manager.")
    assert printed.endswith(said)


def test_when_a_command_of_the_removal_fails_those_after_it_are_not_run(machine: Machine) -> None:
    machine.answers["get clusterrole"] = (0, "")
    machine.answers["get"] = (0, EMPTY)
    machine.answers["delete --namespace=ingress-manager"] = (1, "error: no")
    status, said = machine.run("uninstall", "--yes")
    assert (status, machine.writes) == (1, REMOVED)
    assert "Run it again" in said


def test_the_kustomization_of_the_page_gives_the_404_page_the_image(tmp_path: Path) -> None:
    [written] = blocks("install.md", "yaml")
    (tmp_path / "kustomization.yaml").write_text(
        written.replace("../gateway", os.path.relpath(REPOSITORY / "gateway", tmp_path))
    )
    original = yaml.safe_dump_all(built(REPOSITORY / "gateway"))
    assert original.count("image: ghcr.io/ingress-manager/ingress-manager:0.1.0") == 1
    expected = original.replace("ghcr.io/ingress-manager", "registry.example.com")
    assert yaml.safe_dump_all(built(tmp_path)) == expected
