"""Runs the commands, in this process, and makes a kubectl that answers what a test wants."""

import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from ingress_manager.commands.main import commands
from ingress_manager.commands.plans import carrying_out
from ingress_manager.core.kubernetes import Object


class Ended(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


def run(*arguments: str | Path, stdin: str | bytes = "") -> Ended:
    """Return what `ingress-manager` does with these arguments. An exception that it lets through is raised here."""
    result = CliRunner(catch_exceptions=False).invoke(
        commands, [str(argument) for argument in arguments], input=stdin, prog_name="ingress-manager"
    )
    return Ended(result.exit_code, result.stdout, result.stderr)


def asked(words: Sequence[str]) -> tuple[str, str]:
    """Return the verb of a call of kubectl, and the first of the names: what stands behind the `--`."""
    return words[0], words[words.index("--") + 1]


def listing(*objects: Object) -> Object:
    """Return the objects as kubectl prints them."""
    return {"kind": "List", "apiVersion": "v1", "items": list(objects)}


def settings_on_a_cluster(text: str) -> dict[str, Object]:
    """Return what kubectl says of the hook's Deployment, and of the ConfigMap that it mounts, by what it is asked."""
    # No DecoratorController leads to it: it is known by its name.
    volumes = [{"name": "tmp"}, {"name": "settings", "configMap": {"name": "ingress-manager-settings-abc"}}]
    return {
        "decoratorcontrollers.metacontroller.k8s.io": listing(),
        "deployment/ingress-manager": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "spec": {"template": {"spec": {"volumes": volumes}}},
        },
        "configmap/ingress-manager-settings-abc": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "data": {"settings.yaml": text},
        },
    }


def installed(namespace: str, name: str, controller: str = "ingress-manager") -> list[Object]:
    """Return what makes an installation: its DecoratorController, its hook's Service, and that one's Deployment."""
    pods = {"app.kubernetes.io/name": name}
    volumes = [{"name": "settings", "configMap": {"name": f"{name}-settings"}}]
    return [
        {
            "apiVersion": "metacontroller.k8s.io/v1alpha1",
            "kind": "DecoratorController",
            "metadata": {"name": controller},
            "spec": {
                "resources": [{"apiVersion": "v1", "resource": "services"}],
                "attachments": [{"apiVersion": "networking.k8s.io/v1", "resource": "ingresses"}],
                "hooks": {"sync": {"webhook": {"service": {"name": name, "namespace": namespace}}}},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": pods},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"template": {"metadata": {"labels": {**pods, "more": "1"}}, "spec": {"volumes": volumes}}},
        },
    ]


def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second pass at each look at the clock."""
    monkeypatch.setattr(carrying_out, "sleep", float)
    monkeypatch.setattr(carrying_out, "monotonic", itertools.count().__next__)


def kubectl_that_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any], error: str = "Error from server: no"
) -> Path:
    """Put a kubectl on PATH, alone, and return the file to which it writes its arguments, a line a call.

    `answers` says what it prints when one of its arguments is a key; for others it fails with `error`.
    """
    calls = folder / "calls"
    program = folder / "bin" / "kubectl"
    program.parent.mkdir(exist_ok=True)
    texts = {key: folder / f"answer{number}" for number, key in enumerate(answers)}
    for key, text in texts.items():
        text.write_text(f"{json.dumps(answers[key])}\n")
    # A shell: in Python, each call would take ten times as long.
    cases = "\n".join(f"{quote(key)}) exec /bin/cat {quote(str(text))};;" for key, text in texts.items())
    program.write_text(
        f"""#!/bin/sh
printf '%s\\n' "$*" >> {quote(str(calls))}
shift
for argument; do
case $argument in
{cases}
esac
done
printf '%s\\n' {quote(error)} >&2
exit 1
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=None)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert os.environ["PATH"] == str(program.parent)
    return calls
