"""Debian's nginx and Chromium without root: `python -m tools.debian` unpacks them.

With `--node`, it unpacks what a node needs, and what its image is built with: runc, CNI's plugins, nft, buildah and
mmdebstrap. They come into .build/. apt-get finds and verifies the packages, from wherever this machine gets its own,
with state and cache of their own. Nothing is installed, and nothing outside .build/ is written.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from devcluster import build
from devcluster.console import Command, progress
from devcluster.errors import CommandFailed, MissingProgram
from devcluster.running import run

SUPERUSERS = "/usr/sbin"
"""Where Debian's packages have programs of the superuser: a folder that is not on everybody's PATH."""

PERL = ("usr/lib/*/perl*/*", "usr/share/perl/*", "usr/share/perl5")
"""Where Debian's packages have Perl's modules. A small machine has few of them."""


class Package(NamedTuple):
    """A program that the tests or the benchmark use, and how Debian's packages bring it."""

    name: str
    """The name of the program on PATH, and of the first package if none is stated."""

    path: str
    """Where the package has the program; newer releases have it below usr/. It may differ from what is on PATH: a
    script there may know only /usr."""

    use: str
    """What can't be tested without it."""

    packages: tuple[str, ...] = ()
    """The packages, where it isn't the one of the program's name alone."""


NGINX = Package("nginx", "usr/sbin/nginx", "what nginx says to the Ingresses")
CHROMIUM = Package(
    "chromium",
    "usr/lib/chromium/chromium",
    "how the 404 page looks, and the page of `ingress-manager play`",
    # The driver speaks WebDriver; without a font, Chromium draws no text.
    ("chromium", "chromium-driver", "fonts-droid-fallback"),
)
PACKAGES = (NGINX, CHROMIUM)

RUNC = Package("runc", "usr/sbin/runc", "what runs as Pods")
PLUGINS = Package("containernetworking-plugins", "usr/lib/cni/bridge", "what runs as Pods")
"""They are no programs for people: the folder of this one has all of them."""

NFT = Package("nft", "usr/sbin/nft", "how Services lead to Pods", ("nftables",))
BUILDAH = Package("buildah", "usr/bin/buildah", "the image as a node runs it")
MMDEBSTRAP = Package("mmdebstrap", "usr/bin/mmdebstrap", "the image, where no registry has its base")
NODE = (RUNC, PLUGINS, NFT, BUILDAH, MMDEBSTRAP)

NGINX_FOLDERS = " ".join(f"{name}_temp_path {name};" for name in ("client_body", "fastcgi", "proxy", "scgi", "uwsgi"))
"""What nginx.conf has to hold. nginx would create these folders, even in a test, where it was built to have them."""


class Program(NamedTuple):
    """A program, and the folder that its package was unpacked to; None if it is installed."""

    path: Path
    root: Path | None = None

    def environment(self) -> dict[str, str]:
        """Return the variables with which it finds the libraries and the fonts that were unpacked with it."""
        if self.root is None:
            return {}
        libraries = sorted({str(library.parent) for library in self.root.rglob("lib*.so*")})
        perl = [str(path) for pattern in PERL for path in sorted(self.root.glob(pattern))]
        found = {"LD_LIBRARY_PATH": libraries, "PERL5LIB": perl, "XDG_DATA_HOME": [str(self.root / "usr/share")]}
        return {name: os.pathsep.join(paths) for name, paths in found.items()}

    def run(self, *arguments: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """Return what the program did with these arguments in a folder, whether it failed or not."""
        command, environment = [str(self.path), *arguments], os.environ | self.environment()
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
        )


def find(package: Package) -> Program | None:
    """Return the program on PATH, else the one that was unpacked; None where there is neither."""
    if path := shutil.which(package.name, path=os.pathsep.join((os.environ["PATH"], SUPERUSERS))):
        return Program(Path(path))
    if (installed := Path("/", package.path)).exists():
        return Program(installed)
    unpacked = program_in(root_of(package), package)
    return unpacked if unpacked.path.exists() else None


def root_of(package: Package) -> Path:
    """Return the folder that a package is unpacked to."""
    return build.BUILD / f"debian-{package.name}"


def program_in(root: Path, package: Package) -> Program:
    """Return the program that a package brings into `root`."""
    moved = root / "usr" / package.path
    return Program(moved if moved.exists() else root / package.path, root)


def get(package: Package, report: build.Progress) -> Program:
    """Return a program; unpack Debian's, which takes some seconds once, where there is none.

    Raises MissingProgram where Debian's tools are missing, and CommandFailed when they fail.
    """
    if found := find(package):
        return found
    if missing := [tool for tool in ("apt-get", "dpkg-deb") if shutil.which(tool) is None]:
        raise MissingProgram(
            f"NOT CHECKED WITH {package.name.upper()}: there is none on PATH, and Debian's can't be had without "
            f"{' and '.join(missing)}.\nInstall {package.name} in this machine's own way to have {package.use} tested."
        )
    build.BUILD.mkdir(exist_ok=True)
    (build.BUILD / ".gitignore").write_text("*\n")
    # The prefix is that of what devcluster.build removes if it was left by a program that was killed.
    with build.lock(build.BUILD / "lock", report), tempfile.TemporaryDirectory(dir=build.BUILD, prefix="tmp-") as new:
        if found := find(package):  # by now another process has unpacked it
            return found
        root = Path(new) / "root"
        unpack(package.packages or (package.name,), Path(new), report)
        if not program_in(root, package).path.exists():
            raise CommandFailed(f"Debian's package {package.name} has brought no {package.name}")
        return program_in(root.rename(root_of(package)), package)


def unpack(packages: Sequence[str], folder: Path, report: build.Progress) -> None:
    """Unpack packages and those that they need and that aren't installed into `folder`/root. Raises CommandFailed."""
    (folder / "state").mkdir()
    (folder / "cache").mkdir()
    # NoLocking: the lock of the installed packages is root's, and they are only read.
    options = f"Dir::State={folder}/state", f"Dir::Cache={folder}/cache", "Debug::NoLocking=true"
    apt = "apt-get", "-qq", *(argument for option in options for argument in ("-o", option))
    report("asking Debian's archive which packages there are")
    run(*apt, "update")
    report(f"downloading {packages[0]} and what it needs")
    run(*apt, "install", "--yes", "--no-install-recommends", "--download-only", *packages)
    for archive in sorted(folder.glob("cache/archives/*.deb")):
        run("dpkg-deb", "--extract", archive, folder / "root")


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--if-possible", is_flag=True, help="Succeed, with a message, where Debian's tools are missing.")
@click.option("--node", is_flag=True, help="Instead, what a node needs, and what its image is built with.")
def main(if_possible: bool, node: bool) -> None:
    """Find nginx and Chromium, or unpack Debian's into .build/, and say where they are."""
    for package in NODE if node else PACKAGES:
        try:
            with progress() as report:
                program = get(package, report)
        except MissingProgram as error:
            if not if_possible:
                raise
            click.echo(str(error), err=True)
        else:
            click.echo(program.path)


if __name__ == "__main__":
    main(prog_name="python -m tools.debian")
