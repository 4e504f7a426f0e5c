"""The estate: hand-written Ingresses of the class nginx, and what they are answered. Its data are estate.yaml."""

from pathlib import Path

import msgspec
import yaml

from devcluster.api import INGRESSES, Object
from ingress_manager.commands.leaving.judge import AtGateway
from ingress_manager.commands.leaving.order import Stated
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.objects import ingresses_in
from tests.e2e.objects import backend, new

NAMESPACE = "estate"
PORT = 8086
KEY = "nginx.ingress.kubernetes.io/"
CLOSED = {"400", "401", "403", "404", "429", "503", "page"}
"""What ingress-nginx keeps somebody out with. Not 413: a size is nobody's."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request, and what it is answered: the file's first lines say what the fields are."""

    ask: str
    nginx: str | int
    gateway: str | int | None = None
    host: str = "{host}"
    method: str = "GET"
    headers: dict[str, str] = {}
    body: int = 0
    """How many bytes are sent."""
    tls: bool = False
    certificate: bool = False
    name: str = ""
    """The server name that TLS tells, if it isn't the host."""
    times: int = 1
    see: list[str] = []
    got: list[str] = []
    opens: bool = False

    @property
    def answer(self) -> str:
        """What the gateway answers."""
        return str(self.nginx if self.gateway is None else self.gateway)

    @property
    def opened(self) -> bool:
        """Whether the gateway's answer is more open than ingress-nginx's."""
        return self.opens or (str(self.nginx).split()[0] in CLOSED and self.answer.startswith("200"))


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"ingress_class": "class"}):
    """An Ingress of the estate, and requests to it."""

    requests: list[Request]
    annotations: dict[str, str] = {}
    paths: dict[str, str] = msgspec.field(default_factory=lambda: {"/": "Prefix"})
    host: str | None = None
    to: str = "shop"
    default: str | None = None
    tls: bool = False
    ingress_class: str | None = "nginx"
    source: str = ""
    unknowable: str = ""
    """Why the Ingress alone doesn't show what is different."""

    @property
    def words(self) -> set[AtGateway]:
        """The words of the table that are right for what was answered."""
        if any(request.opened for request in self.requests):
            return {AtGateway.OPEN}
        if self.requests and all(request.answer in {"page", "503"} for request in self.requests):
            return {AtGateway.REFUSED}
        if any(request.gateway is not None for request in self.requests):
            return {AtGateway.DIFFERS}
        # What is different can be what no visitor sees.
        return {AtGateway.ALIKE, AtGateway.IGNORED, AtGateway.DIFFERS}


ESTATE = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("estate.yaml").read_text(encoding="utf-8")), dict[str, Row]
)


def ingress(title: str, auth: str = "http://auth.example.com") -> Object:
    """Return an Ingress of the estate. No Pod runs here: the Service's own address is asked."""
    name, row = f"e{[*ESTATE].index(title)}", ESTATE[title]
    filled = {
        key: value.replace("{auth}", auth).replace("{namespace}", NAMESPACE) for key, value in row.annotations.items()
    }
    annotations = {key if "/" in key else f"{KEY}{key}": value for key, value in filled.items()}
    annotations[f"{KEY}service-upstream"] = "true"
    host = f"{name}.example.com" if row.host is None else row.host
    paths = [
        {"path": path, "pathType": path_type, "backend": backend(row.to, PORT)} for path, path_type in row.paths.items()
    ]
    spec: Object = {"rules": [{"http": {"paths": paths}} | ({"host": host} if host else {})]}
    spec |= {"ingressClassName": row.ingress_class} if row.ingress_class else {}
    spec |= {"defaultBackend": backend(row.default, PORT)} if row.default else {}
    spec |= {"tls": [{"hosts": [host]} if host else {}]} if row.tls else {}
    return new(INGRESSES, name, NAMESPACE, {"annotations": annotations}, spec=spec)


def stated(ingress: Object) -> Stated:
    """Return an Ingress as the commands take it."""
    [found] = ingresses_in([Item(ingress)])
    return found
