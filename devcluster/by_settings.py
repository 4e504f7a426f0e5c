"""A process that goes by a settings file: the hook, or what answers the API server."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests
import urllib3
import yaml

from devcluster.errors import DevClusterError
from devcluster.overlay import Rendered
from devcluster.processes import Process
from hooks.settings_file import load
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import parse


class BySettings:
    """The process, its file, and its metrics, which tell the hash of the file that it goes by."""

    def __init__(self, process: Process, file: Path, metrics: Callable[[], str]) -> None:
        self.process, self.file, self._metrics = process, file, metrics

    def take(self, rendered: Rendered, deployment: str) -> None:
        """Let it start, from now on, with the settings that its Deployment mounts; raises DevClusterError."""
        settings = rendered.settings(deployment)
        try:
            parse(settings)
        except SettingsError as error:
            raise DevClusterError(str(error)) from error
        self.file.write_text(settings)

    def reload(self) -> None:
        """Let it go by its file while it answers: gunicorn starts a worker before the old one ends."""
        os.kill(self.process.pid, signal.SIGHUP)

    def serves(self) -> bool:
        """Return whether it goes by its file as that is now."""
        try:
            return load(self.file).sha256 in self._metrics()
        except (urllib3.exceptions.HTTPError, requests.RequestException):
            return False

    def restart(self, settings: dict[str, Any] | None, wait_ready: Callable[[], None]) -> None:
        """Restart it at once, with other settings if they are given. Raises as `wait_ready`."""
        self.process.kill()
        if settings is not None:
            self.file.write_text(yaml.safe_dump(settings))
        self.process.start()
        wait_ready()
