"""The admission hook as manifests/admission/ installs it, but with an address and files of this machine.

The API server finds it by its Service, whose ClusterIP is an address of loopback. Its certificate is given as a person
would who has no cert-manager: a Secret, and the authority in the ValidatingWebhookConfiguration.
"""

import base64
from pathlib import Path

import trustme

from devcluster.api import SERVICES, Api, ApiError, Resource, path_of
from devcluster.build import REPOSITORY
from devcluster.control_plane import write_private
from devcluster.overlay import ADMISSION, CONTROLLER, Overlay, Rendered
from devcluster.processes import Processes
from ingress_manager.core.settings_parser import FILE_VARIABLE

HOST = f"{ADMISSION}.{CONTROLLER}.svc"
"""The name that the API server asks for."""

SECRETS = Resource("v1", "secrets", "Secret")

PROBE = {"name": "admission-probe", "annotations": {"ingress/http": "yes"}}
MISTAKEN = {"apiVersion": "v1", "kind": "Service", "metadata": PROBE, "spec": {"ports": [{"port": 80}]}}
"""A Service with a mistake."""


class Admission:
    """A process that answers the API server. Call `start` when the manifests are applied, then `wait_ready`.

    Both raise ProcessDied, and `wait_ready` NotReady.
    """

    def __init__(self, processes: Processes, settings_file: Path) -> None:
        self._authority = trustme.CA(organization_name="ingress-manager's development cluster")
        self._port = processes.port()
        self._folder = processes.folder / "admission-tls"
        self._folder.mkdir()
        self.process = processes.add("admission", [], env={FILE_VARIABLE: str(settings_file)}, cwd=REPOSITORY)

    def add_to(self, overlay: Overlay) -> None:
        """Add what is to be installed, but for the Secret."""
        overlay.components.append("manifests/admission")
        # Not everybody may listen on 443, so the Service has another port beside it.
        overlay.patch("Service", ADMISSION, ("add", "/spec/ports/-", {"name": "here", "port": self._port}))
        bundle = base64.b64encode(self._authority.cert_pem.bytes()).decode()
        client = "/webhooks/0/clientConfig"
        found_by = ("add", f"{client}/service/port", self._port), ("add", f"{client}/caBundle", bundle)
        overlay.patch("ValidatingWebhookConfiguration", CONTROLLER, *found_by)

    def start(self, api: Api, rendered: Rendered) -> None:
        """Start it as its Deployment says, but for the files of the certificate and the address that it listens on.

        It makes the certificate, and the Secret that holds it.
        """
        certificate = self._authority.issue_cert(HOST)
        pems = {"tls.crt": certificate.cert_chain_pems[0], "tls.key": certificate.private_key_pem}
        tls = {name: pem.bytes().decode() for name, pem in pems.items()}
        for name, text in tls.items():
            write_private(self._folder / name, text)
        metadata = {"name": f"{ADMISSION}-tls", "namespace": CONTROLLER}
        api.create(SECRETS, {"metadata": metadata, "type": "kubernetes.io/tls", "stringData": tls})
        service = api.get(SERVICES, ADMISSION, CONTROLLER) or {}
        files = (f"--certfile={self._folder / 'tls.crt'}", f"--keyfile={self._folder / 'tls.key'}")
        bind = f"--bind={service['spec']['clusterIP']}:{self._port}"
        self.process.command = rendered.command(ADMISSION, *files, bind)
        self.process.start()

    def wait_ready(self, api: Api) -> None:
        """Return once the API server asks it, and tells what it answers."""
        self.process.wait_ready(lambda: says_something(api))


def says_something(api: Api) -> bool:
    """Return whether somebody who tries to create a Service with a mistake is warned, or denied."""
    try:
        return bool(api.warnings("POST", path_of(SERVICES, "default"), params={"dryRun": "All"}, body=MISTAKEN))
    except ApiError as error:
        if "denied the request" in str(error):
            return True
        raise
