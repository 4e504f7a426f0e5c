"""gRPC through the gateway: HTTP/2 from the visitor to the backend, which speaks it without TLS (h2c)."""

import contextlib
import queue
import re
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
import trustme
import yaml

from devcluster.api import HTTPROUTES, Object, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.gateway import LOOPBACK
from tests.e2e import certificates
from tests.e2e.site import TIMEOUT
from tests.e2e.traffic import IN_A_ROW, ON, PATIENCE, Place

[EXAMPLE] = re.findall(
    r"^```yaml\n(.*?)^```$", (REPOSITORY / "docs/gateway-traffic.md").read_text(), re.MULTILINE | re.DOTALL
)
SERVICE = yaml.safe_load(EXAMPLE)
"""The example in the docs: it says by an annotation and by the appProtocol what it speaks."""

PORTS = tuple(SERVICE["spec"]["ports"])

by_ingress = pytest.mark.parametrize("place", ["ingress"], indirect=True)
by_httproute = pytest.mark.parametrize("place", ["httproute"], indirect=True)


class Methods:
    """What the backend does. Messages are bytes."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.given_up = queue.Queue[str]()
        """Calls that the visitor has given up."""

    def handlers(self) -> grpc.GenericRpcHandler:
        """Return them as the methods of a gRPC service named test."""
        methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            "Reverse": grpc.unary_unary_rpc_method_handler(self.reverse),
            "Refuse": grpc.unary_unary_rpc_method_handler(self.refuse),
            "Echo": grpc.stream_stream_rpc_method_handler(self.echo),
            "Wait": grpc.unary_stream_rpc_method_handler(self.wait),
        }
        return grpc.method_handlers_generic_handler("test", methods)

    @staticmethod
    def reverse(request: bytes, context: grpc.ServicerContext) -> bytes:
        """Answer with metadata before and after the message: the latter is a trailer."""
        context.send_initial_metadata((("before", str(len(request))),))
        context.set_trailing_metadata((("after-bin", b"\x00\xff"),))
        return request[::-1]

    @staticmethod
    def refuse(request: bytes, context: grpc.ServicerContext) -> bytes:
        """Answer with a status, which is a trailer too."""
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, request.decode())

    @staticmethod
    def echo(requests: Iterable[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        """Answer each message when it arrives."""
        context.set_trailing_metadata((("after", "all"),))
        yield from requests

    def wait(self, _request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        """Send a message, and then nothing until the visitor gives up."""
        gone = threading.Event()

        def note() -> None:
            gone.set()
            self.given_up.put("Wait")

        context.add_callback(note)
        yield b"first"
        gone.wait()


@contextlib.contextmanager
def listening(place: Place, service: Object) -> Iterator[Methods]:
    """Yield what a gRPC server on a Service's ClusterIP and first port does."""
    spec = service["spec"]
    methods, server = Methods(place.host(service["metadata"]["name"])), grpc.server(ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((methods.handlers(),))
    server.add_insecure_port(f"{spec['clusterIP']}:{spec['ports'][0]['port']}")
    server.start()
    try:
        yield methods
    finally:
        server.stop(grace=None).wait()


@contextlib.contextmanager
def channel(place: Place, host: str, ca: trustme.CA | None = None) -> Iterator[grpc.Channel]:
    """Yield a visitor's own connection; it is by TLS when an authority is given."""
    options = (
        ("grpc.default_authority", host),
        ("grpc.enable_http_proxy", 0),
        # gRPC would give channels with the same target one connection, so only one of the Traefiks would be asked.
        ("grpc.use_local_subchannel_pool", 1),
    )
    if ca is None:
        made = grpc.insecure_channel(f"{LOOPBACK}:{place.gateway.http_port}", options)
    else:
        credentials = grpc.ssl_channel_credentials(ca.cert_pem.bytes())
        made = grpc.secure_channel(f"{LOOPBACK}:{place.gateway.https_port}", credentials, options)
    with made:
        yield made


def code_of(place: Place, host: str, ca: trustme.CA | None = None) -> grpc.StatusCode:
    """Return the status of a call on a connection of its own."""
    with channel(place, host, ca) as visitor:
        reverse: grpc.UnaryUnaryMultiCallable[bytes, bytes] = visitor.unary_unary("/test/Reverse")
        try:
            reverse(b"abc", timeout=TIMEOUT)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


def until_called(place: Place, host: str, ca: trustme.CA | None = None) -> None:
    """Return once both Traefiks let calls through."""

    def check() -> bool:
        return all(code_of(place, host, ca) is grpc.StatusCode.OK for _ in range(IN_A_ROW))

    wait_for(check, PATIENCE, what=f"gRPC at {host}")


@pytest.fixture(scope="module")
def backend(place: Place) -> Iterator[Methods]:
    """Yield the backend of a Service that is as the docs show it."""
    with (
        place.service("grpc", SERVICE["metadata"]["annotations"], PORTS) as service,
        listening(place, service) as methods,
    ):
        until_called(place, methods.host)
        yield methods


@pytest.fixture
def visitor(place: Place, backend: Methods) -> Iterator[grpc.Channel]:
    """Yield a visitor's connection to that Service."""
    with channel(place, backend.host) as made:
        yield made


def test_a_call_is_answered_with_its_metadata_before_and_after(visitor: grpc.Channel) -> None:
    reverse: grpc.UnaryUnaryMultiCallable[bytes, bytes] = visitor.unary_unary("/test/Reverse")
    answer, call = reverse.with_call(b"abc", timeout=TIMEOUT)
    assert answer == b"cba"
    assert ("before", "3") in call.initial_metadata()
    assert ("after-bin", b"\x00\xff") in call.trailing_metadata()


def test_the_status_of_a_refused_call_arrives(visitor: grpc.Channel) -> None:
    refuse: grpc.UnaryUnaryMultiCallable[bytes, bytes] = visitor.unary_unary("/test/Refuse")
    with pytest.raises(grpc.RpcError) as refused:
        refuse("not yet: é".encode(), timeout=TIMEOUT)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert refused.value.details() == "not yet: é"


def test_messages_are_streamed_both_ways_one_by_one(visitor: grpc.Channel) -> None:
    """Each is sent when the one before has come back."""
    back = queue.Queue[bytes]()

    def requests() -> Iterator[bytes]:
        for number in range(5):
            message = b"%d" % number * 1000
            yield message
            assert back.get(timeout=TIMEOUT) == message

    echo: grpc.StreamStreamMultiCallable[bytes, bytes] = visitor.stream_stream("/test/Echo")
    answers = echo(requests(), timeout=TIMEOUT)
    for answer in answers:
        back.put(answer)
    assert ("after", "all") in answers.trailing_metadata()


def test_a_backend_notices_that_a_call_has_been_cancelled(visitor: grpc.Channel, backend: Methods) -> None:
    wait: grpc.UnaryStreamMultiCallable[bytes, bytes] = visitor.unary_stream("/test/Wait")
    answers = wait(b"", timeout=TIMEOUT)
    assert next(answers) == b"first"
    answers.cancel()
    assert backend.given_up.get(timeout=TIMEOUT) == "Wait"


def test_grpc_by_tls(place: Place, backend: Methods) -> None:
    ca, host = trustme.CA(), backend.host
    with certificates.served(place) as certificate:
        certificate.store(ca.issue_cert(host, common_name="for gRPC"))
        place.annotate("grpc", certificate.annotations)
        certificates.until_certificate(place, host, "for gRPC")
        until_called(place, host, ca)
        place.annotate("grpc", dict.fromkeys(certificate.annotations.keys() - ON.keys()))
    until_called(place, host)


@by_httproute
def test_the_app_protocol_is_enough_for_an_httproute(place: Place) -> None:
    with (
        place.service("grpc-by-app-protocol", ports=PORTS) as service,
        listening(place, service) as methods,
    ):
        until_called(place, methods.host)


@by_httproute
def test_an_app_protocol_that_is_not_known_leaves_an_httproute_without_a_backend(place: Place) -> None:
    with place.service("unknown", ports=({"port": 9000, "appProtocol": "grpc"},)) as service, Backend(service):
        place.until("a 500", lambda answer: answer.status == 500, place.host("unknown"))
        conditions = wait_for(lambda: conditions_of(place, "unknown"), what="the HTTPRoute's status")
    assert conditions["ResolvedRefs"] == ("False", "UnsupportedProtocol")


def conditions_of(place: Place, name: str) -> dict[str, tuple[str, str]]:
    route = place.api.get(HTTPROUTES, name, place.namespace) or {}
    [parent] = route.get("status", {}).get("parents") or [{}]
    return {each["type"]: (each["status"], each["reason"]) for each in parent.get("conditions", [])}


@by_ingress
@pytest.mark.parametrize(("name", "app_protocol"), [("ignored-h2c", "kubernetes.io/h2c"), ("ignored-grpc", "grpc")])
def test_traefik_ignores_the_app_protocol_behind_an_ingress(place: Place, name: str, app_protocol: str) -> None:
    """So without the annotation it speaks HTTP/1.1 to the backend."""
    with place.service(name, ports=({"port": 9000, "appProtocol": app_protocol},)) as service, Backend(service):
        assert place.until_served(place.host(name)).status == 200
