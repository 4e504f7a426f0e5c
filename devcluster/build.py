"""Builds programs from published Go modules: Kubernetes', which devcluster/controlplane/go.mod pins, and others."""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from devcluster.errors import CommandFailed, MissingProgram
from devcluster.processes import run

REPOSITORY = Path(__file__).resolve().parent.parent
MODULE = REPOSITORY / "devcluster" / "controlplane"
BUILD = REPOSITORY / ".build"


class Source(NamedTuple):
    """What a program is built from."""

    package: str
    """The Go package: a `tool` line of go.mod, or a folder of the module."""
    module: str = ""
    """NAME@VERSION of a module that is built by its own go.mod and go.sum, as its authors build it. Without one, the
    versions are in devcluster/controlplane/go.mod."""
    tags: str = ""
    """Build tags."""


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
    if not module and package.startswith("./"):
        sources += sorted((MODULE / package).glob("*.go"))
    content = b"".join(source.read_bytes() for source in sources) + (module + tags + platform.machine()).encode()
    return BUILD / f"bin-{hashlib.sha256(content).hexdigest()[:12]}"


def get(name: str, progress: Progress) -> Path:
    """Return the path of a program; build it, which takes minutes once, where it isn't there. Raises as `build`."""
    build([name], progress)
    return folder(name) / name


def build(names: Sequence[str], progress: Progress) -> None:
    """Build the programs that have not been built yet: those of one go.mod together, and they appear together.

    The first time this takes minutes; later builds use Go's cache. Raises MissingProgram when Go is missing,
    and DevClusterError when it fails.
    """
    missing = [name for name in names if not built(name)]
    if not missing:
        return
    go = find_go()
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    progress(f"building {', '.join(missing)}, which takes minutes the first time")
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a build that another process has begun ends first
        for origin in dict.fromkeys(SOURCES[name][1:] for name in missing):
            if together := [name for name in missing if SOURCES[name][1:] == origin and not built(name)]:
                compile_together(go, together, *origin)
        # Of other sources; or left by a build that was killed.
        for old in {*BUILD.glob("bin-*"), *BUILD.glob("tmp-*")} - {folder(name) for name in SOURCES}:
            shutil.rmtree(old, ignore_errors=True)


def compile_together(go: str, names: Sequence[str], module: str, tags: str) -> None:
    """Build programs of a module, or by our go.mod, in a temporary folder, and move each to its own.

    In one go, while the last program is linked, the other processors compile the next one's packages. Who calls it
    holds the lock. Raises CommandFailed, and MissingProgram.
    """
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="tmp-") as temporary:
        # -mod: what is built is what go.mod says. The compiler puts no function inside another (-l), and nothing
        # for a debugger (-dwarf): who clones the project waits a third less for it, and the programs are some
        # tenth slower.
        options = ("-mod=readonly", "-trimpath", "-tags", tags, "-gcflags=all=-dwarf=false -l")
        flags = ("-ldflags", linker_flags(module), "-o", temporary + os.sep)
        run(
            *(go, "build", *options, *flags, *(SOURCES[name].package for name in names)),
            cwd=downloaded(module) if module else MODULE,
            env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"},
        )
        for name in names:
            # Go calls a program by the last part of its package's name that isn't a version.
            built_as = re.sub(r"/v\d+$", "", SOURCES[name].package).rpartition("/")[2]
            folder(name).mkdir(exist_ok=True)
            (Path(temporary) / built_as).rename(folder(name) / name)


def downloaded(module: str) -> Path:
    """Return the folder of a module, NAME@VERSION, that Go has downloaded; Go's checksum database vouches for it.

    Raises MissingProgram when Go is missing, and CommandFailed.
    """
    go = find_go()
    path = Path(run(go, "env", "GOMODCACHE").strip(), module)
    try:
        run(go, "mod", "download", module, cwd="/", env=os.environ | {"GOTOOLCHAIN": "local"})
    except CommandFailed:  # also of a module that wants a later Go; its files are there
        if not path.is_dir():
            raise
    return path


def linker_flags(module: str) -> str:
    """Return the linker flags that leave out debug information, and set Kubernetes' version, which kubectl asks for."""
    if module:
        return "-s -w"
    [version] = re.findall(r"^\s*k8s\.io/kubernetes (v\S+)", (MODULE / "go.mod").read_text(), re.MULTILINE)
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamps.items())


def find_go() -> str:
    """Return the path of Go, which fetches the version that a go.mod asks for; raises MissingProgram."""
    if go := shutil.which("go"):
        return go
    raise MissingProgram(
        "Go is needed for the programs of a control plane and the CRDs of the Gateway API, and is not on PATH.\n"
        "Get it from https://go.dev/dl/ or a package manager. "
        "Without Go, KUBEBUILDER_ASSETS can name a folder with etcd, kube-apiserver and kube-controller-manager."
    )
