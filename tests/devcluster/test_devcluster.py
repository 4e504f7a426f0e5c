"""The parts of the development cluster that need no cluster: finding and building programs, and ending processes."""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from devcluster import build, credentials, engines, programs
from devcluster.__main__ import main
from devcluster.api import wait_for, warnings_of
from devcluster.cluster import tells_of_the_start
from devcluster.errors import BuildFailed, MissingProgram, ProcessDied
from devcluster.processes import Process, Processes

linux_only = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="The use is read from /proc, which only Linux has."
)


@pytest.fixture
def processes() -> Iterator[Processes]:
    with Processes() as group:
        yield group


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that adds a program to a machine that has none: no PATH, no assets, nothing built."""
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")

    def add(folder: str, name: str, script: str) -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return add


def gone(pid: int) -> bool:
    """Return whether the process has ended, reaped or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


def sh(processes: Processes, script: str, name: str = "shell") -> Process:
    return processes.add(name, ["/bin/sh", "-c", script])


def ignore(_line: str) -> None: ...


# Finding programs.


def test_assets_come_before_path_and_path_before_what_was_built(
    bare_machine: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_machine(f"build/{build.folder('etcd').name}", "etcd", "echo etcd Version: 3.6.8")
    origins = [programs.find("etcd", ignore)]
    bare_machine("path", "etcd", "echo etcd Version: 3.6.9")
    origins.append(programs.find("etcd", ignore))
    bare_machine("assets", "etcd", "echo etcd Version: 3.5.0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))
    origins.append(programs.find("etcd", ignore))

    assert [(found.origin, found.version) for found in origins if found] == [
        ("built", "v3.6.8"),
        ("PATH", "v3.6.9"),
        ("KUBEBUILDER_ASSETS", "v3.5.0"),
    ]


def test_a_program_on_path_that_is_too_old_is_passed_over_with_a_message(bare_machine: Callable[..., Path]) -> None:
    old = bare_machine("path", "kube-apiserver", "echo Kubernetes v1.19.2")
    said: list[str] = []

    assert programs.find("kube-apiserver", said.append) is None
    assert said == [f"passing over kube-apiserver v1.19.2 (PATH: {old}): v1.36 or later is needed"]


@pytest.mark.parametrize(
    ("go", "reason"),
    [
        (None, "there is no `go` on PATH"),
        ("echo go version go1.22.1 linux/amd64", "says go1.22.1"),
        ("echo go.mod requires go 1.26 >&2; exit 1", "says go.mod requires go 1.26"),
    ],
)
def test_without_a_usable_go_the_message_says_what_is_missing_and_how_to_get_it(
    bare_machine: Callable[..., Path], go: str | None, reason: str
) -> None:
    if go:
        bare_machine("path", "go", go)

    result = CliRunner().invoke(main, ["build"])

    assert result.exit_code == 2
    assert reason in result.stderr
    assert "Go 1.26.0 or later is needed to build etcd, kube-apiserver, kube-controller-manager" in result.stderr
    assert "https://go.dev/dl/" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("bare_machine")
def test_with_the_option_if_possible_a_build_that_is_impossible_is_no_error() -> None:
    result = CliRunner().invoke(main, ["build", "--if-possible"])

    assert result.exit_code == 0
    assert "Go 1.26.0 or later is needed" in result.stderr


def test_metacontroller_is_the_engine_where_it_is_on_path_unless_the_stand_in_is_chosen(
    bare_machine: Callable[..., Path],
) -> None:
    with pytest.raises(MissingProgram, match="no `metacontroller` on PATH"):
        engines.find_engine("metacontroller", {})
    assert engines.find_engine("auto", {}).name("") == "the stand-in for Metacontroller"

    path = bare_machine("path", "metacontroller", "")
    engine = engines.find_engine("auto", {})
    assert engine.name('{"version": "4.17.2"}') == f"Metacontroller v4.17.2 ({path})"
    assert engine.name('{"version": "dev"}') == f"Metacontroller ({path})", "it was built without a version stamp"
    assert engines.find_engine("standin", {}).name("") == "the stand-in for Metacontroller"


# Building them. `go` is a script here: it answers `go version` and `go mod download`, and writes the file -o names.

GO = r"""
[ "$1" = version ] && { echo go version go1.99.0 linux/amd64; exit; }
[ "$1" = mod ] && { echo "{\"Dir\": \"$0.module\"}"; exit; }
while [ "$1" != -o ]; do shift; done
echo compiling >&2
echo half-made > "$2"
"""


"""Where the module that the script downloads has its CRDs."""


def test_a_build_that_fails_leaves_nothing_and_says_what_go_said(bare_machine: Callable[..., Path]) -> None:
    bare_machine("path", "go", GO + "exit 1")

    with pytest.raises(BuildFailed, match=r"go could not build etcd:\n  compiling"):
        build.build(["etcd"], ignore)

    assert not build.built("etcd")
    assert not list(build.BUILD.glob("tmp-*"))


def test_what_a_killed_build_left_is_never_used_and_is_removed_by_the_next(
    bare_machine: Callable[..., Path],
) -> None:
    bare_machine("path", "go", GO)
    half_made = bare_machine("build/tmp-killed", "etcd", "")
    outdated = bare_machine("build/bin-of-an-older-go-mod", "etcd", "")

    assert not build.built("etcd")
    build.build(["etcd"], ignore)

    assert build.built("etcd")
    assert not half_made.exists()
    assert not outdated.exists()


@pytest.mark.parametrize(
    ("edited", "built_anew"),
    [
        ("go.mod", set(build.PACKAGES) - set(build.TOOLS)),
        ("go.sum", set(build.PACKAGES) - set(build.TOOLS)),
        ("cmd/loadgen/main.go", {"loadgen"}),
        ("cmd/steadyload/main.go", {"steadyload"}),
    ],
)
def test_an_edited_file_asks_for_another_build_of_the_programs_made_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, built_anew: set[str]
) -> None:
    before = {name: build.folder(name) for name in build.PACKAGES}
    module = tmp_path / "controlplane"
    shutil.copytree(build.MODULE, module)
    monkeypatch.setattr(build, "MODULE", module)
    assert {name: build.folder(name) for name in build.PACKAGES} == before
    (module / edited).write_text((module / edited).read_text() + "// newer\n")

    assert {name for name in build.PACKAGES if build.folder(name) != before[name]} == built_anew


# Processes.


def test_a_process_that_ends_is_noticed_at_once_and_the_error_has_the_end_of_its_log(processes: Processes) -> None:
    process = sh(processes, "echo first; echo the reason >&2; exit 3")
    process.start()

    with pytest.raises(ProcessDied, match=r"shell ended with status 3. The end of its log:\n  first\n  the reason"):
        process.wait_ready(lambda: False, timeout=30)


@pytest.mark.parametrize(
    "script",
    ["sleep 60 & echo $!; wait", "trap '' TERM; sleep 60 & echo $!; wait", "sleep 60 & echo $!; exit"],
    ids=["it ends when asked", "it ignores SIGTERM", "it has already ended"],
)
def test_stopping_a_process_ends_its_descendants_too(processes: Processes, script: str) -> None:
    process = sh(processes, script)
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


@linux_only
def test_use_of_processor_and_memory_counts_descendants(processes: Processes) -> None:
    # 16 MiB of its own: the pages of Python itself are shared with every other Python on the machine.
    busy = (
        "import time\nheld = bytearray(16 << 20)\n"
        "while time.process_time() < 0.2: pass\nprint('done', flush=True)\ntime.sleep(60)"
    )
    process = sh(processes, f'"{sys.executable}" -I -S -c "{busy}" & wait')
    process.start()
    wait_for(lambda: "done" in process.log_tail())

    assert 0.1 < process.cpu_seconds() < 5
    assert 16 << 20 < process.pss_bytes() < 1 << 30


@pytest.mark.parametrize("keep", [False, True])
def test_a_parent_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path, keep: bool) -> None:
    script = textwrap.dedent(f"""
        import time
        from devcluster.processes import Processes
        processes = Processes(keep={keep})
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
    if not keep:
        wait_for(lambda: not Path(folder).exists())
    time.sleep(0.1)
    assert Path(folder).exists() == keep


# What is applied to the cluster.


def test_only_their_owner_can_read_credentials(tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_text("certificate")
    path = tmp_path / "kubeconfig"

    credentials.write_kubeconfig(path, url="https://127.0.0.1:1", ca_file=ca, user="me", token="secret")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert yaml.safe_load(path.read_text())["users"] == [{"name": "me", "user": {"token": "secret"}}]
    assert credentials.read_kubeconfig(path) == ("https://127.0.0.1:1", ca, "secret")
    assert credentials.new_signing_key() != credentials.new_signing_key()


def test_an_event_about_no_object_is_not_taken_for_the_start_of_the_engine() -> None:
    assert tells_of_the_start({"reason": "Started", "involvedObject": {"name": "ingress-manager"}})
    assert not tells_of_the_start({"reason": "Started", "involvedObject": {"kind": "Lease"}})
    assert not tells_of_the_start({"reason": "LeaderElection", "involvedObject": {"name": "ingress-manager"}})


def test_warnings_of_an_answer_are_read_as_they_were_written() -> None:
    texts = ('a "quoted" one, with \\ in it', "Wärme…")
    # As Kubernetes writes them, and as `requests` joins and decodes them.
    header = ", ".join('299 - "' + re.sub(r'(["\\])', r"\\\1", text) + '"' for text in texts)
    assert warnings_of(header.encode().decode("latin-1")) == texts
    assert warnings_of("") == ()
