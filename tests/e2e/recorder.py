"""A backend that is exact about bytes: it answers on its Services' addresses, and records every request that it gets.

What servers may read in two ways is recorded as Unreadable: in such bytes a request can hide in another.
Source: RFC 9112, sections 2 to 7.
"""

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace

from devcluster.api import Object
from devcluster.errors import DevClusterError

REQUEST_LINE = re.compile(rb"([!#-'*+\-.^-z|~0-9A-Z]+) ([!-~\x80-\xff]+) HTTP/1\.1")
HEADER = re.compile(rb"([!#-'*+\-.^-z|~0-9A-Z]+): ([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?|)")
LONGEST_HEAD = 1024 * 1024


class Unreadable(Exception):  # noqa: N818 - named for what was read
    """Bytes that aren't one request to all servers alike; the message says why."""


@dataclass(frozen=True)
class Arrived:
    """A request as a backend got it."""

    service: str
    port: int
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    """As sent: with their names' capitals, and in their order."""
    body: bytes
    whole: bool = True
    """False: the connection ended before the body did."""
    trailers: tuple[tuple[str, str], ...] = ()

    def values(self, name: str) -> list[str]:
        """Return the values of all headers of that name."""
        return [value for header, value in self.headers if header.lower() == name.lower()]


class Recorder:
    """A server on each of the Services' ClusterIPs and ports. Use it as a context manager.

    Every request is answered with 200, a header `Answered-By: SERVICE:PORT`, and the request as JSON; one with the
    header `Answer-With` is answered with the bytes that it has in hexadecimal, whatever they are. A request to
    speak HTTP/2 (RFC 7540, section 3.2) is agreed to, as many servers do; what comes then is recorded as Unreadable.

    Entering raises DevClusterError when it can't listen there.
    """

    def __init__(self, services: Iterable[Object]) -> None:
        self._services = list(services)
        self._seen: list[Arrived | Unreadable] = []
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.Task[None]] = set()

    def taken(self) -> list[Arrived | Unreadable]:
        """Return what has arrived since the last call."""
        taken, self._seen = self._seen, []
        return taken

    def __enter__(self) -> "Recorder":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except OSError as error:
            self.__exit__()
            raise DevClusterError(f"nothing can listen there: {error}") from error
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        for service in self._services:
            name, address = service["metadata"]["name"], service["spec"]["clusterIP"]
            for port in service["spec"]["ports"]:
                self._servers.append(await self._listen_on(name, address, port["port"]))

    async def _listen_on(self, name: str, address: str, port: int) -> asyncio.Server:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._connections.add(task)
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await self._serve(name, port, reader, writer)
            self._connections.discard(task)
            writer.close()

        return await asyncio.start_server(serve, address, port, limit=LONGEST_HEAD)

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, name: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until its end, or until one is unreadable."""
        try:
            while arrived := await read_request(name, port, reader):
                self._seen.append(arrived)
                if not arrived.whole:
                    return
                if "h2c" in arrived.values("Upgrade") and arrived.values("HTTP2-Settings"):
                    writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
                    if tunnelled := await reader.read(LONGEST_HEAD):
                        raise Unreadable(f"{name} was sent, past every route: {tunnelled!r}")
                    return
                [given] = arrived.values("Answer-With") or [""]
                writer.write(bytes.fromhex(given) or answer(arrived))
                await writer.drain()
        except Unreadable as unreadable:
            self._seen.append(unreadable)


def answer(arrived: Arrived) -> bytes:
    """Return the bytes of the answer."""
    got = {"service": arrived.service, "method": arrived.method, "target": arrived.target, "headers": arrived.headers}
    body = json.dumps(got).encode() + b"\n"
    head = (
        f"HTTP/1.1 200 OK\r\nAnswered-By: {arrived.service}:{arrived.port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + (b"" if arrived.method == "HEAD" else body)


async def read_request(service: str, port: int, reader: asyncio.StreamReader) -> Arrived | None:
    """Return the next request of a connection, None at its end; raises Unreadable."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise Unreadable(f"{service} was sent half of a head: {error.partial!r}") from error
        return None
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if not (request_line := REQUEST_LINE.fullmatch(first)):
        raise Unreadable(f"{service} was sent a first line that isn't one: {first!r}")
    method, target = (part.decode("latin-1") for part in request_line.groups())
    headers = tuple(read_header(service, line) for line in lines)
    arrived = Arrived(service, port, method, target, headers, b"")
    lengths, codings = arrived.values("Content-Length"), arrived.values("Transfer-Encoding")
    if len(lengths) + len(codings) > 1:
        raise Unreadable(f"{service} was sent a body of more than one length: {head!r}")
    if codings:
        return await with_chunks(arrived, reader)
    if lengths:
        return await with_length(arrived, lengths[0], reader)
    return arrived


def read_header(service: str, line: bytes) -> tuple[str, str]:
    """Return a header's name and value; raises Unreadable."""
    if not (header := HEADER.fullmatch(line)):
        raise Unreadable(f"{service} was sent a line that isn't a header: {line!r}")
    name, value = (part.decode("latin-1") for part in header.groups())
    return name, value


async def with_length(arrived: Arrived, length: str, reader: asyncio.StreamReader) -> Arrived:
    """Return the request with its body of that length; raises Unreadable."""
    if not re.fullmatch("[0-9]+", length):
        raise Unreadable(f"{arrived.service} was sent a length that isn't a number: {length!r}")
    try:
        return replace(arrived, body=await reader.readexactly(int(length)))
    except asyncio.IncompleteReadError as error:
        return replace(arrived, body=error.partial, whole=False)


async def with_chunks(arrived: Arrived, reader: asyncio.StreamReader) -> Arrived:
    """Return the request with its body, which is sent in chunks; raises Unreadable, also for extensions."""
    if arrived.values("Transfer-Encoding") != ["chunked"]:
        raise Unreadable(f"{arrived.service} was sent an encoding that few know: {arrived.headers}")
    body = b""
    try:
        while True:
            line = await reader.readuntil(b"\r\n")
            if not re.fullmatch(rb"[0-9a-f]+\r\n", line):
                raise Unreadable(f"{arrived.service} was sent the size of a chunk that isn't one: {line!r}")
            if not (size := int(line, 16)):
                break
            body += await reader.readexactly(size)
            if (end := await reader.readexactly(2)) != b"\r\n":
                raise Unreadable(f"{arrived.service} was sent a chunk of another size: {line!r} {body!r} {end!r}")
        trailers = []
        while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
            trailers.append(read_header(arrived.service, line.removesuffix(b"\r\n")))
    except asyncio.IncompleteReadError:
        return replace(arrived, body=body, whole=False)
    return replace(arrived, body=body, trailers=tuple(trailers))
