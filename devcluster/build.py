"""Builds programs from their published Go modules: the control plane's, which devcluster/controlplane/go.mod pins, and
others.
"""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from devcluster.errors import BuildFailed, MissingProgram

REPOSITORY = Path(__file__).resolve().parent.parent
MODULE = REPOSITORY / "devcluster" / "controlplane"
BUILD = REPOSITORY / ".build"

NODE = REPOSITORY / "devcluster" / "node"
ENVOY_GATEWAY = REPOSITORY / "devcluster" / "envoygateway"


class Source(NamedTuple):
    """What a program is built from."""

    package: str
    """The Go package: a `tool` line of go.mod, or one of our own."""

    module: Path = MODULE
    """The folder with the go.mod. The programs that aren't the control plane's need other versions of modules that it
    needs, too; and who wants no node has less to download."""

    tags: str = ""
    """Build tags."""

    @property
    def is_own(self) -> bool:
        """Whether the sources are here; nobody else distributes the program."""
        return self.package.startswith("./")


# What btrfs and the device mapper need is written in C.
NO_DISKS = "no_btrfs no_devmapper no_zfs"

SOURCES = {
    "etcd": Source("go.etcd.io/etcd/server/v3"),
    "kube-apiserver": Source("k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": Source("k8s.io/kubernetes/cmd/kube-controller-manager"),
    "loadgen": Source("./cmd/loadgen"),
    "pause": Source("./cmd/pause"),
    "kubelet": Source("k8s.io/kubernetes/cmd/kubelet", NODE / "kubernetes"),
    "kube-proxy": Source("k8s.io/kubernetes/cmd/kube-proxy", NODE / "kubernetes"),
    "kube-scheduler": Source("k8s.io/kubernetes/cmd/kube-scheduler", NODE / "kubernetes"),
    **{
        name: Source(f"github.com/containerd/containerd/v2/cmd/{name}", NODE / "containerd", NO_DISKS)
        for name in ("containerd", "containerd-shim-runc-v2", "ctr")
    },
    "coredns": Source("github.com/coredns/coredns", NODE / "coredns"),
    "helm": Source("helm.sh/helm/v4/cmd/helm", REPOSITORY / "devcluster" / "helm"),
    "envoy-gateway": Source("github.com/envoyproxy/gateway/cmd/envoy-gateway", ENVOY_GATEWAY),
}
"""The programs that can be built."""

Progress = Callable[[str], None]
"""A function that shows a waiting person a line about what is being done."""


def built(name: str) -> Path | None:
    """Return the program that a build of its present sources has left, or None."""
    path = folder(name) / name
    return path if path.exists() else None


def folder(name: str) -> Path:
    """Return where a program is built to: another place for other sources, so nothing in it is ever out of date."""
    package, module, tags = SOURCES[name]
    sources = [module / "go.mod", module / "go.sum"]
    if SOURCES[name].is_own:
        sources += sorted((module / package).glob("*.go"))
    content = b"".join(source.read_bytes() for source in sources) + (tags + platform.machine()).encode()
    return BUILD / f"bin-{hashlib.sha256(content).hexdigest()[:12]}"


def get(name: str, progress: Progress) -> Path:
    """Return the path of a program; build it, which takes minutes once, where it isn't there.

    Raises MissingProgram where there is no Go that can build it, and BuildFailed.
    """
    if not built(name):
        build([name], progress)
    return folder(name) / name


def pinned_version(module: str, folder: Path = MODULE) -> str:
    """Return the version that go.mod pins a module to, for example v1.36.3; raises ValueError if it doesn't name it."""
    required = rf"^\s*(?:require )?{re.escape(module)} (v\S+)"
    if found := re.search(required, (folder / "go.mod").read_text(), re.MULTILINE):
        return found[1]
    raise ValueError(f"{folder.name}/go.mod does not name {module}")


def build(names: Sequence[str], progress: Progress) -> None:
    """Build the programs that have not been built yet: those of one go.mod together, and they appear together.

    The first time this takes minutes; later builds use Go's cache. Raises MissingProgram when Go is missing or
    too old, and BuildFailed when it fails.
    """
    assets = not any(SOURCES[name].is_own or SOURCES[name].module != MODULE for name in names)
    advice = "; or let KUBEBUILDER_ASSETS name a folder with them" if assets else ""
    go = find_go(f"to build {', '.join(names)}", advice, SOURCES[names[0]].module)
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    with lock(BUILD / "lock", progress):
        for left_over in BUILD.glob("tmp-*"):  # left by a build that was killed: we hold the lock, so no other one runs
            shutil.rmtree(left_over, ignore_errors=True)
        together: dict[tuple[Path, str], list[str]] = {}
        for name in names:
            if not built(name):
                together.setdefault(SOURCES[name][1:], []).append(name)
        for (module, tags), missing in together.items():
            # -mod: what is built is what go.mod says. The compiler puts no function inside another (-l), and nothing
            # for a debugger (-dwarf): who clones the project waits a third less for it, and the programs are some
            # tenth slower.
            options = ("-mod=readonly", "-tags", tags, "-gcflags=all=-dwarf=false -l")
            targets = {SOURCES[name].package: folder(name) / name for name in missing}
            compile_packages(go, targets, module, progress, *options)
        for old in set(BUILD.glob("bin-*")) - {folder(name) for name in SOURCES}:
            shutil.rmtree(old, ignore_errors=True)


def compile_packages(go: str, targets: dict[str, Path], module: Path, progress: Progress, *options: str) -> None:
    """Build packages, by the go.mod in `module`, in a temporary folder, and move each to its target.

    In one go, while the last package of a program is linked, the other processors compile the next one's. Who calls it
    holds the lock. Raises BuildFailed.
    """
    names = ", ".join(target.name for target in targets.values())
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="tmp-") as temporary:
        # -v: names each package as it is compiled.
        command = [
            go,
            "build",
            "-v",
            "-trimpath",
            "-ldflags",
            linker_flags(module),
            *options,
            "-o",
            temporary + os.sep,
            *targets,
        ]
        process = subprocess.Popen(
            command,
            cwd=module,
            env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            output = follow(process, names, progress)
        finally:
            if process.poll() is None:  # Interrupted: end Go's compilers, too.
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
        if process.returncode:
            raise BuildFailed(f"go could not build {names}:\n" + "\n".join(f"  {line}" for line in output[-15:]))
        for package, target in targets.items():
            # Go calls a program by the last part of its package's name that isn't a version.
            built_as = re.sub(r"/v\d+$", "", package).rpartition("/")[2]
            target.parent.mkdir(exist_ok=True)
            (Path(temporary) / built_as).rename(target)


def downloaded(what: str, purpose: str, module: Path | None = None) -> dict[str, str]:
    """Return what Go says of a module that it has downloaded: its folder is `Dir`, its go.mod `GoMod`.

    `what` is its name, where the go.mod in `module` says the version; without one, NAME@VERSION.

    Raises MissingProgram, which says the purpose, when Go is missing or too old, and BuildFailed.
    """
    answer = subprocess.run(
        [find_go(purpose, module=module), "mod", "download", "-json", what],
        cwd=module or "/",
        env=os.environ | {"GOFLAGS": "-mod=readonly", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        called = f"{what} {pinned_version(what, module)}" if module else what.replace("@", " ")
        raise BuildFailed(f"go could not download {called}:\n{answer.stdout}{answer.stderr}")
    said: dict[str, str] = json.loads(answer.stdout)
    return said


def linker_flags(module: Path) -> str:
    """Return the linker flags that leave out debug information, and set Kubernetes' version, which kubectl asks for."""
    try:
        version = pinned_version("k8s.io/kubernetes", module)
    except ValueError:
        return "-s -w"
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamps.items())


def follow(process: subprocess.Popen[str], name: str, progress: Progress) -> list[str]:
    """Report what a `go build -v` does until it ends; return what it printed."""
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(process.stderr or ()), daemon=True)
    reader.start()
    started = time.monotonic()
    while reader.is_alive():
        reader.join(2)
        seconds = time.monotonic() - started
        if reader.is_alive():
            # -v is silent about what comes from Go's cache, and while linking.
            now = f"{len(lines)} packages, last {lines[-1].strip()}" if lines else "taking packages from Go's cache"
            progress(f"building {name}: {seconds:.0f} s, {now}")
    if process.stderr:
        process.stderr.close()
    return [line.rstrip() for line in lines]


def find_go(purpose: str, advice: str = "", module: Path | None = None) -> str:
    """Return the path of a Go that can work with a go.mod: that of `module`, else the control plane's.

    Raises MissingProgram, which says the purpose and, beside how to get Go, the advice.
    """
    module = module or MODULE
    needed = re.search(r"^go (\S+)", (module / "go.mod").read_text(), re.MULTILINE)
    wanted = needed[1] if needed else ""
    advice = f"Get it from https://go.dev/dl/ or a package manager{advice}."
    go = shutil.which("go")
    if not go:
        raise MissingProgram(f"Go {wanted} or later is needed {purpose}, and there is no `go` on PATH.\n{advice}")
    # Asked in the module's folder, Go may answer as the newer toolchain that it fetches for this go.mod.
    answer = subprocess.run([go, "version"], cwd=module, capture_output=True, text=True, check=False)
    found = re.search(r"\bgo(\d+(?:\.\d+)+)", answer.stdout)
    if not found or numbers(found[1]) < numbers(wanted):
        says = found[0] if found else answer.stderr.strip() or "nothing"
        raise MissingProgram(f"Go {wanted} or later is needed {purpose}; {go} says {says}.\n{advice}")
    return go


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to compare it by."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


@contextmanager
def lock(path: Path, progress: Progress) -> Iterator[IO[str]]:
    """Hold a file lock; the operating system releases it with the process, however that ends."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for a build that another process has begun")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
