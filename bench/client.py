"""A client that takes little CPU itself: raw sockets that send the same bytes again and again."""

import selectors
import socket
import time
from collections.abc import Sequence

TIMEOUT = 5.0
"""Seconds after which an answer is given up, as Metacontroller does."""


def post(path: str, body: bytes) -> bytes:
    """Return the bytes of an HTTP/1.1 request that keeps the connection open."""
    head = (f"POST {path} HTTP/1.1", "Host: hook", "Content-Type: application/json", f"Content-Length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode() + body


def connect(port: int) -> socket.socket:
    """Return a connection to a port of loopback, whose operations raise TimeoutError after TIMEOUT seconds."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection: socket.socket, request: bytes) -> bytes:
    """Return the whole answer, head and body. Raises TimeoutError, ConnectionError, and ValueError unless it is 200."""
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += receive(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise ValueError(f"the hook answered {head.decode()}")
    [length] = (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < length:
        body += receive(connection)
    return head + b"\r\n\r\n" + body


def keep_busy(connections: Sequence[socket.socket], request: bytes, count: int) -> float:
    """Send `count` requests over the connections, one at a time on each; return the seconds until all are answered.

    Raises as `ask` does.
    """
    # Only the date differs from one answer to the next, so the length shows where an answer ends.
    length = len(ask(connections[0], request))
    with selectors.DefaultSelector() as selector:
        started = time.perf_counter()
        left = count
        for connection in connections[:count]:
            selector.register(connection, selectors.EVENT_READ, connection)
            connection.sendall(request)
            left -= 1
        while selector.get_map():
            ready = selector.select(TIMEOUT)
            if not ready:
                raise TimeoutError(f"no answer within {TIMEOUT:g} s")
            for key, _ in ready:
                connection = key.data
                answer = receive(connection)
                while len(answer) < length:
                    answer += receive(connection)
                if not answer.startswith(b"HTTP/1.1 200 "):
                    raise ValueError(f"the hook answered {answer.decode()}")
                if left:
                    connection.sendall(request)
                    left -= 1
                else:
                    selector.unregister(connection)
        return time.perf_counter() - started


def receive(connection: socket.socket) -> bytes:
    """Return the next bytes. Raises ConnectionError when the server has closed."""
    if received := connection.recv(65536):
        return received
    raise ConnectionError("the hook closed the connection")
