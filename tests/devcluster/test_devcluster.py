"""The parts of the development cluster that need no cluster: what a person is told, and what is left behind."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from devcluster import build, credentials
from devcluster.__main__ import main
from devcluster.api import wait_for
from devcluster.processes import Processes


@pytest.fixture
def processes() -> Iterator[Processes]:
    with Processes() as group:
        yield group


def gone(pid: int) -> bool:
    """Return whether the process has ended, reaped or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize(
    ("go", "reason"),
    [
        (None, "there is no `go` on PATH"),
        ("echo go version go1.22.1 linux/amd64", "says go1.22.1"),
        ("echo go.mod requires go 1.26 >&2; exit 1", "says go.mod requires go 1.26"),
    ],
)
def test_without_a_usable_go_the_message_says_what_is_missing_and_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, go: str | None, reason: str
) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")
    if go:
        (tmp_path / "go").write_text(f"#!/bin/sh\n{go}\n")
        (tmp_path / "go").chmod(0o755)

    result = CliRunner().invoke(main, ["build"])

    assert result.exit_code == 2
    assert reason in result.stderr
    assert "Go 1.26.0 or later is needed to build etcd, kube-apiserver, kube-controller-manager" in result.stderr
    assert "https://go.dev/dl/" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "script",
    ["sleep 60 & echo $!; wait", "trap '' TERM; sleep 60 & echo $!; wait", "sleep 60 & echo $!; exit"],
    ids=["it ends when asked", "it ignores SIGTERM", "it has already ended"],
)
def test_stopping_a_process_ends_its_descendants_too(processes: Processes, script: str) -> None:
    process = processes.add("shell", ["/bin/sh", "-c", script])
    process.start()
    child = int(wait_for(process.log_path.read_text))

    process.stop(timeout=0.5)

    assert not process.running
    wait_for(lambda: gone(child))


def test_a_process_sees_nothing_of_a_persons_own_settings(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/production")
    process = processes.add("env", ["/usr/bin/env"], env={"GIVEN": "yes"})
    process.start()
    wait_for(lambda: not process.running)

    seen = dict(line.split("=", 1) for line in process.log_path.read_text().splitlines())
    assert seen["GIVEN"] == "yes"
    assert seen["HOME"] == str(processes.folder)
    assert "KUBECONFIG" not in seen


def test_a_parent_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import time
        from devcluster.processes import Processes
        processes = Processes()
        shell = processes.add("shell", ["/bin/sh", "-c", "sleep 60 & echo $!; wait"])
        shell.start()
        while not shell.log_path.read_text(): time.sleep(0.01)
        print(shell.pid, shell.log_path.read_text().strip(), processes.folder, flush=True)
        time.sleep(60)
    """)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=build.REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        pid, child, folder = parent.stdout.readline().split()
        parent.send_signal(signal.SIGKILL)

    wait_for(lambda: gone(int(pid)) and gone(int(child)))
    wait_for(lambda: not Path(folder).exists())


def test_only_their_owner_can_read_credentials(tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_text("certificate")
    path = tmp_path / "kubeconfig"

    credentials.write_kubeconfig(path, url="https://127.0.0.1:1", ca_file=ca, user="me", token="secret")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert yaml.safe_load(path.read_text())["users"] == [{"name": "me", "user": {"token": "secret"}}]
    assert credentials.read_kubeconfig(path) == ("https://127.0.0.1:1", ca, "secret")
    assert credentials.new_signing_key() != credentials.new_signing_key()
