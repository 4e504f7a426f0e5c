"""The admission hook as manifests/admission/ installs it, but with an address and files of this machine.

The API server finds it by its Service, whose ClusterIP is an address of loopback. Its certificate is given as a person
would who has no cert-manager: a Secret, and the authority in the ValidatingWebhookConfiguration.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from typing import Any

import trustme
import urllib3
import yaml

from devcluster import credentials
from devcluster.api import SERVICES, Api, ApiError, path_of
from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError
from devcluster.overlay import ADMISSION, CONTROLLER, Rendered, Webhook
from devcluster.ports import ReservedPort
from devcluster.processes import Process, Processes
from hooks.settings_file import load
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import FILE_VARIABLE, parse

HOST = f"{ADMISSION}.{CONTROLLER}.svc"
"""The name that the API server asks for."""

MISTAKEN = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "admission-probe", "annotations": {"ingress/http": "yes"}},
    "spec": {"ports": [{"port": 80}]},
}
"""A Service with a mistake."""


class Admission:
    """A process that answers the API server. Call `start` when the manifests are applied, then `wait_ready`.

    Both raise ProcessDied, `start` DevClusterError, and `wait_ready` NotReady.
    """

    def __init__(self, processes: Processes) -> None:
        self.authority = trustme.CA(organization_name="ingress-manager's development cluster")
        self._authority_file = processes.folder / "admission-ca.crt"
        self.authority.cert_pem.write_to_path(self._authority_file)
        self._port = ReservedPort()
        self._tls = processes.folder / "admission-tls"
        self.settings_file = processes.folder / "admission-settings.yaml"
        environment = {FILE_VARIABLE: str(self.settings_file)}
        self.process: Process = processes.add("admission", [], env=environment, cwd=REPOSITORY)
        self.address: tuple[str, int]
        """Where it listens: the ClusterIP of its Service, and the Service's port."""

    def webhook(self) -> Webhook:
        """Return what is particular to this machine in what is to be installed. A certificate is made and put there."""
        certificate = self.authority.issue_cert(HOST)
        self.mount(certificate)
        return Webhook(self._port.number, pems(certificate), self.authority.cert_pem.bytes())

    def mount(self, certificate: trustme.LeafCert) -> None:
        """Put a certificate and its key where the process reads them, as a kubelet does when their Secret has changed.

        It replaces a link to a folder with both, so that no file is ever half written.
        """
        folder = self._tls / f"..{time.time_ns()}"
        folder.mkdir(parents=True)
        for name, text in pems(certificate).items():
            credentials.write_private(folder / name, text)
        link, old = self._tls / "..data", (self._tls / "..data").resolve()
        (self._tls / "..data_tmp").symlink_to(folder.name)
        (self._tls / "..data_tmp").rename(link)
        for name in pems(certificate):
            with contextlib.suppress(FileExistsError):
                (self._tls / name).symlink_to(f"..data/{name}")
        if old != link:
            shutil.rmtree(old)

    def start(self, api: Api, rendered: Rendered, settings: dict[str, Any] | None) -> None:
        """Start it as its Deployment says; `settings` replace those that the Deployment mounts."""
        self.take(api, rendered)
        if settings is not None:
            self.settings_file.write_text(yaml.safe_dump(settings))
        self.process.start()

    def take(self, api: Api, rendered: Rendered) -> None:
        """Let it start, from now on, as the manifests say. Raises DevClusterError."""
        settings, command = rendered.settings(ADMISSION), rendered.container(ADMISSION)["command"]
        try:
            parse(settings)
        except SettingsError as error:
            raise DevClusterError(str(error)) from error
        service = api.get(SERVICES, ADMISSION, CONTROLLER)
        if service is None:
            raise DevClusterError(f"there is no Service {CONTROLLER}/{ADMISSION}")
        self.settings_file.write_text(settings)
        self.address = service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"]
        # The committed command, but for the files of the certificate and the address that it listens on.
        program, *arguments, application = command
        files = (f"--certfile={self._tls / 'tls.crt'}", f"--keyfile={self._tls / 'tls.key'}")
        bind = f"--bind={self.address[0]}:{self.address[1]}"
        self.process.command = [sys.executable, "-m", program, *arguments, *files, bind, application]

    def reload(self) -> None:
        """Let it go by its settings file while it answers: gunicorn starts a worker before the old one ends."""
        os.kill(self.process.pid, signal.SIGHUP)

    def restart(self, api: Api, settings: dict[str, Any]) -> None:
        """Restart it at once with other settings, and return when it answers the API server. Raises as `wait_ready`."""
        self.process.kill()
        self.settings_file.write_text(yaml.safe_dump(settings))
        self.process.start()
        self.wait_ready(api)

    def metrics(self) -> str:
        """Return its metrics, asked for on a connection of its own. Raises urllib3's HTTPError."""
        with urllib3.HTTPSConnectionPool(
            *self.address, ca_certs=str(self._authority_file), server_hostname=HOST, assert_hostname=HOST
        ) as pool:
            return pool.request("GET", "/metrics", retries=False, timeout=5).data.decode()

    def settings_served(self) -> bool:
        """Return whether it goes by its settings file as that is now: its metrics tell the hash."""
        try:
            return load(self.settings_file).sha256 in self.metrics()
        except urllib3.exceptions.HTTPError:
            return False

    def wait_ready(self, api: Api) -> None:
        """Return once the API server asks it, and tells what it answers."""
        self.process.wait_ready(lambda: says_something(api))

    def close(self) -> None:
        """Give the port back; the process ends with its folder."""
        self._port.close()


def says_something(api: Api) -> bool:
    """Return whether somebody who tries to create a Service with a mistake is warned, or denied."""
    try:
        return bool(api.warnings("POST", path_of(SERVICES, "default"), params={"dryRun": "All"}, body=MISTAKEN))
    except ApiError as error:
        if "denied the request" in str(error):
            return True
        raise


def pems(certificate: trustme.LeafCert) -> dict[str, str]:
    """Return a certificate and its key as a Secret holds them."""
    return {
        "tls.crt": certificate.cert_chain_pems[0].bytes().decode(),
        "tls.key": certificate.private_key_pem.bytes().decode(),
    }
