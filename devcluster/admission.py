"""Runs the admission hook as manifests/admission/ installs it, but on a loopback address.

The API server connects to the hook's Service, whose ClusterIP is a loopback address. As on a cluster without
cert-manager, a Secret holds the certificate, and the ValidatingWebhookConfiguration holds the CA's certificate.
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
"""The server name that the API server verifies in the hook's certificate."""

SECRETS = Resource("v1", "secrets", "Secret")

PROBE = {"name": "admission-probe", "annotations": {"ingress/http": "yes"}}
MISTAKEN = {"apiVersion": "v1", "kind": "Service", "metadata": PROBE, "spec": {"ports": [{"port": 80}]}}
"""A Service with an invalid annotation, which the hook warns about or denies."""


class Admission:
    """The admission hook as a process on this machine. Call `start` after applying the manifests, then `wait_ready`.

    `start` raises ApiError and ProcessDied; `wait_ready` raises ApiError, ProcessDied and NotReady.
    """

    def __init__(self, processes: Processes, settings_file: Path) -> None:
        self._authority = trustme.CA(organization_name="ingress-manager's development cluster")
        self._port = processes.port()
        self._folder = processes.folder / "admission-tls"
        self._folder.mkdir()
        self.process = processes.add("admission", [], env={FILE_VARIABLE: str(settings_file)}, cwd=REPOSITORY)

    def add_to(self, overlay: Overlay) -> None:
        """Add the hook's manifests, port and CA to the overlay. `start` creates the Secret with the certificate."""
        overlay.components.append("manifests/admission")
        # Listening on 443 needs privileges, so the Service has another port, too.
        overlay.patch("Service", ADMISSION, ("add", "/spec/ports/-", {"name": "here", "port": self._port}))
        bundle = base64.b64encode(self._authority.cert_pem.bytes()).decode()
        client = "/webhooks/0/clientConfig"
        found_by = ("add", f"{client}/service/port", self._port), ("add", f"{client}/caBundle", bundle)
        overlay.patch("ValidatingWebhookConfiguration", CONTROLLER, *found_by)

    def start(self, api: Api, rendered: Rendered) -> None:
        """Issue the certificate, store it in files and in the Secret, and start the hook.

        The Deployment's command is run with added options for the certificate files and the address to listen on.
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
        """Return once a dry-run create of an invalid Service results in the hook's warning or denial."""
        self.process.wait_ready(lambda: warns_or_denies(api))


def warns_or_denies(api: Api) -> bool:
    """Return whether a dry-run create of an invalid Service results in a warning or the hook's denial."""
    try:
        return bool(api.warnings("POST", path_of(SERVICES, "default"), params={"dryRun": "All"}, body=MISTAKEN))
    except ApiError as error:
        if "denied the request" in str(error):
            return True
        raise
