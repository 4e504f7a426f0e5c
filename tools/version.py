"""The version, which ingress_manager/__init__.py states: `make version VERSION=0.2.0` writes it everywhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from devcluster.build import REPOSITORY
from devcluster.console import Command
from devcluster.errors import DevClusterError

IMAGE = r"^ *image: ghcr\.io/ingress-manager/ingress-manager:(.+)$"

STATED = "ingress_manager/__init__.py"
"""The file that states the version for Python."""

PLACES = {
    STATED: (r"^__version__ = \"(.+)\"$",),
    "manifests/deployment.yaml": (IMAGE,),
    "manifests/kustomization.yaml": (r"^# +newTag: (.+)$", r"^ +app\.kubernetes\.io/version: (.+)$"),
    "gateway/not-found/deployment.yaml": (IMAGE,),
    "charts/ingress-manager/Chart.yaml": (r"^version: (.+)$", r"^appVersion: \"?([^\"\n]+)\"?$"),
}
"""Each file that states the version, and patterns of the lines that do. Each pattern is found once."""

SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
"""What a version looks like to Python, Helm and https://semver.org alike."""


def stated(root: Path = REPOSITORY) -> str:
    """Return the version that ingress_manager/__init__.py states."""
    [found] = re.findall(PLACES[STATED][0], (root / STATED).read_text(encoding="utf-8"), re.MULTILINE)
    return str(found)


def files(root: Path = REPOSITORY) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield each file that is there and states the version, and its patterns."""
    for name, patterns in PLACES.items():
        if (root / name).exists():
            yield root / name, patterns


def write(version: str, root: Path = REPOSITORY) -> list[Path]:
    """Write the version into every file that states it, and return these files.

    Raises DevClusterError, before anything is written, when a file doesn't state it as PLACES says.
    """
    written = {}
    for path, patterns in files(root):
        text = path.read_text(encoding="utf-8")
        for pattern in patterns:
            found = list(re.finditer(pattern, text, re.MULTILINE))
            if len(found) != 1:
                raise DevClusterError(f"{path} has {len(found)} lines like {pattern}, not one")
            start, end = found[0].span(1)
            text = text[:start] + version + text[end:]
        written[path] = text
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return list(written)


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("version")
def main(version: str) -> None:
    """Write VERSION, such as 0.2.0, into every file that states the version."""
    if not SEMANTIC.fullmatch(version):
        raise click.BadParameter(f"{version!r} is no version; one looks like 0.2.0")
    for path in write(version):
        click.echo(path.relative_to(REPOSITORY))
    click.echo(f"Now put `## [{version}] - DATE` below `## [Unreleased]` in CHANGELOG.md.", err=True)


if __name__ == "__main__":
    main(prog_name="python -m tools.version")
