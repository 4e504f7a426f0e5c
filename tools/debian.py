"""Debian's nginx without root: `python -m tools.debian` unpacks it, and the libraries it needs, into .build/debian/.

apt-get finds and verifies the packages, from wherever this machine gets its own, with state and cache of their own.
Nothing is installed, and nothing outside .build/ is written.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import click

from devcluster import build
from devcluster.console import Command, progress
from devcluster.errors import CommandFailed, MissingProgram

SUPERUSERS = "/usr/sbin"
"""Where Debian's package has nginx: a folder that is not on everybody's PATH."""


class Nginx(NamedTuple):
    """An nginx, and the folders of the libraries that were unpacked with it."""

    path: Path
    libraries: tuple[Path, ...] = ()

    def run(self, *arguments: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """Return what nginx did with these arguments in a folder, whether it failed or not."""
        found = {"LD_LIBRARY_PATH": os.pathsep.join(map(str, self.libraries))} if self.libraries else {}
        command = [str(self.path), *arguments]
        return subprocess.run(
            command, cwd=folder, env=os.environ | found, capture_output=True, text=True, timeout=60, check=False
        )

    def runs(self) -> bool:
        """Return whether it is there, with all libraries that it needs."""
        return self.path.exists() and self.run("-v").returncode == 0


def find_nginx() -> Nginx | None:
    """Return the nginx on PATH, else the one that was unpacked; None where there is neither."""
    if path := shutil.which("nginx", path=os.pathsep.join((os.environ["PATH"], SUPERUSERS))):
        return Nginx(Path(path))
    unpacked = nginx_in(build.BUILD / "debian")
    return unpacked if unpacked.path.exists() else None


def nginx_in(root: Path) -> Nginx:
    """Return the nginx that a package has brought into `root`, and every folder there that holds libraries."""
    return Nginx(root / "usr/sbin/nginx", tuple(sorted({library.parent for library in root.rglob("lib*.so.*")})))


def get_nginx(report: build.Progress) -> Nginx:
    """Return an nginx; unpack Debian's, which takes some seconds once, where there is none.

    Raises MissingProgram where Debian's tools are missing, and CommandFailed when they fail.
    """
    if found := find_nginx():
        return found
    if missing := [tool for tool in ("apt-get", "dpkg-deb") if shutil.which(tool) is None]:
        raise MissingProgram(
            "NOT CHECKED WITH NGINX: there is none on PATH, and Debian's can't be had without "
            f"{' and '.join(missing)}.\nInstall nginx in this machine's own way to have the Ingresses checked."
        )
    build.BUILD.mkdir(exist_ok=True)
    (build.BUILD / ".gitignore").write_text("*\n")
    # The prefix is that of what devcluster.build removes if it was left by a program that was killed.
    with build.lock(build.BUILD / "lock", report), tempfile.TemporaryDirectory(dir=build.BUILD, prefix="tmp-") as new:
        if found := find_nginx():  # by now another process has unpacked it
            return found
        root = Path(new) / "root"
        unpack("nginx", Path(new), report)
        if not nginx_in(root).runs():
            raise CommandFailed("Debian's package nginx has brought no nginx that runs here")
        return nginx_in(root.rename(build.BUILD / "debian"))


def unpack(package: str, folder: Path, report: build.Progress) -> None:
    """Unpack a package and those that it needs and that aren't installed into `folder`/root. Raises CommandFailed."""
    (folder / "state").mkdir()
    (folder / "cache").mkdir()
    # NoLocking: the lock of the installed packages is root's, and they are only read.
    options = f"Dir::State={folder}/state", f"Dir::Cache={folder}/cache", "Debug::NoLocking=true"
    apt = "apt-get", "-qq", *(argument for option in options for argument in ("-o", option))
    report("asking Debian's archive which packages there are")
    run(*apt, "update")
    report(f"downloading {package} and what it needs")
    run(*apt, "install", "--yes", "--no-install-recommends", "--download-only", package)
    for archive in sorted(folder.glob("cache/archives/*.deb")):
        run("dpkg-deb", "--extract", str(archive), str(folder / "root"))


def run(*command: str) -> None:
    """Run a command. Raises CommandFailed with what it said."""
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if ended.returncode:
        raise CommandFailed(f"{' '.join(command)}\n{(ended.stderr or ended.stdout).strip()}")


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--if-possible", is_flag=True, help="Succeed, with a message, where Debian's tools are missing.")
def main(if_possible: bool) -> None:
    """Find nginx, or unpack Debian's into .build/debian/, and say which it is."""
    try:
        with progress() as report:
            nginx = get_nginx(report)
    except MissingProgram as error:
        if not if_possible:
            raise
        click.echo(str(error), err=True)
        return
    version = nginx.run("-v").stderr.strip().removeprefix("nginx version: ")
    click.echo(f"{version} ({nginx.path})")


if __name__ == "__main__":
    main(prog_name="python -m tools.debian")
