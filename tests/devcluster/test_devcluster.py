"""The parts of the development cluster that need no cluster: finding and building programs, and ending processes."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
import yaml
from click.testing import CliRunner

from devcluster import build, credentials, engines, gateway_api, overlay, programs
from devcluster.__main__ import main
from devcluster.api import wait_for
from devcluster.backend import Backend
from devcluster.cluster import CRD_FILE, DevCluster, tells_of_the_start
from devcluster.errors import BuildFailed, DevClusterError, MissingProgram, NotReady, ProcessDied
from devcluster.ports import ReservedPort
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


def test_the_pinned_versions_are_those_of_go_mod() -> None:
    assert programs.oldest_usable("kube-controller-manager") == "v1.36"
    assert "version.gitVersion=v1.36." in build.linker_flags()
    with pytest.raises(ValueError, match=r"does not name example\.com/x"):
        build.pinned_version("example.com/x")


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


CRD_FOLDER = "path/go.module/config/crd/standard"
"""Where the module that the script downloads has its CRDs."""


def test_a_program_is_built_once(bare_machine: Callable[..., Path], tmp_path: Path) -> None:
    bare_machine("path", "go", GO + f'echo run >> {tmp_path}/runs; echo "echo v3.6.8" > "$2"')

    build.build(["etcd"], ignore)
    build.build(["etcd"], ignore)

    path = build.built("etcd")
    assert path
    assert path.read_text() == "echo v3.6.8\n"
    assert (tmp_path / "runs").read_text() == "run\n"
    assert (build.BUILD / ".gitignore").read_text() == "*\n"


def test_what_the_tests_alone_need_is_built_for_them_and_not_for_a_cluster(
    bare_machine: Callable[..., Path],
) -> None:
    go = bare_machine("path", "go", GO)
    bare_machine(CRD_FOLDER, "crd.yaml", "kind: CustomResourceDefinition")

    programs.find_programs(ignore)
    assert not build.built("steadyload")

    result = CliRunner().invoke(main, ["build"])
    assert f"(built: {build.built('steadyload')})" in result.stdout
    go.unlink()
    assert CliRunner().invoke(main, ["build"]).exit_code == 0, "what is there already needs no Go"


def test_without_go_the_message_names_our_program_and_no_way_to_get_it_from_elsewhere(
    bare_machine: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in programs.MODULES:
        bare_machine("assets", name, "echo v1.36.3")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))

    result = CliRunner().invoke(main, ["build"])

    assert result.exit_code == 2
    assert "is needed to build steadyload" in result.stderr
    assert "KUBEBUILDER_ASSETS" not in result.stderr


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


def test_programs_that_are_still_of_use_are_kept_by_a_build(bare_machine: Callable[..., Path]) -> None:
    bare_machine("path", "go", GO)
    kept = bare_machine(f"build/{build.folder('loadgen').name}", "loadgen", "")

    build.build(["etcd"], ignore)

    assert kept.exists()


def test_the_crds_of_the_gateway_api_are_downloaded_once_and_are_crds_alone(bare_machine: Callable[..., Path]) -> None:
    go = bare_machine("path", "go", GO)
    bare_machine(CRD_FOLDER, "crd.yaml", "kind: CustomResourceDefinition")
    bare_machine(CRD_FOLDER, "policy.yaml", "kind: ValidatingAdmissionPolicy\n---\nkind: Binding")

    assert gateway_api.crds(ignore) == [{"kind": "CustomResourceDefinition"}]
    go.unlink()
    assert gateway_api.crds(ignore) == [{"kind": "CustomResourceDefinition"}], "what is there already needs no Go"


def test_crds_that_cannot_be_downloaded_are_an_error_that_says_what_go_said(bare_machine: Callable[..., Path]) -> None:
    bare_machine("path", "go", 'if [ "$1" = version ]; then echo go1.99.0; else echo no such host >&2; exit 1; fi')

    with pytest.raises(BuildFailed, match=r"go could not download sigs.k8s.io/gateway-api v1.*:\n.*no such host"):
        gateway_api.crds(ignore)

    assert not gateway_api.folder().exists()


@pytest.mark.usefixtures("bare_machine")
def test_without_go_the_message_says_that_the_crds_need_it() -> None:
    with pytest.raises(MissingProgram, match=r"Go 1.26.0 or later is needed to download the CRDs of the Gateway API, "):
        gateway_api.crds(ignore)


def test_two_processes_do_not_build_at_once(bare_machine: Callable[..., Path]) -> None:
    bare_machine("path", "go", GO)
    build.BUILD.mkdir()
    (build.BUILD / "lock").touch()
    holder = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, 2); print('held', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(build.BUILD / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin
        assert other.stdout
        other.stdout.readline()
        end_other = other.stdin

        def progress(line: str) -> None:
            assert line == "waiting for a build that another process has begun"
            end_other.close()

        build.build(["etcd"], progress)

    assert build.built("etcd")


# Processes.


def test_a_process_that_ends_is_noticed_at_once_and_the_error_has_the_end_of_its_log(processes: Processes) -> None:
    process = sh(processes, "echo first; echo the reason >&2; exit 3")
    process.start()

    with pytest.raises(ProcessDied, match=r"shell ended with status 3. The end of its log:\n  first\n  the reason"):
        process.wait_ready(lambda: False, timeout=30)


def test_for_a_process_that_is_never_ready_the_error_has_the_end_of_its_log(processes: Processes) -> None:
    process = sh(processes, "echo still loading; exec sleep 60")
    process.start()
    wait_for(lambda: "loading" in process.log_tail())

    with pytest.raises(NotReady, match=r"shell was not ready within 0.1 s. .*\n  still loading"):
        process.wait_ready(lambda: False, timeout=0.1)


def test_a_program_that_cannot_be_executed_is_a_plain_error(processes: Processes) -> None:
    with pytest.raises(ProcessDied, match=r"x can't be started: .*No such file"):
        processes.add("x", ["/no/such/program"]).start()


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


def test_a_process_can_be_started_again_and_continues_its_log(processes: Processes) -> None:
    process = sh(processes, "echo up; exec sleep 60")
    for ups in (1, 2):
        process.stop()
        process.start()
        wait_for(lambda ups=ups: process.log_path.read_text() == "up\n" * ups)  # type: ignore[misc]

    assert process.running
    assert stat.S_IMODE(processes.folder.stat().st_mode) == 0o700


def test_a_paused_process_and_its_descendants_do_nothing_until_the_pause_ends(processes: Processes) -> None:
    process = sh(processes, "(while :; do echo on; sleep 0.01; done) & wait")
    process.start()
    wait_for(process.log_path.read_text)
    with process.paused():
        time.sleep(0.05)
        before = process.log_path.stat().st_size
        time.sleep(0.1)
        assert process.log_path.stat().st_size == before
        assert process.running
    wait_for(lambda: process.log_path.stat().st_size > before)


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


def test_a_reserved_port_refuses_until_its_server_listens_and_again_after_it() -> None:
    port = ReservedPort()
    for _restart in range(2):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port.number))
        with socket.create_server(("127.0.0.1", port.number), reuse_port=True):
            socket.create_connection(("127.0.0.1", port.number)).close()
    port.close()


# What is applied to the cluster.


def test_the_overlay_renders_the_committed_manifests_with_the_hook_on_loopback(tmp_path: Path) -> None:
    rendered = overlay.render(tmp_path.resolve() / "overlay", "http://127.0.0.1:1234", 7, None)

    spec = rendered.find("DecoratorController", "ingress-manager")["spec"]
    urls = {name: hook["webhook"]["url"] for name, hook in spec["hooks"].items()}
    assert urls == {"sync": "http://127.0.0.1:1234/sync"}
    assert spec["resyncPeriodSeconds"] == 7
    assert isinstance(yaml.safe_load(rendered.settings()), dict)
    with pytest.raises(DevClusterError, match="hold no Secret named absent"):
        rendered.find("Secret", "absent")
    engine = engines.find_engine("standin", rendered.find("Deployment", "metacontroller"))
    assert engine.user == "system:serviceaccount:metacontroller:metacontroller"


def test_with_a_gateway_its_objects_name_the_ports_that_are_reserved_for_it(tmp_path: Path) -> None:
    serving = overlay.Serving(http_port=1234, page_port=1235, httproute=True)
    rendered = overlay.render(tmp_path.resolve() / "overlay", "http://127.0.0.1:1", None, serving)

    assert rendered.find("Service", "not-found")["spec"]["ports"][0]["port"] == 1235
    assert rendered.find("Gateway", "ingress-manager")["spec"]["listeners"][0]["port"] == 1234
    mounted = rendered.mounted("ingress-manager-gateway")
    assert set(mounted) == {"/etc/traefik/traefik.yaml", "/etc/traefik/own/own.yaml"}
    assert "kubernetesGateway" in yaml.safe_load(mounted["/etc/traefik/traefik.yaml"])["providers"]


def test_a_mount_that_leads_to_no_config_map_of_the_manifests_is_an_error() -> None:
    container = {"volumeMounts": [{"name": "static", "mountPath": "/etc/traefik"}]}
    spec = {"containers": [container], "volumes": [{"name": "static", "secret": {"secretName": "traefik"}}]}
    deployment = {"kind": "Deployment", "metadata": {"name": "x"}, "spec": {"template": {"spec": spec}}}
    with pytest.raises(DevClusterError, match="the Deployment x mounts what isn't there: 'configMap'"):
        overlay.Rendered(yaml.safe_dump(deployment)).mounted("x")


def test_httproutes_need_a_gateway() -> None:
    with pytest.raises(ValueError, match="httproute needs a gateway"):
        DevCluster("standin", httproute=True)


def test_a_backend_answers_with_what_it_got_and_then_no_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    service = {
        "metadata": {"namespace": "team-a", "name": "shop"},
        "spec": {"clusterIP": "127.0.0.1", "ports": [{"port": number}]},
    }
    with Backend(service):
        answer = requests.get(f"http://127.0.0.1:{number}/cart", headers={"X-Own": "1"}, timeout=5).json()
        assert (answer["service"], answer["method"], answer["path"]) == ("team-a/shop", "GET", "/cart")
        assert answer["headers"]["X-Own"] == "1"
        with pytest.raises(
            DevClusterError, match=rf"nothing can listen on 127.0.0.1:{number}, for the Service team-a/s"
        ):
            Backend(service)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", number))


def test_metacontrollers_arguments_are_kept_but_for_its_ports() -> None:
    given = ["--workers=20", "--metrics-address=:9999", "--leader-election", "--health-probe-bind-address=:8081"]

    assert engines.adapted(given) == [
        "--workers=20",
        "--leader-election",
        "--metrics-address=0",
        "--health-probe-bind-address=0",
        "--pprof-address=0",
    ]


def test_the_crds_name_metacontrollers_three_kinds() -> None:
    crds = {crd["metadata"]["name"]: crd["spec"]["scope"] for crd in yaml.safe_load_all(CRD_FILE.read_text())}

    assert crds == {
        "decoratorcontrollers.metacontroller.k8s.io": "Cluster",
        "compositecontrollers.metacontroller.k8s.io": "Cluster",
        "controllerrevisions.metacontroller.k8s.io": "Namespaced",
    }


def test_only_their_owner_can_read_credentials(tmp_path: Path) -> None:
    ca = tmp_path / "ca.crt"
    ca.write_text("certificate")
    path = tmp_path / "kubeconfig"

    credentials.write_kubeconfig(path, url="https://127.0.0.1:1", ca_file=ca, user="me", token="secret")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert yaml.safe_load(path.read_text())["users"] == [{"name": "me", "user": {"token": "secret"}}]
    assert credentials.read_kubeconfig(path) == ("https://127.0.0.1:1", ca, "secret")
    assert credentials.new_signing_key() != credentials.new_signing_key()


def test_waiting_too_long_is_an_error_that_says_what_for() -> None:
    with pytest.raises(NotReady, match="waited 0 s for the moon; the last answer was None"):
        wait_for(lambda: None, timeout=0, what="the moon")


def test_an_event_about_no_object_is_not_taken_for_the_start_of_the_engine() -> None:
    assert tells_of_the_start({"reason": "Started", "involvedObject": {"name": "ingress-manager"}})
    assert not tells_of_the_start({"reason": "Started", "involvedObject": {"kind": "Lease"}})
    assert not tells_of_the_start({"reason": "LeaderElection", "involvedObject": {"name": "ingress-manager"}})
