"""Prints which packages there are where it runs, as JSON. tools/image.py has an image's own Python run it.

So it knows nothing but the standard library, and ingress_manager, which lies in the image's working directory.
"""

import json
import platform
import subprocess
import sys
from importlib.metadata import distributions

from ingress_manager import __version__


def python() -> list[dict[str, str]]:
    """Return Python's packages: name, version and license, which is an SPDX expression, a name, or empty."""
    own = {"name": "ingress-manager", "version": __version__, "license": "Apache-2.0"}
    return [own] + [
        {
            "name": found.metadata["Name"],
            "version": found.version,
            "license": str(found.metadata.json.get("license_expression", "")),
        }
        for found in distributions()
    ]


def system() -> list[dict[str, str]]:
    """Return Debian's packages: name, version and architecture."""
    fields = ("name", "version", "architecture")
    command = ["dpkg-query", "--show", "--showformat", "${Package} ${Version} ${Architecture}\n"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [dict(zip(fields, line.split(), strict=True)) for line in lines]


def distribution() -> str:
    """Return which release of which distribution it is, for example debian-13."""
    release = platform.freedesktop_os_release()
    return f"{release['ID']}-{release.get('VERSION_ID', 'unknown')}"


if __name__ == "__main__":
    found = {
        "version": platform.python_version(),
        "distribution": distribution(),
        "python": python(),
        "system": system(),
    }
    json.dump(found, sys.stdout)
