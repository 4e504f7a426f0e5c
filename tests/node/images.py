"""The images that a node for tests runs, as archives that `docker save` would write: no registry is asked for them.

The hook's is built from the Dockerfile by buildah, with the options of $BUILD_OPTIONS. Each of the others is named as
the manifests name it, and holds one program of this machine.
"""

import hashlib
import io
import json
import os
import platform
import shlex
import tarfile
from pathlib import Path

from devcluster import build
from devcluster.errors import MissingProgram
from devcluster.node import PAUSE
from devcluster.processes import run
from devcluster.programs import find_metacontroller, find_traefik
from tests.manifests.objects import find

HOOK = "localhost/ingress-manager:tested"


def archives(folder: Path) -> list[Path]:
    """Write the archives of the images that a node needs into a folder, and return them.

    Raises MissingProgram for a program that is neither here nor can be had, and else DevClusterError.
    """
    metacontroller = find_metacontroller()
    if metacontroller is None:
        raise MissingProgram("A node needs Metacontroller, which no registry has: put `metacontroller` on PATH.")
    programs: dict[str, tuple[Path, str, dict[str, object]]] = {
        PAUSE: (build.get("pause", print), "/pause", {"Entrypoint": ["/pause"]}),
        "localhost/coredns:1": (build.get("coredns", print), "/coredns", {"Entrypoint": ["/coredns"]}),
        image_of("metacontroller", "metacontroller"): (metacontroller, "/usr/bin/metacontroller", {"User": "65532"}),
        image_of("gateway", "ingress-manager-gateway"): (find_traefik(), "/traefik", {"Entrypoint": ["/traefik"]}),
    }
    hook = folder / "hook.tar"
    options = shlex.split(os.environ.get("BUILD_OPTIONS", ""))
    run("buildah", "build", f"--tag={HOOK}", "--file=Dockerfile", *options, ".", cwd=build.REPOSITORY)
    run("buildah", "push", HOOK, f"docker-archive:{hook}:{HOOK}")
    return [hook, *(write(folder / f"{number}.tar", name, *of) for number, (name, of) in enumerate(programs.items()))]


def image_of(folder: str, deployment: str) -> str:
    """Return the image of a Deployment in the manifests."""
    [container] = find(folder, "Deployment", deployment)["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


def write(archive: Path, name: str, program: Path, path: str, config: dict[str, object]) -> Path:
    """Write the archive of an image of one program, and return it. Source: the image specification of Docker, v1.2."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files, program.open("rb") as content:
        entry = files.gettarinfo(str(program.resolve()), path.removeprefix("/"))
        entry.mode, entry.uid, entry.gid = 0o755, 0, 0
        files.addfile(entry, content)
    diff = f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}"
    stated = {
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()],
        "os": "linux",
        "config": config,
    }
    image = json.dumps({**stated, "rootfs": {"type": "layers", "diff_ids": [diff]}}).encode()
    listed = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    contents = {"layer.tar": layer.getvalue(), "config.json": image, "manifest.json": json.dumps(listed).encode()}
    with tarfile.open(archive, "w") as files:
        for each, data in contents.items():
            entry = tarfile.TarInfo(each)
            entry.size = len(data)
            files.addfile(entry, io.BytesIO(data))
    return archive
