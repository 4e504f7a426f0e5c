"""Builds Go programs with the dependency versions in devcluster/controlplane/go.mod or in `Source.module`'s go.mod."""

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
    """The Go package that a program is built from."""

    package: str
    """The package's import path, or its folder in the module (`./…`)."""
    module: str = ""
    """NAME@VERSION of a module to build with its own go.mod and go.sum. If empty, the program is built with
    devcluster/controlplane/go.mod."""
    tags: str = ""
    """Build tags, separated by spaces."""


CONTAINERD = "github.com/containerd/containerd/v2@v2.4.2"

# The snapshotters for btrfs and the device mapper need C libraries.
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
"""The programs that can be built, by the name of their executable."""

Progress = Callable[[str], None]
"""A function that shows the user a line about the current step."""


def built(name: str) -> Path | None:
    """Return the program's path. If it hasn't been built from its current sources, return None."""
    path = folder(name) / name
    return path if path.exists() else None


def folder(name: str) -> Path:
    """Return a program's build folder. Its name contains a hash of the sources, so no outdated build is used."""
    package, module, tags = SOURCES[name]
    sources = [] if module else [MODULE / "go.mod", MODULE / "go.sum"]
    if not module and package.startswith("./"):
        sources += sorted((MODULE / package).glob("*.go"))
    content = b"".join(source.read_bytes() for source in sources) + (module + tags + platform.machine()).encode()
    return BUILD / f"bin-{hashlib.sha256(content).hexdigest()[:12]}"


def get(name: str, progress: Progress) -> Path:
    """Build the program if needed, which may take minutes. Return its path. Raises MissingProgram and CommandFailed."""
    build([name], progress)
    return folder(name) / name


def build(names: Sequence[str], progress: Progress) -> None:
    """Build missing programs. If one can't be built, no program with the same module and build tags is installed.

    The first build takes minutes; later builds use Go's cache. Raises MissingProgram if Go is missing, and
    CommandFailed if a build fails.
    """
    missing = [name for name in names if not built(name)]
    if not missing:
        return
    go = find_go()
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    progress(f"building {', '.join(missing)}, which takes minutes the first time")
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # wait for another process's build
        for origin in dict.fromkeys(SOURCES[name][1:] for name in missing):
            if together := [name for name in missing if SOURCES[name][1:] == origin and not built(name)]:
                compile_together(go, together, *origin)
        # Remove programs built from other sources, and what killed builds left behind.
        for old in {*BUILD.glob("bin-*"), *BUILD.glob("tmp-*")} - {folder(name) for name in SOURCES}:
            shutil.rmtree(old, ignore_errors=True)


def compile_together(go: str, names: Sequence[str], module: str, tags: str) -> None:
    """Build programs of a module with one `go build`, and move each program to its own folder.

    With one `go build`, Go can compile packages of one program while it links another. An empty `module` means
    devcluster/controlplane. The caller must lock .build/. Raises CommandFailed and MissingProgram.
    """
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="tmp-") as temporary:
        # -mod=readonly: the versions are those in go.mod. Without inlining (-l) and debug information (-dwarf),
        # the first build takes a third less time, and the programs are about a tenth slower.
        options = ("-mod=readonly", "-trimpath", "-tags", tags, "-gcflags=all=-dwarf=false -l")
        flags = ("-ldflags", linker_flags(module), "-o", temporary + os.sep)
        run(
            *(go, "build", *options, *flags, *(SOURCES[name].package for name in names)),
            cwd=downloaded(module) if module else MODULE,
            env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"},
        )
        for name in names:
            # Go names a program after the last element of its package's path that isn't a version.
            built_as = re.sub(r"/v\d+$", "", SOURCES[name].package).rpartition("/")[2]
            folder(name).mkdir(exist_ok=True)
            (Path(temporary) / built_as).rename(folder(name) / name)


def downloaded(module: str) -> Path:
    """Download a module (NAME@VERSION) with Go, and return its folder. Go checks it against the checksum database.

    Raises MissingProgram if Go is missing, and CommandFailed if the download fails.
    """
    go = find_go()
    path = Path(run(go, "env", "GOMODCACHE").strip(), module)
    try:
        run(go, "mod", "download", module, cwd="/", env=os.environ | {"GOTOOLCHAIN": "local"})
    except CommandFailed:  # also if the module requires a later Go, but then its files exist
        if not path.is_dir():
            raise
    return path


def linker_flags(module: str) -> str:
    """Return linker flags that strip debug information and, if `module` is empty, embed the Kubernetes version."""
    if module:  # Kubernetes' programs are built with devcluster/controlplane/go.mod
        return "-s -w"
    [version] = re.findall(r"^\s*k8s\.io/kubernetes (v\S+)", (MODULE / "go.mod").read_text(), re.MULTILINE)
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in stamps.items())


def find_go() -> str:
    """Return the path of `go`, which itself downloads the Go version that a go.mod requires. Raises MissingProgram."""
    if go := shutil.which("go"):
        return go
    raise MissingProgram(
        "Go is needed to build programs and to download the CRDs of the Gateway API, but it is not on PATH.\n"
        "Install Go from https://go.dev/dl/ or a package manager. Or set KUBEBUILDER_ASSETS to a folder with etcd,\n"
        "kube-apiserver and kube-controller-manager, and GATEWAY_API_CRDS to a folder with the CRDs."
    )
