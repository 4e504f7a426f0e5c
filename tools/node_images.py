"""The images that a node for tests runs, as archives: no registry is asked for them.

The hook's is built from the Dockerfile. Each of the others is named as the manifests name it, and holds one program of
this machine where its image has it. They come into .build/images/, and are written anew when that has changed.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from devcluster import build, manifests
from devcluster.build import REPOSITORY
from devcluster.errors import MissingProgram
from devcluster.node.node import COREDNS, PAUSE
from devcluster.programs import find_metacontroller, find_traefik
from tools.buildah import Buildah

IMAGES = build.BUILD / "images"
HOOK = "localhost/ingress-manager:tested"

LOADER, HEAD = b"/ld-", 4096
"""What the head of a program names that is linked dynamically, and the bytes of the head. Source: elf(5), PT_INTERP."""


class Image(NamedTuple):
    """An image of one program of this machine."""

    name: str
    program: Path
    path: str
    """Where the program is in the image."""

    says: str
    """How to run it, in the words of a Dockerfile; what its Deployment says goes before."""


def archives(report: build.Progress) -> list[Path]:
    """Return the archives of the images that a node needs, written where they aren't there yet.

    Raises MissingProgram for a program that is neither here nor can be had, BuildFailed and CommandFailed.
    """
    buildah = Buildah(report)
    return [hook_archive(report), *(program_archive(image, buildah, report) for image in program_images(report))]


def hook_archive(report: build.Progress, source: Path = REPOSITORY, name: str = HOOK) -> Path:
    """Return the archive of the image that a checkout of this repository builds, under this name.

    Raises MissingProgram and CommandFailed.
    """
    buildah = Buildah(report)
    return kept(name, buildah.build(source, name), functools.partial(buildah.save, name), report)


def program_images(report: build.Progress) -> Iterator[Image]:
    """Yield the images of one program. Raises MissingProgram and BuildFailed."""
    yield Image(PAUSE, build.get("pause", report), "/pause", 'ENTRYPOINT ["/pause"]')
    yield Image(COREDNS, build.get("coredns", report), "/coredns", 'ENTRYPOINT ["/coredns"]')
    metacontroller = find_metacontroller()
    if metacontroller is None:
        raise MissingProgram("A node needs Metacontroller, which no registry has: put `metacontroller` on PATH.")
    if LOADER in metacontroller.read_bytes()[:HEAD]:
        raise MissingProgram(f"{metacontroller} needs a C library, which its image lacks: build it without CGO.")
    path = "/usr/bin/metacontroller"
    # Metacontroller's own has no entrypoint, and states a user by name.
    says = f'USER nonroot:nonroot\nCMD ["{path}"]'
    yield Image(image_of("metacontroller", "metacontroller"), metacontroller, path, says)
    path = "/usr/local/bin/traefik"
    yield Image(image_of("gateway", "ingress-manager-gateway"), find_traefik(), path, f'ENTRYPOINT ["{path}"]')


def image_of(folder: str, deployment: str) -> str:
    """Return the image of a Deployment in the manifests."""
    [container] = manifests.find(folder, "Deployment", deployment)["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


def program_archive(image: Image, buildah: Buildah, report: build.Progress) -> Path:
    """Return the archive of an image of one program."""
    with image.program.open("rb") as file:
        content = hashlib.file_digest(file, "sha256")
    dockerfile = f"FROM scratch\nCOPY {image.program.name} {image.path}\n{image.says}\n"
    content.update(f"{image.name} {dockerfile}".encode())

    def write(new: Path) -> None:
        buildah.build_from(dockerfile, image.program.parent, image.name)
        buildah.save(image.name, new)

    return kept(image.name, content.hexdigest(), write, report)


def kept(name: str, digest: str, write: Callable[[Path], None], report: build.Progress) -> Path:
    """Return the archive of an image with this content, which is written in the place of an older one if need be."""
    stem = re.sub(r"[^\w.-]", "_", name)
    path = IMAGES / f"{stem}-{digest[:12]}.tar"
    IMAGES.mkdir(parents=True, exist_ok=True)
    (build.BUILD / ".gitignore").write_text("*\n")
    with build.lock(IMAGES / "lock", report):
        if not path.exists():
            report(f"writing the image {name}")
            new = IMAGES / "new"
            write(new)
            for old in IMAGES.glob(f"{stem}-{'?' * 12}.tar"):
                old.unlink()
            new.rename(path)
    return path
