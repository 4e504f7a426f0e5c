"""The base of the image where no registry has it, made of Debian's packages: tools/buildah.py builds on it.

It is good for tests. Its Python is Debian's: of the version that the Dockerfile names, but for its last number.
"""

import os
import re
import sys
from pathlib import Path

from devcluster import build
from devcluster.build import REPOSITORY
from devcluster.errors import MissingProgram
from devcluster.running import run
from tools import debian

DOCKERFILE = """\
FROM scratch
ADD root.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["python"]
"""


def stated(source: Path = REPOSITORY) -> str:
    """Return the base that the Dockerfile of a checkout names."""
    [name] = re.findall(r"^ARG BASE=(\S+)$", (source / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    return str(name)


def made_name(base: str) -> str:
    """Return what the base is called that is made in the place of another: nobody takes it for that one."""
    return f"localhost/ingress-manager-base:{base.partition(':')[2]}"


def write_root(base: str, folder: Path, report: build.Progress) -> None:
    """Write root.tar, with Debian's packages of the Python and the Debian that `base` is named for, into a folder.

    It takes a minute. Raises MissingProgram where it can't be made, and CommandFailed.
    """
    python, suite = parts(base)
    if os.geteuid():
        raise MissingProgram(
            f"Nothing here has the base image {base}, and only root can make one of Debian's packages."
        )
    mmdebstrap = debian.get(debian.MMDEBSTRAP, report)
    report("asking Python's index for pip")
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"--dest={folder}", "pip")
    [pip] = folder.glob("pip-*.whl")
    report(f"making a base for the image of Debian's packages: Python {python} on {suite}")
    environment = os.environ | mmdebstrap.environment()
    run(mmdebstrap.path, *bootstrap(python, pip), suite, folder / "root.tar", env=environment)


def parts(base: str) -> tuple[str, str]:
    """Return the version of Python that a base is named for, without its last number, and the suite of Debian.

    Raises MissingProgram.
    """
    found = re.fullmatch(r"python:(\d+\.\d+)\S*-([a-z]+)", base)
    if found is None:
        raise MissingProgram(
            f"Nothing here has the base image {base}, and its name doesn't say which Python and Debian to make one of."
        )
    return found[1], found[2]


def bootstrap(python: str, pip: Path) -> list[str]:
    """Return the options with which mmdebstrap makes a base, with this wheel of pip.

    The Dockerfile removes pip again. That of a package, Debian's or Python's ensurepip, would leave a trace.
    """
    wheel = f"/tmp/{pip.name}"  # noqa: S108 - in the base
    return [
        "--variant=minbase",
        f"--include=python{python},ca-certificates",
        f'--customize-hook=ln -s /usr/bin/python{python} "$1/usr/local/bin/python"',
        f'--customize-hook=rm "$1/usr/lib/python{python}/EXTERNALLY-MANAGED"',
        f"--customize-hook=upload {pip} {wheel}",
        f'--customize-hook=chroot "$1" python {wheel}/pip --isolated install --root-user-action=ignore {wheel}',
        f'--customize-hook=rm "$1{wheel}"',
    ]
