"""Builds the files of a release: `python -m tools.dist` writes them to dist/.

With the same versions of kubectl, Helm and setuptools, a commit always gives identical bytes.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from devcluster.build import REPOSITORY, Progress, get
from devcluster.console import progress
from devcluster.errors import DevClusterError
from devcluster.overlay import Overlay
from devcluster.processes import run
from ingress_manager import __version__
from tools.install import PUBLISHED, replacement

MANIFESTS = {
    "install.yaml": ("manifests", "metacontroller/controller"),
    "metacontroller.yaml": ("metacontroller/install",),
    "gateway.yaml": ("gateway",),
    "httproute.yaml": ("metacontroller/httproute",),
    "listenerset.yaml": ("metacontroller/listenerset",),
}
"""The folders whose objects each manifest file contains, in the order in which to apply them."""

CHART = "charts/ingress-manager"

PACKAGED = ("LICENSE", "README.md", "pyproject.toml", "setup.cfg", "ingress_manager")
"""The files and folders from which the wheel is built."""

SUMS = "SHA256SUMS"


def write(to: Path, *, image: str | None, report: Progress) -> list[Path]:
    """Write the files of a release into `to`, replacing an earlier release. Return their paths, with SHA256SUMS last.

    `image`, if given, replaces the image named in the manifests. Raises DevClusterError, for example if `to` contains
    anything other than a release.
    """
    if to.exists() and any(to.iterdir()) and not (to / SUMS).exists():
        raise DevClusterError(f"{to} contains files that are not a release and would be lost; choose another folder")
    replaced = [] if image is None else [replacement(image)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "dist"
        folder.mkdir()
        for name, folders in MANIFESTS.items():
            report(f"building {name}")
            (folder / name).write_text(manifests(folders, replaced), encoding="utf-8")
        report("building the wheel")
        source = copy(PACKAGED, Path(temporary) / "source")
        options = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--quiet", "--disable-pip-version-check")
        make(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, source)
        report("packaging the chart")
        make(get("helm", report), "package", copy([CHART], Path(temporary) / "charts") / CHART, "--destination", folder)
        made = sorted(folder.iterdir())
        # In the format of `sha256sum`.
        sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made)
        (folder / SUMS).write_text("".join(sums), encoding="utf-8")
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(folder, to)
    return [to / path.name for path in (*made, folder / SUMS)]


def manifests(folders: tuple[str, ...], images: list[dict[str, str]]) -> str:
    """Return the folders' objects as a YAML stream, in the given order. `images` are kustomize's replacements."""
    title = f"# ingress-manager {__version__}: {', '.join(folders)}\n"
    return "---\n".join([title, *(Overlay([folder], images=images).render().text for folder in folders)])


def copy(names: Sequence[str], to: Path) -> Path:
    """Copy repository files and folders, with timestamps and permissions that are the same on every machine.

    Returns `to`. Python's caches are not copied.
    """
    for name in names:
        source, target = REPOSITORY / name, to / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for path in (to, *to.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (epoch(), epoch()))
    return to


def epoch() -> int:
    """Return the timestamp for the built files, in seconds since 1970: SOURCE_DATE_EPOCH, or else the commit's time.

    Source: https://reproducible-builds.org/specs/source-date-epoch/. Raises CommandFailed if git fails.
    """
    return int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=REPOSITORY))


def make(*command: str | Path) -> None:
    """Run a program that builds a file. Raises CommandFailed with its error message."""
    environment = {"SOURCE_DATE_EPOCH": str(epoch()), "SETUPTOOLS_SCM_PRETEND_VERSION": __version__}
    # umask: the wheel records the permissions of files created during the build.
    run(*command, cwd=REPOSITORY, env=os.environ | environment, umask=0o022)


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="For example: python -m tools.dist --image registry.example.com/ingress-manager:0.1.0",
)
@click.option("--version", "wanted", help="The version to release, which must be that of the package.")
@click.option("--image", help="The image in the manifests, with a tag or a digest.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), default=REPOSITORY / "dist", help="The folder.")
def main(wanted: str | None, image: str | None, to: Path) -> None:
    """Write the files of a release into dist/, or into the folder given with --to."""
    if wanted and wanted != __version__:
        bump = f"`bump-my-version bump --new-version {wanted}`"
        raise DevClusterError(f"the package has version {__version__}, not {wanted}; change it with {bump}")
    with progress() as report:
        files = write(to, image=image, report=report)
    for path in files:
        click.echo(path)
    if not image:
        click.echo(f"Without --image, the manifests use {PUBLISHED}:{__version__}, which is not published.", err=True)
    if changed := run("git", "status", "--porcelain", cwd=REPOSITORY):
        click.echo(f"These files differ from the commit, so nobody can reproduce the release:\n{changed}", err=True)


if __name__ == "__main__":
    main(prog_name="python -m tools.dist")
