"""The images that a node for tests runs, as archives that `docker save` would write: no registry is asked for them.

Buildah builds the hook's from the Dockerfile, with the options of $BUILD_OPTIONS. Each of the others is named
as the manifests name it, and holds one program of this machine.
"""

import os
import shlex
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

    Raises MissingProgram for a program that is neither here nor can be had, BuildFailed and CommandFailed.
    """
    metacontroller = find_metacontroller()
    if metacontroller is None:
        raise MissingProgram("A node needs Metacontroller, which no registry has: put `metacontroller` on PATH.")
    programs = {
        PAUSE: (build.get("pause", print), 'ENTRYPOINT ["/usr/bin/pause"]'),
        "localhost/coredns:1": (build.get("coredns", print), 'ENTRYPOINT ["/usr/bin/coredns"]'),
        image_of("metacontroller", "metacontroller"): (metacontroller, "USER 65532"),
        image_of("gateway", "ingress-manager-gateway"): (find_traefik(), 'ENTRYPOINT ["/usr/bin/traefik"]'),
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


def write(archive: Path, name: str, program: Path, configuration: str) -> Path:
    """Write the archive of an image of one program, and return it. Raises CommandFailed."""
    file = archive.with_suffix(".Dockerfile")
    lines = ("FROM scratch", f"COPY --chmod=0755 {program.name} /usr/bin/", configuration, "")
    file.write_text("\n".join(lines), encoding="utf-8")
    # It gets no name here, which another image may have.
    image = run("buildah", "build", "--quiet", f"--file={file}", program.parent).strip()
    run("buildah", "push", image, f"docker-archive:{archive}:{name}")
    run("buildah", "rmi", image)
    return archive
