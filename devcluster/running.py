"""Programs that are run to their end."""

import subprocess
from pathlib import Path
from typing import Any

from devcluster.errors import CommandFailed


def run(*command: str | Path, input: str = "", **options: Any) -> str:  # noqa: A002 - as subprocess.run calls it
    """Return what a command prints; the options are subprocess.run's. Raises CommandFailed with what it said."""
    ended = subprocess.run(command, input=input, capture_output=True, text=True, check=False, **options)
    if ended.returncode:
        raise CommandFailed(f"{' '.join(map(str, command))}\n{(ended.stdout + ended.stderr).strip()}")
    return str(ended.stdout)
