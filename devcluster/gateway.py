"""The gateway: Traefik and the 404 page as the folder gateway/ installs them, but with addresses of this machine.

Traefik runs with the committed configuration, and with the rights of the committed ServiceAccount.
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
"""The user that the API server takes Traefik for."""

LOOPBACK = "127.0.0.1"


def lacking() -> str | None:
    """Return why there can be no gateway on this machine, or None. That Traefik is missing is find_traefik's to say."""
    if platform.system() == "Linux":
        return None
    return "Requests can't be served here: only on Linux is each address of 127.0.0.0/8 the machine's own."


@dataclass(frozen=True)
class Answer:
    """What a request was answered with."""

    status: int
    headers: dict[str, str]
    """By their names in small letters."""
    body: str

    @property
    def is_the_404_page(self) -> bool:
        """Whether it is the 404 page's: Traefik's own 404 has no such header."""
        return self.status == 404 and "content-security-policy" in self.headers


class Gateway:
    """Traefik, and the 404 page. Call `start` when the manifests are applied, then `wait_ready`.

    Both raise ProcessDied, and `wait_ready` NotReady.
    """

    def __init__(self, program: Path, processes: Processes) -> None:
        self._program, self._processes = program, processes
        self.http_port, self.https_port, self._page_port, self._probes_port = (processes.port() for _ in range(4))
        self.internal_port = processes.port()  # where Traefik answers /ping

    def give_address(self, api: Api) -> None:
        """Write the address of the gateway's Service, as a load balancer does. Traefik writes it into each Ingress."""
        status = {"loadBalancer": {"ingress": [{"ip": LOOPBACK}]}}
        api.request("PATCH", f"{path_of(SERVICES, NAME, NAME)}/status", body={"status": status})

    def start(self, plane: ControlPlane, rendered: Rendered) -> None:
        """Start the page and Traefik, with what the manifests mount into their containers, and the same rights."""
        # The committed command, but for the addresses that it listens on.
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
        """Write Traefik's files into a folder: as they are committed, but for addresses and folders."""
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
        """Return when the page answers, and Traefik."""
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
        """Send a request on a connection of its own and return the answer; raises OSError or HTTPException."""
        connection: http.client.HTTPConnection
        if tls:
            context = ssl._create_unverified_context()  # noqa: S323 - Traefik's own certificate is signed by nobody
            connection = http.client.HTTPSConnection(address, self.https_port, timeout=10, context=context)
        else:
            connection = http.client.HTTPConnection(address, self.http_port, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, path, headers={"Host": host} | dict(headers or {}))
            answer = connection.getresponse()
            body = answer.read().decode(errors="replace")
            return Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, body)


def answers(port: int, path: str, *, address: str = LOOPBACK) -> bool:
    """Return whether a GET is answered with 200."""
    with contextlib.closing(http.client.HTTPConnection(address, port, timeout=5)) as connection:
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except OSError:
            return False
