"""The webhook in production form: gunicorn with the committed configuration, over real sockets and TLS."""

import contextlib
import select
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import trustme

from devcluster.api import wait_for
from hooks import admission_conf
from tests.hooks.test_admission import WRONG, review
from tests.hooks.test_server import Server, serving

REVIEW = review(WRONG)
HEAD = f"POST /admit HTTP/1.1\r\nHost: hook\r\nContent-Length: {len(REVIEW)}\r\n".encode()
AUTHORITY = trustme.CA()


def connect(server: Server) -> ssl.SSLSocket:
    trust = ssl.create_default_context()
    AUTHORITY.configure_trust(trust)
    return trust.wrap_socket(server.connect(), server_hostname="127.0.0.1")


def served(server: Server) -> bytes | None:
    with connect(server) as connection:
        return connection.getpeercert(binary_form=True)


def is_ready(server: Server) -> bool:
    with contextlib.suppress(OSError):
        return bool(served(server))
    return False


def store(folder: Path, certificate: trustme.LeafCert, key: trustme.LeafCert) -> bytes:
    """Replace the files of the certificate and key, which may not match; return the certificate as DER."""
    certificate.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    key.private_key_pem.write_to_path(folder / "tls.key")
    return ssl.PEM_cert_to_DER_cert(certificate.cert_chain_pems[0].bytes().decode())


@pytest.fixture
def webhook(tmp_path: Path) -> Iterator[Server]:
    first = AUTHORITY.issue_cert("127.0.0.1")
    store(tmp_path, first, first)
    files = f"--certfile={tmp_path / 'tls.crt'}", f"--keyfile={tmp_path / 'tls.key'}"
    options = ("--config=python:hooks.admission_conf", "hooks.app:create_webhook()")
    with serving(*files, *options, is_ready=is_ready) as running:
        yield running


def test_a_new_certificate_is_served_from_the_next_handshake(webhook: Server, tmp_path: Path) -> None:
    """An open connection keeps working. A handshake fails while certificate and key don't match."""
    with connect(webhook) as kept:
        second, third = (AUTHORITY.issue_cert("127.0.0.1") for _ in range(2))
        stored = store(tmp_path, second, second)
        assert served(webhook) == stored
        store(tmp_path, third, second)
        assert not is_ready(webhook), "until both are replaced, which is no moment"
        assert store(tmp_path, third, third) == served(webhook)
        kept.sendall(HEAD + b"\r\n" + REVIEW)
        assert kept.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.thorough
def test_clients_that_never_end_their_handshake_hold_up_nobody_and_are_cut_off(webhook: Server) -> None:
    with contextlib.ExitStack() as exits:
        hanging = [exits.enter_context(webhook.connect()) for _ in range(200)]
        for connection in hanging[::2]:
            connection.sendall(b"\x16\x03\x01\x02\x00\x01")  # how a ClientHello begins
        assert served(webhook)
        assert select.select(hanging[-1:], [], [], 0) == ([], [], []), "the last one still hangs"
        for connection in hanging:
            connection.settimeout(admission_conf.HANDSHAKE_SECONDS + 20)
            assert connection.recv(1) == b""


def try_to_connect(webhook: Server) -> None:
    with contextlib.suppress(ConnectionResetError):  # the listener closes while the connection waits to be accepted
        webhook.connect().close()


def test_a_request_under_way_is_answered_before_it_stops(webhook: Server) -> None:
    with connect(webhook) as connection:
        connection.sendall(HEAD + b"Expect: 100-continue\r\n\r\n" + REVIEW[:10])
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n", "the worker reads the body"
        webhook.process.terminate()
        with pytest.raises(ConnectionRefusedError):  # it stops
            wait_for(lambda: try_to_connect(webhook), 20)
        connection.sendall(REVIEW[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
    webhook.check_ended()


# The worker's part in this, without a server.


def test_each_handshake_gets_the_current_certificate() -> None:
    contexts = [ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for _ in range(3)]
    serving, connection = admission_conf.ssl_context(None, iter(contexts).__next__), MagicMock()
    assert serving.sni_callback
    for context in contexts[1:]:
        serving.sni_callback(connection, "hook", serving)
        assert connection.context is context


def test_a_step_of_a_handshake_has_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limit, ignore = MagicMock(), MagicMock()
    monkeypatch.setattr("socket.setdefaulttimeout", limit)
    monkeypatch.setattr("signal.signal", ignore)
    monkeypatch.setattr("gevent.get_hub", lambda: SimpleNamespace(NOT_ERROR=()))
    admission_conf.post_worker_init(MagicMock())
    limit.assert_called_once_with(admission_conf.HANDSHAKE_SECONDS)
    ignore.assert_called_once_with(signal.SIGINT, signal.SIG_IGN)
