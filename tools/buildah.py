"""The image built by buildah alone: without a daemon, and with the images that are in .build/containers/.

Nothing outside of .build/ is written, and what is mounted ends with each command. Packages come from where this
machine's pip gets its own.

Sources: buildah(1), buildah-build(1), containers-policy.json(5).
"""

import ast
import configparser
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from devcluster import build
from devcluster.errors import CommandFailed
from devcluster.running import run
from tools import base, debian, image

FOLDER = build.BUILD / "containers"
POLICY = {"default": [{"type": "insecureAcceptAnything"}]}
"""No image has to be signed. buildah wants to be told."""


class Buildah:
    """buildah, with images of its own. Raises MissingProgram where there is none, and it can't be had."""

    def __init__(self, report: build.Progress) -> None:
        self._report = report
        program = debian.get(debian.BUILDAH, report)
        FOLDER.mkdir(parents=True, exist_ok=True)
        with build.lock(FOLDER / "lock", report):  # several nodes may start at once
            self._start = start(program)
            (FOLDER / "policy.json").write_text(json.dumps(POLICY))
        self._driver = "overlay"
        try:
            self.run("info")
        except CommandFailed:  # the file system below .build/ can't be a part of an overlay
            self._driver = "vfs"

    def run(self, *arguments: str | Path, **options: Any) -> str:
        """Return what buildah prints; the options are subprocess.run's. Raises CommandFailed."""
        return run(
            *("unshare", "--mount", *self._start),
            *(f"--root={FOLDER / 'storage'}", f"--runroot={FOLDER / 'run'}", f"--storage-driver={self._driver}"),
            *arguments,
            **options,
        )

    def build(self, source: Path, name: str) -> str:
        """Build the image of a checkout, on $BASE if it is set; return its id. Raises CommandFailed, MissingProgram."""
        with build.lock(FOLDER / "lock", self._report), mounted_pip_settings() as mounts:
            options = ["--layers", "--isolation=chroot", "--network=host", self._policy, *mounts]
            [command] = image.build_commands("buildah", name, base=self._base(source), options=options)
            self._report(f"building the image {name}")
            self.run(*command[1:], cwd=source)
            return self.run("images", "--quiet", "--no-trunc", name).strip().removeprefix("sha256:")

    def build_from(self, dockerfile: str, folder: Path, name: str) -> None:
        """Build an image that is made of files of a folder, without any program. Raises CommandFailed."""
        self.run("build", "--isolation=chroot", self._policy, "--file=-", f"--tag={name}", folder, input=dockerfile)

    def save(self, name: str, archive: Path) -> None:
        """Write an image that was built as `docker save` does. Raises CommandFailed."""
        self.run("push", self._policy, name, f"docker-archive:{archive}:{name}")

    @property
    def _policy(self) -> str:
        return f"--signature-policy={FOLDER / 'policy.json'}"

    def _base(self, source: Path) -> str:
        """Return a base for a checkout's image: $BASE, else the Dockerfile's, pulled if need be, else one made."""
        if given := os.environ.get("BASE"):
            return given
        stated = base.stated(source)
        pulled = stated if "/" in stated else f"docker.io/library/{stated}"
        made = base.made_name(stated)
        for name in (pulled, made):
            if self._has(name):
                return name
        self._report(f"asking the registry for {stated}")
        with contextlib.suppress(CommandFailed):
            self.run("pull", self._policy, pulled)
            return pulled
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            base.write_root(stated, Path(folder), self._report)
            self.build_from(base.DOCKERFILE, Path(folder), made)
        return made

    def _has(self, name: str) -> bool:
        with contextlib.suppress(CommandFailed):
            return bool(self.run("inspect", "--type=image", name))
        return False


def start(program: debian.Program) -> list[str]:
    """Return how buildah starts where mounts are its own. Raises CommandFailed.

    It starts itself again without the variables with which it has found its libraries. If they were unpacked with it,
    they have to be in the list of all libraries, which is another one for buildah alone.
    """
    if program.root is None:
        return [str(program.path)]
    cache = FOLDER / "ld.so.cache"
    libraries = program.environment()["LD_LIBRARY_PATH"].split(os.pathsep)
    run(f"{debian.SUPERUSERS}/ldconfig", "-X", "-C", cache, *libraries)
    return ["sh", "-c", 'mount --bind "$0" /etc/ld.so.cache && exec "$@"', str(cache), str(program.path)]


@contextlib.contextmanager
def mounted_pip_settings() -> Iterator[list[str]]:
    """Yield the options with which pip, while an image is built, finds packages as this machine's pip does."""
    listed = run(sys.executable, "-m", "pip", "config", "list")
    settings, files = pip_settings(listed)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        file = Path(folder) / "pip.conf"
        file.write_text(settings)
        there = [path for path in files if Path(path).exists()]
        yield [f"--volume={file}:/etc/pip.conf:ro", *(f"--volume={path}:{path}:ro" for path in there)]


def pip_settings(listed: str) -> tuple[str, list[str]]:
    """Return the settings that `pip config list` has listed as one file, and the paths that they name."""
    settings = configparser.RawConfigParser()
    files = []
    # The environment's are first in the list, and go before those of files.
    for line in reversed(listed.splitlines()):
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        section = "global" if section == ":env:" else section
        if not settings.has_section(section):
            settings.add_section(section)
        text = str(ast.literal_eval(value))
        settings.set(section, option, text)
        files += [word for word in text.split() if word.startswith("/")]
    written = io.StringIO()
    settings.write(written)
    return written.getvalue(), list(dict.fromkeys(files))
