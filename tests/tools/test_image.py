"""The image: which commands build it, what is in it, and how it runs as the manifests say."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme
from click.testing import CliRunner

from devcluster.build import REPOSITORY
from devcluster.manifests import find
from devcluster.sync_requests import service
from devcluster.usage import pss_bytes
from not_found.page import page
from tests.tools.image import NAME, base, built, inspected
from tools import image
from tools.containers import Container, docker, hardened, running, with_settings

MEBIBYTE = 1024 * 1024
DIGEST = f"sha256:{'0123456789abcdef' * 4}"

Record = Callable[[str, object], None]

# The commands. They need no program.


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that puts a program on PATH, on which there is nothing else."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def add(name: str, script: str) -> None:
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return add


def test_a_docker_without_its_daemon_is_passed_over(path: Callable[[str, str], None]) -> None:
    path("docker", "echo 'Client: 28'; echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    path("podman", "exit 0")
    assert image.find(image.BUILDERS) == "podman"


def test_where_nothing_can_build_it_is_said_what_was_tried(path: Callable[[str, str], None]) -> None:
    path("docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    ended = CliRunner().invoke(image.main, ["build", image.EXAMPLE])
    assert ended.exit_code == 2
    assert ended.output == (
        "Error: docker or podman or buildah is needed. docker doesn't work: Cannot connect to the Docker daemon; "
        "podman is not on PATH; buildah is not on PATH\n"
    )


@pytest.mark.parametrize(
    ("reference", "entry"),
    [
        (
            "registry.example.com:5000/team/hook:1.2.3",
            {"newName": "registry.example.com:5000/team/hook", "newTag": "1.2.3"},
        ),
        ("hook:1.2.3", {"newName": "hook", "newTag": "1.2.3"}),
        (f"registry.example.com/hook@{DIGEST}", {"newName": "registry.example.com/hook", "digest": DIGEST}),
        (f"localhost:5000/hook@{DIGEST}", {"newName": "localhost:5000/hook", "digest": DIGEST}),
        (f"hook:1.2.3@{DIGEST}", {"newName": "hook", "newTag": "1.2.3", "digest": DIGEST}),
    ],
)
def test_an_image_has_a_name_a_tag_and_a_digest(reference: str, entry: dict[str, str]) -> None:
    assert image.replacement(reference) == {"name": image.PUBLISHED} | entry


@pytest.mark.parametrize("reference", ["", "ingress-manager", "localhost:5000/ingress-manager", ":1", "a/:1"])
def test_an_image_without_a_tag_is_refused_because_nobody_would_know_which_it_is(reference: str) -> None:
    with pytest.raises(image.WrongReferenceError, match="must be an image with a tag or a digest"):
        image.split(reference)


# The image itself.


def thorough(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that builds the image; all of them run in one process, so that it is built once."""
    marked: Callable[..., None] = pytest.mark.thorough(pytest.mark.xdist_group("image")(test))
    return marked


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    """Yield the hook in a container, with settings of its own."""
    built()
    settings = tmp_path_factory.mktemp("image") / "settings.yaml"
    settings.write_text("defaults: {class: mounted}\n")
    name = f"ingress-manager-hook-{os.getpid()}"
    with running(name, *hardened("manifests", "ingress-manager"), *with_settings(settings), NAME) as container:
        yield container


@thorough
def test_the_hook_takes_requests_with_the_settings_that_are_mounted(hook: Container, record_property: Record) -> None:
    body = (REPOSITORY / "tests/fixtures/sync.json").read_text(encoding="utf-8")
    ready, answered = hook.ask(("GET", 8080, "/readyz", None), ("POST", 8080, "/sync", body))
    assert (ready.status, answered.status) == (200, 200)
    [ingress] = json.loads(answered.text)["attachments"]
    assert (ingress["metadata"]["name"], ingress["spec"]["ingressClassName"]) == ("shop", "mounted")
    record_property("figures", f"{ready.at - hook.started:.1f} s from `run` to the first answer")
    record_property("figures", f"{pss_bytes(hook.pid) / MEBIBYTE:.0f} MiB of memory")


INSIDE = """
import json, os
def writable(folder):
    try:
        open(os.path.join(folder, "probe"), "w").close()
    except OSError:
        return False
    return True
status = dict(line.split(":\\t", 1) for line in open("/proc/1/status").read().splitlines())
folders = [folder for folder, _, _ in os.walk("/") if not folder.startswith(("/proc", "/sys"))]
print(json.dumps({
    "status": {key: status[key].split() for key in ("Uid", "Gid", "CapBnd", "CapEff", "CapPrm", "NoNewPrivs")},
    "root": "read-only" if os.statvfs("/").f_flag & os.ST_RDONLY else "writable",
    "writable": [folder for folder in folders if writable(folder)],
    "interfaces": os.listdir("/sys/class/net"),
}))
"""


@thorough
def test_it_runs_as_nobody_with_no_rights_and_can_write_nowhere(hook: Container) -> None:
    seen = json.loads(hook.execute("-c", INSIDE))
    nobody = ["65532"] * 4
    none = ["0000000000000000"]
    assert seen["status"] == {
        "Uid": nobody,
        "Gid": nobody,
        "NoNewPrivs": ["1"],
        "CapBnd": none,
        "CapEff": none,
        "CapPrm": none,
    }
    assert seen["root"] == "read-only"
    assert set(seen["writable"]) <= {"/dev/shm", "/dev/mqueue"}, "those are memory, which is limited"  # noqa: S108
    assert seen["interfaces"] == ["lo"]
    limit = docker("inspect", "--format={{.HostConfig.Memory}}", hook.name).stdout
    assert int(limit) == 256 * MEBIBYTE


@thorough
def test_on_sigterm_the_hook_ends_with_status_0(tmp_path: Path, record_property: Record) -> None:
    built()
    settings = tmp_path / "settings.yaml"
    settings.write_text("{}")
    name = f"ingress-manager-ends-{os.getpid()}"
    with running(name, *hardened("manifests", "ingress-manager"), *with_settings(settings), NAME) as container:
        container.ask(("GET", 8080, "/readyz", None))
        status, seconds = container.stop()
    assert status == 0
    record_property("figures", f"{seconds:.1f} s from SIGTERM to the end")


@thorough
def test_with_wrong_settings_the_hook_ends_with_status_2_and_says_why(tmp_path: Path) -> None:
    built()
    settings = tmp_path / "settings.yaml"
    settings.write_text("hots: example.com\n")
    name = f"ingress-manager-wrong-{os.getpid()}"
    with running(name, *hardened("manifests", "ingress-manager"), *with_settings(settings), NAME) as container:
        assert int(docker("wait", name).stdout) == 2
        logs = docker("logs", container.name)
    assert "hots" in logs.stdout + logs.stderr


@thorough
def test_the_404_page_runs_from_the_same_image(record_property: Record) -> None:
    built()
    [stated] = find("gateway", "Deployment", "not-found")["spec"]["template"]["spec"]["containers"]
    entrypoint, *arguments = stated["command"]
    options = [*hardened("gateway", "not-found"), f"--entrypoint={entrypoint}"]
    with running(f"ingress-manager-404-{os.getpid()}", *options, NAME, *arguments) as container:
        alive, answered = container.ask(("GET", 8081, "/healthz", None), ("GET", 8080, "/any", None))
        memory = pss_bytes(container.pid)
        status, _ = container.stop()
    assert (alive.status, answered.status, status) == (200, 404, 0)
    assert answered.text.encode() == page("127.0.0.1:8080", "/any", "").body
    record_property("figures", f"{memory / MEBIBYTE:.0f} MiB of memory for the 404 page")


ASK_BY_TLS = """
import http.client, json, ssl, sys, time
asked = json.load(sys.stdin)
context, until = ssl.create_default_context(cadata=asked["authority"]), time.monotonic() + 60
while True:
    connection = http.client.HTTPSConnection("localhost", 8443, timeout=10, context=context)
    try:
        connection.request("POST", "/admit", json.dumps(asked["review"]))
        break
    except ConnectionRefusedError:
        if time.monotonic() > until:
            raise
        time.sleep(0.01)
sys.stdout.write(connection.getresponse().read().decode())
"""


@thorough
def test_the_api_server_is_answered_from_the_same_image(tmp_path: Path, record_property: Record) -> None:
    built()
    authority = trustme.CA()
    own = authority.issue_cert("localhost")
    secret = tmp_path / "secret"
    secret.mkdir()
    for name, pem in (("tls.crt", own.cert_chain_pems[0]), ("tls.key", own.private_key_pem)):
        (secret / name).write_bytes(pem.bytes())
    settings = tmp_path / "settings.yaml"
    settings.write_text("{}")
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "1",
            "operation": "CREATE",
            "object": service({"ingress/http": "true", "ingress/path": "shop"}),
        },
    }
    name = "ingress-manager-admission"
    [stated] = find("manifests/admission", "Deployment", name)["spec"]["template"]["spec"]["containers"]
    [_, mount] = stated["volumeMounts"]
    entrypoint, *arguments = stated["command"]
    options = [*hardened("manifests/admission", name), *with_settings(settings), f"--entrypoint={entrypoint}"]
    options += [f"--volume={secret}:{mount['mountPath']}:ro"]
    with running(f"{name}-{os.getpid()}", *options, NAME, *arguments) as container:
        asked = {"authority": authority.cert_pem.bytes().decode(), "review": review}
        answered = json.loads(container.execute("-c", ASK_BY_TLS, stdin=json.dumps(asked)))["response"]
        memory = pss_bytes(container.pid)
        status, _ = container.stop()
    assert (answered["uid"], answered["allowed"], status) == ("1", True, 0)
    assert answered["warnings"][0].startswith('ingress/path: "shop"')
    record_property("figures", f"{memory / MEBIBYTE:.0f} MiB of memory for the answers at kubectl apply")


CONTENTS = """
import json, os, stat, sys
files = [os.path.join(folder, name) for folder, _, names in os.walk("/") if not folder.startswith(("/proc", "/sys"))
         for name in names]
programs = [file for file in files if os.path.isfile(file) and os.stat(file).st_mode & 0o111]
folders = [folder for folder, _, _ in os.walk("/") if not folder.startswith(("/proc", "/sys"))]
print(json.dumps({"programs": programs, "folders": folders, "files": files}))
"""
TOOLS = re.compile(r".*/(pip[\d.]*|easy_install.*|(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|ld|as|make|go|rustc)(-[\d.]+)?)")
"""Programs that compile, link or install."""


@thorough
def test_nothing_is_in_it_that_installs_compiles_or_tests() -> None:
    built()
    command = ["run", "--rm", "--network=none", "--user=0", "--entrypoint=python", NAME, "-c", CONTENTS]
    seen = json.loads(docker(*command).stdout)
    assert [file for file in seen["programs"] if TOOLS.fullmatch(file)] == []
    names = {"pip", "ensurepip", "tests", "testing", "test"}
    own = [folder for folder in seen["folders"] if folder.startswith(("/opt/", "/src"))]
    assert [folder for folder in own if Path(folder).name in names] == []
    assert [folder for folder in seen["folders"] if Path(folder).name in {"pip", "ensurepip"}] == []
    assert [file for file in seen["files"] if re.search(r"/(pip-[^/]*\.whl|get-pip\.py)$", file)] == []


@thorough
def test_it_is_at_most_30_mb_larger_than_its_base(record_property: Record) -> None:
    added = (inspected(built())["Size"] - inspected(base())["Size"]) / 1e6
    record_property("figures", f"{added:.1f} MB on its base")
    assert 0 < added <= 30


@thorough
def test_its_python_has_what_requirements_txt_pins_and_nothing_else() -> None:
    listing = "from importlib.metadata import distributions as d; print(*(f'{e.name}=={e.version}' for e in d()))"
    printed = docker("run", "--rm", "--network=none", "--entrypoint=python", built(), "-c", listing).stdout
    pinned = re.findall(r"^([\w.-]+)==([\w.]+)", (REPOSITORY / "requirements.txt").read_text(), re.MULTILINE)
    there = {(normal(name), version) for name, _, version in (each.partition("==") for each in printed.split())}
    assert there == {(normal(name), version) for name, version in pinned}


def normal(name: str) -> str:
    """Return the name of a Python package as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
