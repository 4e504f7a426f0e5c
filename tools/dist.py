"""The files of a release: `python -m tools.dist` writes them to dist/.

With the same tools (kubectl, Helm, setuptools), the same commit becomes the same bytes each time.
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
"""Each file of manifests, and the folders whose objects are in it, in the order in which they are to be applied."""

CHART = "charts/ingress-manager"

PACKAGED = ("LICENSE", "README.md", "pyproject.toml", "setup.cfg", "ingress_manager")
"""What the wheel is made from."""

SUMS = "SHA256SUMS"


def write(to: Path, *, image: str | None, report: Progress) -> list[Path]:
    """Write the files of a release into `to`, in the place of an earlier one. Returns them, the sums last.

    `image` is what the hook's containers run, instead of what the manifests name. Raises DevClusterError, also when
    there is something else in `to`.
    """
    if to.exists() and any(to.iterdir()) and not (to / SUMS).exists():
        raise DevClusterError(f"{to} holds something else than a release: it would be lost")
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
        # As `sha256sum` prints it.
        sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made)
        (folder / SUMS).write_text("".join(sums), encoding="utf-8")
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(folder, to)
    return [to / path.name for path in (*made, folder / SUMS)]


def manifests(folders: tuple[str, ...], images: list[dict[str, str]]) -> str:
    """Return the objects of folders of the repository as one YAML text, in their order."""
    title = f"# ingress-manager {__version__}: {', '.join(folders)}\n"
    return "---\n".join([title, *(Overlay([folder], images=images).render().text for folder in folders)])


def copy(names: Sequence[str], to: Path) -> Path:
    """Copy files and folders of the repository, with the time of the commit and the same rights wherever it is done.

    Returns `to`. What Python leaves behind is not copied.
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
    """Return the time that is written into files: SOURCE_DATE_EPOCH, else that of the commit; seconds since 1970.

    https://reproducible-builds.org/specs/source-date-epoch/. Raises DevClusterError.
    """
    return int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=REPOSITORY))


def make(*command: str | Path) -> None:
    """Run a program that makes a file; raises CommandFailed with its error message."""
    environment = {"SOURCE_DATE_EPOCH": str(epoch()), "SETUPTOOLS_SCM_PRETEND_VERSION": __version__}
    # umask: the wheel holds the rights of files that are made on the way.
    run(*command, cwd=REPOSITORY, env=os.environ | environment, umask=0o022)


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="For example: python -m tools.dist --image registry.example.com/ingress-manager:0.1.0",
)
@click.option("--version", "wanted", help="The version that is to be released. It has to be that of the package.")
@click.option("--image", help="What the hook's containers run, with a tag or a digest.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), default=REPOSITORY / "dist", help="The folder.")
def main(wanted: str | None, image: str | None, to: Path) -> None:
    """Write the files of a release into the folder dist/."""
    if wanted and wanted != __version__:
        bump = f"`bump-my-version bump --new-version {wanted}`"
        raise DevClusterError(f"this is version {__version__}; {bump} changes it")
    with progress() as report:
        files = write(to, image=image, report=report)
    for path in files:
        click.echo(path)
    if not image:
        click.echo(f"Without --image, they run {PUBLISHED}:{__version__}, which is not published.", err=True)
    if changed := run("git", "status", "--porcelain", cwd=REPOSITORY):
        click.echo(f"These files differ from the commit, so nobody else can make the same:\n{changed}", err=True)


if __name__ == "__main__":
    main(prog_name="python -m tools.dist")
