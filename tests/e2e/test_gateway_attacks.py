"""Every attack of gateway_attacks.yaml on the gateway: what it is answered with, and what arrives at the Services."""

import contextlib
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
import yaml
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, Event, ResponseReceived, StreamEnded, StreamReset

from devcluster.api import SERVICES
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK
from tests.e2e.exposed import exposed, with_own_hosts
from tests.e2e.recorder import Arrived, Recorder, Unreadable

PAGE, RESET = "page", "reset"
Status = int | str

HOSTS = {"open": "open.example.com", "secret": "open.example.com", "other": "other.example.com"}
ROUTES = {
    "open": [{"host": HOSTS["open"], "path": "/open"}],
    "secret": [{"host": HOSTS["secret"], "path": "/secret"}],
    "other": [{"host": HOSTS["other"], "path": "/"}],
    "internal": [],
}
PSEUDO_HEADERS = {":method": "GET", ":scheme": "https", ":authority": HOSTS["open"], ":path": "/open"}

OF_EACH = {
    "Host",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Port",
    "X-Forwarded-Proto",
    "X-Forwarded-Server",
    "X-Real-Ip",
}
"""The headers that arrive with each request. All but the first are the gateway's own."""

ANSWER_WITH = "Answer-With"
OF_SOME = {ANSWER_WITH, "Accept-Encoding", "Content-Length", "Transfer-Encoding", "User-Agent"}
"""The headers that arrive with some requests, whatever is tried."""


class Attack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One attack; the file's first lines say what the fields are."""

    attack: str
    status: list[Status]
    arrives: list[str] = []
    may_arrive: str = ""
    brings: list[str] = []
    why: str = ""
    head: str = ""
    body: str = ""
    answer: str = ""
    next: bool = False
    http2: str | None = None
    without: str = ""
    data: str = ""
    trailers: str = ""
    server_name: str = HOSTS["open"]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attacks of one kind."""

    about: str
    attacks: list[Attack]


SECTIONS = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("gateway_attacks.yaml").read_text(encoding="utf-8")), list[Section]
)
ATTACKS = {f"attack-{number}": each for number, each in enumerate(each for part in SECTIONS for each in part.attacks)}
"""Each by its mark: the User-Agent of its requests, by which one that arrives late is known."""


@dataclass
class Target:
    """What is attacked."""

    output: str
    http_port: int
    https_port: int
    internal: str
    recorder: Recorder

    def text(self, text: str) -> str:
        """Return a text of the file with the hosts and the address of this target."""
        filled = text.replace("{internal}", self.internal).replace("{80000}", "x" * 80000)
        return with_own_hosts(filled, f"{self.output}.attacks")

    def bytes(self, text: str) -> bytes:
        """Return a text of the file as the bytes to send."""
        return unescaped(self.text(text))


def unescaped(text: str) -> bytes:
    r"""Return the bytes that a text with the escapes \r, \n, \t, \0 and \xNN stands for."""
    plain = re.sub(r"\\([rnt0]|x[0-9a-f]{2})", lambda found: found[0].encode().decode("unicode_escape"), text)
    return plain.encode("latin-1")


@pytest.fixture(scope="module", params=("ingress", "httproute"))
def target(serving: DevCluster, request: pytest.FixtureRequest) -> Iterator[Target]:
    """Yield the Services of the file, exposed in one way."""
    assert serving.gateway is not None
    own = {
        name: [{**route, "host": with_own_hosts(route["host"], f"{request.param}.attacks")} for route in routes]
        for name, routes in ROUTES.items()
    }
    with exposed(serving, request.param, own) as recorder:
        internal = serving.api.get(SERVICES, "internal", request.param)
        assert internal is not None
        gateway = serving.gateway
        yield Target(request.param, gateway.http_port, gateway.https_port, internal["spec"]["clusterIP"], recorder)


def attacks(*, http2: bool) -> pytest.MarkDecorator:
    """Return a decorator that gives a test the mark of each attack in HTTP/2, or of each other one."""
    some = [pytest.param(mark, id=each.attack) for mark, each in ATTACKS.items() if (each.http2 is not None) == http2]
    return pytest.mark.parametrize("mark", some)


@attacks(http2=False)
def test_an_attack_reaches_no_service_that_it_does_not_name(target: Target, mark: str) -> None:
    attack, end = ATTACKS[mark], f"User-Agent: {mark}/http\r\n"
    if attack.answer:
        end += f"{ANSWER_WITH}: {unescaped(attack.answer).hex()}\r\n"
    sent = target.bytes(
        attack.head.replace("\n", "\r\n") + end + ("" if attack.next else "Connection: close\r\n") + "\r\n"
    )
    sent += target.bytes(attack.body)
    if attack.next:
        sent += target.bytes(
            f"GET /open/next HTTP/1.1\r\nHost: {HOSTS['open']}\r\nUser-Agent: {mark}/http\r\nConnection: close\r\n\r\n"
        )
    check(target, mark, "http", send(target.http_port, sent))


@attacks(http2=True)
def test_an_attack_in_http2_reaches_no_service_that_it_does_not_name(target: Target, mark: str) -> None:
    attack = ATTACKS[mark]
    assert attack.http2 is not None
    own = list(headers(target, attack.http2))
    named = {name.decode() for name, _ in own} | set(attack.without.split())
    first = [(name.encode(), target.bytes(value)) for name, value in PSEUDO_HEADERS.items() if name not in named]
    # The Gateway as shipped has no listener for HTTPS, so no HTTPRoute is served there.
    for scheme in ("http", "https") if target.output == "ingress" else ("http",):
        request = [*first, *own, (b"user-agent", f"{mark}/{scheme}".encode())]
        check(target, mark, scheme, [send_http2(target, attack, request, scheme)])


def headers(target: Target, lines: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the names and values of headers, one a line."""
    for line in lines.splitlines():
        name, value = re.fullmatch(r"(:?[^:]*): ?(.*)", line).groups()  # type: ignore[union-attr]
        yield target.bytes(name), target.bytes(value)


def check(target: Target, mark: str, scheme: str, answered: list[Status]) -> None:
    """Compare what an attack has led to with what the file says."""
    arrived = []
    for seen in target.recorder.taken():
        if isinstance(seen, Unreadable):
            raise seen
        [name] = seen.values("User-Agent") or [f"{mark}/{scheme}"]
        of, _, scheme_of = name.partition("/")
        check_headers(target, ATTACKS[of], seen, scheme_of)
        if not may_arrive(target, ATTACKS[of], seen):
            assert of == mark, f"{of} arrived late"
            arrived.append(shown(seen))
    said = [target.text(each) for each in ATTACKS[mark].arrives]
    assert {"status": answered, "arrives": arrived} == {"status": ATTACKS[mark].status, "arrives": said}


def may_arrive(target: Target, attack: Attack, seen: Arrived) -> bool:
    """Return whether it is what may arrive and need not."""
    is_named = f"{seen.service} {seen.method} {seen.target}" == attack.may_arrive
    return is_named and seen.body in target.bytes(attack.body or attack.data)


def check_headers(target: Target, attack: Attack, arrived: Arrived, scheme: str) -> None:
    """Check that the headers are the gateway's own, and say what is so."""
    # The request that follows an attack brings nothing.
    brought = set() if arrived.target == "/open/next" else set(attack.brings)
    assert {name for name, _ in arrived.headers} - OF_SOME == OF_EACH | brought
    assert arrived.trailers == ()
    [host] = arrived.values("Host")
    assert host.partition(":")[0] == target.text(HOSTS[arrived.service])
    assert {name: arrived.values(name) for name in ("X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Proto")} == {
        "X-Forwarded-For": [LOOPBACK],
        "X-Real-Ip": [LOOPBACK],
        "X-Forwarded-Proto": [scheme if "Upgrade" not in brought else "ws"],
    }
    assert arrived.values("X-Forwarded-Host") == [host]
    assert arrived.values("X-Forwarded-Port") == [host.partition(":")[2] or {"http": "80", "https": "443"}[scheme]]
    assert arrived.values("X-Forwarded-Server") == [socket.gethostname()]


def shown(arrived: Arrived) -> str:
    """Return what has arrived, as the file says it."""
    body = arrived.body.decode("latin-1").replace("\r", "\\r").replace("\n", "\\n")
    behind = f": {body}" if body else ""
    return f"{arrived.service} {arrived.method} {arrived.target}{behind}{'' if arrived.whole else ', cut off'}"


def send(port: int, sent: bytes) -> list[Status]:
    """Send bytes on a connection of their own, and return what each request was answered with."""
    received = b""
    with contextlib.closing(socket.create_connection((LOOPBACK, port), timeout=10)) as connection:
        connection.sendall(sent)
        # The gateway resets a connection that it closes before it has read everything.
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                received += chunk
    answers = re.split(rb"(?=HTTP/1\.[01] [0-9]{3} )", received)[1:]
    return [PAGE if b"\r\nContent-Security-Policy:" in answer else int(answer[9:12]) for answer in answers]


def send_http2(target: Target, attack: Attack, request: list[tuple[bytes, bytes]], scheme: str) -> Status:
    """Send a request in HTTP/2 as it is, also one that isn't allowed, and return what it is answered with."""
    trailers = list(headers(target, attack.trailers))
    config = H2Configuration(validate_outbound_headers=False, normalize_outbound_headers=False)
    connection = H2Connection(config)
    connection.initiate_connection()
    connection.send_headers(1, request, end_stream=not attack.data)
    if attack.data:
        connection.send_data(1, target.bytes(attack.data), end_stream=not trailers)
    if trailers:
        connection.send_headers(1, trailers, end_stream=True)
    with contextlib.closing(connect(target, attack, scheme)) as stream:
        stream.sendall(connection.data_to_send())
        events: list[Event] = []
        while not any(isinstance(each, StreamEnded | StreamReset | ConnectionTerminated) for each in events):
            received = stream.recv(65536)
            assert received, events
            events += connection.receive_data(received)
    for event in events:
        if isinstance(event, ResponseReceived):
            answer = dict(event.headers)
            return PAGE if b"content-security-policy" in answer else int(answer[b":status"])
    return RESET


def connect(target: Target, attack: Attack, scheme: str) -> socket.socket:
    """Return a connection on which HTTP/2 is spoken from the first byte."""
    if scheme == "http":
        return socket.create_connection((LOOPBACK, target.http_port), timeout=10)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    raw = socket.create_connection((LOOPBACK, target.https_port), timeout=10)
    return context.wrap_socket(raw, server_hostname=target.text(attack.server_name))
