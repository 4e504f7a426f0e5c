"""Builds the API server and the controller manager of a version of Kubernetes, and downloads Go modules by version.

No go.mod is committed for them: Go chooses the same modules for a version each time, and its checksum database says
that they are what was published.
"""

import re
from pathlib import Path

from devcluster import build

MODULE = "k8s.io/kubernetes"
PROGRAMS = ("kube-apiserver", "kube-controller-manager")


def assets(version: str, progress: build.Progress) -> Path:
    """Return the folder with the programs of a version, such as 1.30.14: KUBEBUILDER_ASSETS may name it.

    The first time they are built, which takes minutes. Raises MissingProgram where there is no Go, and BuildFailed.
    """
    if f"v{version}" == build.pinned_version(MODULE):  # the development cluster's
        build.build(PROGRAMS, progress)
        return build.folder(PROGRAMS[0])
    folder = build.BUILD / f"kubernetes-{version}"
    if all((folder / name).exists() for name in PROGRAMS):
        return folder
    go = build.find_go(f"to build Kubernetes {version}")
    folder.mkdir(parents=True, exist_ok=True)
    with build.lock(build.BUILD / "lock", progress):
        (folder / "go.mod").write_text(go_mod(Path(download(MODULE, version)["GoMod"]).read_text(), version))
        targets = {f"{MODULE}/cmd/{name}": folder / name for name in PROGRAMS}
        build.compile_packages(go, targets, folder, lambda line: progress(f"{version}: {line}"), "-mod=mod")
    return folder


def go_mod(published: str, version: str) -> str:
    """Return the go.mod to build a version with, given its own.

    That one finds Kubernetes' parts in folders of its repository. The same parts are published as modules: those of
    Kubernetes 1.30.14 as 0.30.14.
    """
    part = version.replace("1.", "v0.", 1)
    language = re.findall(r"^go .*$", published, re.MULTILINE)
    parts = re.findall(r"^\t(\S+) => \./staging/", published, re.MULTILINE)
    replaced = (f"replace {name} => {name} {part}" for name in parts)
    return "\n".join(["module ingress-manager/versions", *language, f"require {MODULE} v{version}", *replaced, ""])


def download(module: str, version: str) -> dict[str, str]:
    """Return what Go says of a module that it has downloaded, as its folder, `Dir`.

    Raises MissingProgram where there is no Go, and BuildFailed.
    """
    return build.downloaded(f"{module}@v{version}", f"to download {module}")
