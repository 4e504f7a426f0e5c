"""The image: `make image IMAGE=…` builds it, by whichever of docker, podman and buildah works on this machine."""

import shlex
import shutil
import subprocess
from collections.abc import Sequence

import click

from devcluster.build import REPOSITORY
from devcluster.console import Command
from devcluster.errors import CommandFailed, DevClusterError, MissingProgram

BUILDERS = ("docker", "podman", "buildah")

PUBLISHED = "ghcr.io/ingress-manager/ingress-manager"
"""The image that the manifests name, without a tag."""

EXAMPLE = "registry.example.com/ingress-manager:0.1.0"


class WrongReferenceError(DevClusterError):
    """What somebody calls an image can't be used."""


def split(reference: str) -> tuple[str, str, str]:
    """Return the name, the tag and the digest of an image; one of the last two may be empty.

    Raises WrongReferenceError where both are: then `latest` would be meant, of which nobody knows what it is.
    """
    rest, _, digest = reference.partition("@")
    folder, slash, last = rest.rpartition("/")
    name, _, tag = last.partition(":")
    if not name or not (tag or digest):
        raise WrongReferenceError(
            f"IMAGE must be an image with a tag or a digest, such as IMAGE={EXAMPLE}; not {reference!r}"
        )
    return folder + slash + name, tag, digest


def replacement(reference: str) -> dict[str, str]:
    """Return the entry of a kustomization's `images` that puts an image in the place of the one in the manifests.

    Raises WrongReferenceError.
    """
    found = dict(zip(("newName", "newTag", "digest"), split(reference), strict=True))
    return {"name": PUBLISHED} | {key: value for key, value in found.items() if value}


def find(names: Sequence[str]) -> str:
    """Return the first of these programs that works here: docker may be there without its daemon.

    Raises MissingProgram, which says what was tried.
    """
    tried = []
    for name in names:
        if shutil.which(name) is None:
            tried.append(f"{name} is not on PATH")
            continue
        ended = subprocess.run([name, "version"], capture_output=True, text=True, check=False)
        if ended.returncode == 0:
            return name
        said = (ended.stderr or ended.stdout).strip().splitlines() or ["it says nothing"]
        tried.append(f"{name} doesn't work: {said[-1]}")
    raise MissingProgram(f"{' or '.join(names)} is needed. {'; '.join(tried)}")


def build_commands(
    builder: str, image: str, *, platforms: str = "", base: str = "", options: Sequence[str] = ()
) -> list[list[str]]:
    """Return the commands that build the image. The last one has to succeed.

    `platforms` is a list with commas, such as linux/amd64,linux/arm64; empty: this machine's. `base` replaces the
    Dockerfile's; `options` are the builder's own.
    """
    build = [builder, "buildx", "build"] if builder == "docker" and platforms else [builder, "build"]
    stated = [f"--platform={platforms}"] if platforms else []
    stated += [f"--build-arg=BASE={base}"] if base else []
    stated += ["--file=Dockerfile", *options]
    if builder == "docker" or not platforms:
        return [[*build, f"--tag={image}", *stated, "."]]
    # podman and buildah would add to a list of an earlier build, which then had two images of one platform.
    return [[builder, "manifest", "rm", image], [*build, f"--manifest={image}", *stated, "."]]


def push_command(builder: str, image: str, platforms: str) -> list[str]:
    """Return the command that pushes what was built to the registry that the image's name begins with."""
    if builder == "docker" or not platforms:
        return [builder, "push", image]
    return [builder, "manifest", "push", "--all", image, f"docker://{image}"]


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--platforms", default="", help="For which platforms, for example linux/amd64,linux/arm64.")
@click.option("--base", default="", help="The base, in place of the Dockerfile's.")
@click.option("--builder", default="", help=f"One of {', '.join(BUILDERS)}; by default, the first that works here.")
@click.option("--options", default="", help="More options of the builder, as a shell would read them.")
@click.argument("image")
def main(image: str, platforms: str, base: str, builder: str, options: str) -> None:
    """Build IMAGE from the Dockerfile, and say how to push it.

    \b
    Examples:
      make image IMAGE=registry.example.com/ingress-manager:0.1.0
      make image IMAGE=registry.example.com/ingress-manager:0.1.0 PLATFORMS=linux/amd64,linux/arm64
    """  # noqa: D301 - \b keeps click from joining lines
    split(image)
    program = find([builder] if builder else BUILDERS)
    *before, command = build_commands(program, image, platforms=platforms, base=base, options=shlex.split(options))
    for each in before:
        subprocess.run(each, capture_output=True, check=False)
    click.echo(f"$ {shlex.join(command)}", err=True)
    if subprocess.run(command, cwd=REPOSITORY, check=False).returncode:
        raise CommandFailed(f"{program} has not built {image}; what it says is above.")
    click.echo(f"\n{image} is built. To push it:\n  {shlex.join(push_command(program, image, platforms))}", err=True)


if __name__ == "__main__":
    main(prog_name="python -m tools.image")
