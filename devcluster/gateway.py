"""The gateway: Traefik and the 404 page as the folder gateway/ installs them, but on loopback addresses.

Traefik runs with the committed configuration and the permissions of the committed ServiceAccount.
"""

import contextlib
import http.client
import platform
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from devcluster.api import SERVICES, Api, path_of
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from devcluster.overlay import Rendered
from devcluster.processes import Processes

NAME = "ingress-manager-gateway"
"""The name of the gateway's namespace, Deployment, Service and ServiceAccount."""

PAGE = "not-found"
"""The name of the 404 page's Deployment and Service."""

USER = f"system:serviceaccount:{NAME}:{NAME}"
"""The user name by which the API server knows Traefik."""

LOOPBACK = "127.0.0.1"


def why_unavailable() -> str | None:
    """Return why this machine can't run a gateway, or None if it can. Whether Traefik is installed isn't checked."""
    if platform.system() == "Linux":
        return None
    return "Requests can't be served on this machine, because only Linux assigns all of 127.0.0.0/8 to loopback."


@dataclass(frozen=True)
class Answer:
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    """Header values by lower-case name."""
    body: str

    @property
    def is_the_404_page(self) -> bool:
        """Whether the 404 page sent the response. Traefik's own 404 has no Content-Security-Policy header."""
        return self.status == 404 and "content-security-policy" in self.headers


class Gateway:
    """Traefik and the 404 page. Call `start` after applying the manifests, then `wait_ready`.

    `start` raises ApiError and ProcessDied; `wait_ready` raises ProcessDied and NotReady.
    """

    def __init__(self, program: Path, processes: Processes) -> None:
        self._program, self._processes = program, processes
        self.http_port, self.https_port, self._page_port, self._probes_port = (processes.port() for _ in range(4))
        self.internal_port = processes.port()  # where Traefik answers /ping

    def give_address(self, api: Api) -> None:
        """Set the load balancer address of the gateway's Service to 127.0.0.1. Traefik copies it to each Ingress."""
        status = {"loadBalancer": {"ingress": [{"ip": LOOPBACK}]}}
        api.request("PATCH", f"{path_of(SERVICES, NAME, NAME)}/status", body={"status": status})

    def start(self, plane: ControlPlane, rendered: Rendered) -> None:
        """Start the 404 page, and Traefik with the configuration and permissions that the manifests give it."""
        # The committed command, apart from the addresses to listen on.
        options = [f"--bind={LOOPBACK}:{port}" for port in (self._page_port, self._probes_port)]
        *command, application = rendered.command(PAGE, *options, "--reuse-port")
        command.append(application.replace("()", f"({self._probes_port})"))
        self.page = self._processes.add(PAGE, command, cwd=REPOSITORY)
        self.page.start()
        kubeconfig = plane.folder / "gateway.kubeconfig"
        plane.write_kubeconfig(kubeconfig, NAME, plane.api.service_account_token(NAME, NAME))
        folder = plane.folder / "traefik"
        self._configure(folder, rendered)
        command = [str(self._program), f"--configFile={folder / 'traefik.yaml'}"]
        self.traefik = self._processes.add(folder.name, command, env={"KUBECONFIG": str(kubeconfig)})
        self.traefik.start()

    def _configure(self, folder: Path, rendered: Rendered) -> None:
        """Write the committed Traefik configuration to a folder, adapted to this machine's addresses and folders."""
        dynamic = folder / "own"
        dynamic.mkdir(parents=True)
        [static_file] = [word for word in rendered.container(NAME)["args"] if word.startswith("--configFile=")]
        mounted = rendered.mounted(NAME)
        static = yaml.safe_load(mounted.pop(static_file.partition("=")[2]))
        ports = {"web": self.http_port, "websecure": self.https_port, "traefik": self.internal_port}
        for name, entry_point in static["entryPoints"].items():
            entry_point |= {"address": f"{LOOPBACK}:{ports[name]}", "reusePort": True}  # see Processes.port
        static["providers"]["file"]["directory"] = str(dynamic)
        (folder / "traefik.yaml").write_text(yaml.safe_dump(static))
        for path, text in mounted.items():
            content = yaml.safe_load(text)
            for balancer in content["http"].get("services", {}).values():
                balancer["loadBalancer"]["servers"] = [{"url": f"http://{LOOPBACK}:{self._page_port}"}]
            (dynamic / Path(path).name).write_text(yaml.safe_dump(content))

    def wait_ready(self) -> None:
        """Return when the 404 page and Traefik are ready and unknown hosts are routed to the page."""
        self.page.wait_ready(lambda: answers(self._probes_port, "/healthz"))
        self.traefik.wait_ready(lambda: answers(self.internal_port, "/ping"))
        self.traefik.wait_ready(lambda: self.ask("nobody.example").is_the_404_page)

    def ask(  # noqa: PLR0913 - options, each by its name
        self,
        host: str,
        path: str = "/",
        *,
        method: str = "GET",
        tls: bool = False,
        headers: Mapping[str, str] | None = None,
        address: str = LOOPBACK,
    ) -> Answer:
        """Send a request for `host` to `address` on a new connection. Raises OSError or HTTPException."""
        connection: http.client.HTTPConnection
        if tls:
            context = ssl._create_unverified_context()  # noqa: S323 - Traefik's default certificate is self-signed
            connection = http.client.HTTPSConnection(address, self.https_port, timeout=10, context=context)
        else:
            connection = http.client.HTTPConnection(address, self.http_port, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, path, headers={"Host": host} | dict(headers or {}))
            answer = connection.getresponse()
            body = answer.read().decode(errors="replace")
            return Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, body)


def answers(port: int, path: str, *, address: str = LOOPBACK) -> bool:
    """Return whether a GET request is answered with 200. If the connection fails, return False."""
    with contextlib.closing(http.client.HTTPConnection(address, port, timeout=5)) as connection:
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except OSError:
            return False
