"""Builds programs from published Go modules: Kubernetes', which devcluster/controlplane/go.mod pins, and others."""

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
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from devcluster.errors import DevClusterError, MissingProgram

REPOSITORY = Path(__file__).resolve().parent.parent
MODULE = REPOSITORY / "devcluster" / "controlplane"
BUILD = REPOSITORY / ".build"


class Source(NamedTuple):
    """What a program is built from."""

    package: str
    """The Go package: a `tool` line of go.mod, or a folder of the module."""

    module: str = ""
    """NAME@VERSION of a module that is built by its own go.mod and go.sum, as its authors build it. Without one, the
    versions are those of devcluster/controlplane/go.mod."""

    tags: str = ""
    """Build tags."""

    @property
    def is_own(self) -> bool:
        """Whether the sources are here; nobody else distributes the program."""
        return not self.module and self.package.startswith("./")


CONTAINERD = "github.com/containerd/containerd/v2@v2.4.2"

# What btrfs and the device mapper need is written in C.
NO_DISKS = "no_btrfs no_devmapper no_zfs"

SOURCES = {
    "etcd": Source("go.etcd.io/etcd/server/v3"),
    "kube-apiserver": Source("k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": Source("k8s.io/kubernetes/cmd/kube-controller-manager"),
    "loadgen": Source("./cmd/loadgen"),
    "pause": Source("./cmd/pause"),
    **{name: Source(f"k8s.io/kubernetes/cmd/{name}") for name in ("kubelet", "kube-proxy", "kube-scheduler")},
    **{
        name: Source(f"./cmd/{name}", CONTAINERD, NO_DISKS) for name in ("containerd", "containerd-shim-runc-v2", "ctr")
    },
    "coredns": Source("github.com/coredns/coredns", "github.com/coredns/coredns@v1.15.0"),
    "helm": Source("./cmd/helm", "helm.sh/helm/v4@v4.3.1"),
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
    sources = [] if module else [MODULE / "go.mod", MODULE / "go.sum"]
    if SOURCES[name].is_own:
        sources += sorted((MODULE / package).glob("*.go"))
    content = b"".join(source.read_bytes() for source in sources) + (module + tags + platform.machine()).encode()
    return BUILD / f"bin-{hashlib.sha256(content).hexdigest()[:12]}"


def get(name: str, progress: Progress) -> Path:
    """Return the path of a program; build it, which takes minutes once, where it isn't there.

    Raises MissingProgram where there is no Go that can build it, and DevClusterError.
    """
    if not built(name):
        build([name], progress)
    return folder(name) / name


def build(names: Sequence[str], progress: Progress) -> None:
    """Build the programs that have not been built yet: those of one go.mod together, and they appear together.

    The first time this takes minutes; later builds use Go's cache. Raises MissingProgram when Go is missing,
    and DevClusterError when it fails.
    """
    go = find_go()
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    with lock(BUILD / "lock", progress):
        for left_over in BUILD.glob("tmp-*"):  # left by a build that was killed: we hold the lock, so no other one runs
            shutil.rmtree(left_over, ignore_errors=True)
        together: dict[tuple[str, str], list[str]] = {}
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


def compile_packages(go: str, targets: dict[str, Path], module: str, progress: Progress, *options: str) -> None:
    """Build packages of a module, or by our go.mod, in a temporary folder, and move each to its target.

    In one go, while the last package of a program is linked, the other processors compile the next one's. Who calls it
    holds the lock. Raises MissingProgram and DevClusterError.
    """
    names = ", ".join(target.name for target in targets.values())
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="tmp-") as temporary:
        sources = downloaded(module) if module else MODULE
        # -v: names each package as it is compiled.
        flags = ("-v", "-trimpath", "-ldflags", linker_flags(module))
        command = [go, "build", *flags, *options, "-o", temporary + os.sep, *targets]
        with subprocess.Popen(
            command,
            cwd=sources,
            env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output = follow(process, names, progress)
            except BaseException:  # interrupted: end Go's compilers, too
                os.killpg(process.pid, signal.SIGTERM)
                raise
        if process.returncode:
            raise DevClusterError(f"go could not build {names}:\n" + "\n".join(f"  {line}" for line in output[-15:]))
        for package, target in targets.items():
            # Go calls a program by the last part of its package's name that isn't a version.
            built_as = re.sub(r"/v\d+$", "", package).rpartition("/")[2]
            target.parent.mkdir(exist_ok=True)
            (Path(temporary) / built_as).rename(target)


def downloaded(module: str) -> Path:
    """Return the folder of a module, NAME@VERSION, that Go has downloaded; Go's checksum database vouches for it.

    Raises MissingProgram when Go is missing, and DevClusterError.
    """
    command = (find_go(), "mod", "download", "-json", module)
    answer = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    if answer.returncode:
        raise DevClusterError(f"go could not download {module}:\n{answer.stdout}{answer.stderr}")
    return Path(json.loads(answer.stdout)["Dir"])


def linker_flags(module: str) -> str:
    """Return the linker flags that leave out debug information, and set Kubernetes' version, which kubectl asks for."""
    if module:
        return "-s -w"
    [version] = re.findall(r"^\s*k8s\.io/kubernetes (v\S+)", (MODULE / "go.mod").read_text(), re.MULTILINE)
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamps.items())


def follow(process: subprocess.Popen[str], names: str, progress: Progress) -> list[str]:
    """Report what a `go build -v` does until it ends; return what it printed."""
    lines: list[str] = []
    progress(f"building {names}, which takes minutes the first time")
    told = time.monotonic()
    for line in process.stderr or ():
        lines.append(line.rstrip())
        if time.monotonic() > told + 2:
            told = time.monotonic()
            progress(f"building {names}: {len(lines)} packages, last {lines[-1]}")
    return lines


def find_go() -> str:
    """Return the path of Go, which fetches the version that a go.mod asks for; raises MissingProgram."""
    if go := shutil.which("go"):
        return go
    raise MissingProgram(
        "Go is needed for the programs of a control plane and the CRDs of the Gateway API, and is not on PATH.\n"
        "Get it from https://go.dev/dl/ or a package manager. "
        "Without Go, KUBEBUILDER_ASSETS can name a folder with etcd, kube-apiserver and kube-controller-manager."
    )


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
