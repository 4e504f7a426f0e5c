"""The webhook as it is served: gunicorn with the committed configuration, over real sockets and TLS."""

import contextlib
import http.client
import select
import signal
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
import trustme

from devcluster.sync_requests import body, sync_request
from hooks.admission_conf import HANDSHAKE_SECONDS
from tests.hooks.test_admission import SENTENCES, WRONG, review
from tests.hooks.test_server import CONTINUE, Server, free_port, started, until_closed, until_ready

GUNICORN = [
    *(sys.executable, "-m", "gunicorn", "--config", "python:hooks.admission_conf"),
    "--graceful-timeout=5",
    "hooks.app:create_webhook()",
]
REVIEW = review(WRONG)
HEAD = f"POST /admit HTTP/1.1\r\nHost: hook\r\nContent-Length: {len(REVIEW)}\r\n\r\n".encode()
EXPECTING = HEAD.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
AUTHORITY = trustme.CA()


@dataclass
class Secret:
    """A Secret as the kubelet mounts it: all its files are replaced at once, by one link."""

    folder: Path

    @property
    def files(self) -> tuple[Path, Path]:
        """The certificate and the key."""
        return self.folder / "data" / "tls.crt", self.folder / "data" / "tls.key"

    def store(self, certificate: trustme.LeafCert, key: trustme.LeafCert | None = None) -> bytes:
        """Put a certificate, perhaps with the key of another one, in the place of what is there; return it as DER."""
        version = self.folder / str(len(list(self.folder.iterdir())))
        version.mkdir()
        certificate.cert_chain_pems[0].write_to_path(version / "tls.crt")
        (key or certificate).private_key_pem.write_to_path(version / "tls.key")
        link = self.folder / "new"
        link.symlink_to(version)
        link.replace(self.folder / "data")
        return ssl.PEM_cert_to_DER_cert(certificate.cert_chain_pems[0].bytes().decode())


@dataclass
class Webhook:
    """One that is served, and how it is reached."""

    server: Server
    secret: Secret
    authority: Path
    """The file of the authority that clients trust."""

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server.port}"

    def session(self) -> requests.Session:
        """Return a client that trusts the authority alone."""
        session = requests.Session()
        session.trust_env = False  # an authority that the environment names would come first
        session.verify = str(self.authority)
        return session

    def trust(self) -> ssl.SSLContext:
        """Return what trusts the authority alone."""
        return ssl.create_default_context(cafile=self.authority)

    def connect(self) -> ssl.SSLSocket:
        """Return a new connection whose handshake is done."""
        return self.trust().wrap_socket(self.server.connect(), server_hostname="127.0.0.1")

    def served(self) -> bytes | None:
        """Return the certificate that a new connection gets, as DER."""
        with self.connect() as connection:
            return connection.getpeercert(binary_form=True)


def new_certificate() -> trustme.LeafCert:
    """Return a certificate of the authority for loopback."""
    return AUTHORITY.issue_cert("127.0.0.1")


@contextlib.contextmanager
def serving(home: Path) -> Iterator[Webhook]:
    """Start the webhook; it is stopped, and must stop, at the end."""
    secret, authority, port = Secret(home / "secret"), home / "authority", free_port()
    secret.folder.mkdir()
    secret.store(new_certificate())
    AUTHORITY.cert_pem.write_to_path(authority)
    certificate, key = secret.files
    options = ["--bind", f"127.0.0.1:{port}", "--certfile", str(certificate), "--keyfile", str(key)]
    with started([*GUNICORN, *options], home, port) as server:
        webhook = Webhook(server, secret, authority)
        with webhook.session() as client:
            until_ready(server, f"{webhook.url}/readyz", client.get)
        yield webhook


@pytest.fixture(scope="module")
def webhook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    """Yield a running webhook that the tests share; none of them may stop it."""
    with serving(tmp_path_factory.mktemp("webhook")) as running:
        yield running


def test_it_answers_the_api_server_and_not_metacontroller(webhook: Webhook) -> None:
    with webhook.session() as client:
        answered = client.post(f"{webhook.url}/admit?timeout=1s", data=REVIEW, timeout=60)
        assert answered.json()["response"]["warnings"] == SENTENCES
        assert client.post(f"{webhook.url}/sync", data=body(sync_request(WRONG)), timeout=60).status_code == 404
        assert client.get(f"{webhook.url}/healthz", timeout=60).text == "ok\n"
        assert 'ingress_manager_admissions_total{answer="warned"}' in client.get(f"{webhook.url}/metrics").text


def test_another_certificate_is_served_from_the_next_handshake_on_and_a_connection_that_is_kept_goes_on(
    webhook: Webhook,
) -> None:
    kept = http.client.HTTPSConnection("127.0.0.1", webhook.server.port, context=webhook.trust(), timeout=60)
    kept.connect()
    opened = kept.sock
    for _ in range(3):
        stored = webhook.secret.store(new_certificate())
        assert webhook.served() == stored
        kept.request("POST", "/admit", REVIEW)
        with kept.getresponse() as response:
            assert (response.status, response.read() != b"") == (200, True)
        assert kept.sock is opened
    kept.close()


def test_the_last_certificate_is_served_while_the_key_is_anothers(webhook: Webhook) -> None:
    served = webhook.served()
    certificate = new_certificate()
    webhook.secret.store(certificate, key=new_certificate())
    assert webhook.served() == served
    stored = webhook.secret.store(certificate)
    assert webhook.served() == stored


@pytest.mark.thorough
def test_clients_that_never_end_their_handshake_hold_up_nobody_and_are_cut_off(webhook: Webhook) -> None:
    with contextlib.ExitStack() as exits:
        hanging = [exits.enter_context(webhook.server.connect()) for _ in range(200)]
        for connection in hanging[::2]:
            connection.sendall(b"\x16\x03\x01\x02\x00\x01")  # how a ClientHello begins
        assert webhook.served()
        assert select.select(hanging[-1:], [], [], 0) == ([], [], []), "the last one still hangs"
        for connection in hanging:
            connection.settimeout(HANDSHAKE_SECONDS + 20)
            assert connection.recv(1) == b""


def test_a_request_under_way_is_answered_before_it_stops(tmp_path: Path) -> None:
    with serving(tmp_path) as own, own.connect() as connection:
        connection.sendall(EXPECTING + REVIEW[:10])
        assert connection.recv(65536) == CONTINUE, "the worker reads the body"
        own.server.process.send_signal(signal.SIGTERM)
        until_closed(own.server)
        connection.sendall(REVIEW[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        assert own.server.process.wait(60) == 0
        assert "bug" not in {line["event"] for line in own.server.log_lines()}
