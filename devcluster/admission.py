"""The admission hook as manifests/admission/ installs it, but with an address and files of this machine.

The API server finds it by its Service, whose ClusterIP is an address of loopback. Its certificate is given as a person
would who has no cert-manager: a Secret, and the authority in the ValidatingWebhookConfiguration.
"""

import sys
from typing import Any

import trustme
import urllib3
import yaml

from devcluster import credentials
from devcluster.api import SERVICES, Api, ApiError, path_of
from devcluster.build import REPOSITORY
from devcluster.deployments import BySettings
from devcluster.errors import DevClusterError
from devcluster.overlay import ADMISSION, CONTROLLER, Rendered, Webhook
from devcluster.processes import Process, Processes, ReservedPort
from ingress_manager.core.settings import FILE_VARIABLE

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
        self.by_settings = BySettings(self.process, self.settings_file, self.metrics)
        self.address: tuple[str, int]
        """Where it listens: the ClusterIP of its Service, and the Service's port."""

    def webhook(self) -> Webhook:
        """Return what is particular to this machine in what is to be installed. A certificate is made and put there."""
        certificate = self.authority.issue_cert(HOST)
        secret = {
            "tls.crt": certificate.cert_chain_pems[0].bytes().decode(),
            "tls.key": certificate.private_key_pem.bytes().decode(),
        }
        self._tls.mkdir()
        for name, text in secret.items():
            credentials.write_private(self._tls / name, text)
        return Webhook(self._port.number, secret, self.authority.cert_pem.bytes())

    def start(self, api: Api, rendered: Rendered, settings: dict[str, Any] | None) -> None:
        """Start it as its Deployment says; `settings` replace those that the Deployment mounts."""
        self.take(api, rendered)
        if settings is not None:
            self.settings_file.write_text(yaml.safe_dump(settings))
        self.process.start()

    def take(self, api: Api, rendered: Rendered) -> None:
        """Let it start, from now on, as the manifests say. Raises DevClusterError."""
        service = api.get(SERVICES, ADMISSION, CONTROLLER)
        if service is None:
            raise DevClusterError(f"there is no Service {CONTROLLER}/{ADMISSION}")
        self.by_settings.take(rendered, ADMISSION)
        self.address = service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"]
        # The committed command, but for the files of the certificate and the address that it listens on.
        program, *arguments, application = rendered.container(ADMISSION)["command"]
        files = (f"--certfile={self._tls / 'tls.crt'}", f"--keyfile={self._tls / 'tls.key'}")
        bind = f"--bind={self.address[0]}:{self.address[1]}"
        self.process.command = [sys.executable, "-m", program, *arguments, *files, bind, application]

    def restart(self, api: Api, settings: dict[str, Any]) -> None:
        """Restart it at once with other settings, and return when it answers the API server. Raises as `wait_ready`."""
        self.by_settings.restart(settings, lambda: self.wait_ready(api))

    def metrics(self) -> str:
        """Return its metrics, asked for on a connection of its own. Raises urllib3's HTTPError."""
        with urllib3.HTTPSConnectionPool(
            *self.address, ca_certs=str(self._authority_file), server_hostname=HOST, assert_hostname=HOST
        ) as pool:
            return pool.request("GET", "/metrics", retries=False, timeout=5).data.decode()

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
