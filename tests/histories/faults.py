"""What breaks: parts that are killed, that stand still or are slow, and a hook that answers wrongly."""

import contextlib
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from devcluster.api import Object, wait_for
from devcluster.cluster import DevCluster
from devcluster.errors import DevClusterError
from devcluster.processes import Process

STORES = ("API server", "etcd")
"""Nothing can be written while one of these is down. So they are started again at once."""

ANSWERS: dict[str, bytes] = {
    "500": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops",
    "no JSON": b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
    "an unknown field": b'HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\n{"attachments": [], "other": []}',
    "half an answer": b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"attachments": [',
    "a reset": b"",
    "nothing": b"",
}
"""What a hook may answer that is broken. With `nothing` it never does: Metacontroller gives up after five seconds."""

WEIGHTS = {"hook": 3, "engine": 3, "controller manager": 2, "API server": 1, "etcd": 1}


@dataclass(frozen=True)
class Fault:
    """Something that breaks while one step is played."""

    kind: str
    """kill, pause, slow or answer."""
    part: str
    seconds: float = 0
    answer: str = ""
    """A key of ANSWERS."""

    def __str__(self) -> str:
        if self.kind == "answer":
            return f"the hook answers with {self.answer}"
        return f"{self.kind} {self.part}" + (f" for {self.seconds:.1f} s" if self.seconds else "")


def made_up_fault(random: Random) -> Fault:
    """Return a fault at random."""
    kind = random.choice(["kill", "kill", "pause", "slow", "answer"])
    part = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    if kind == "answer":
        return Fault(kind, "hook", answer=random.choice(list(ANSWERS)))
    return Fault(kind, part, 0 if kind == "kill" else round(random.uniform(0.2, 2), 1))


class Keeper:
    """Starts again what has ended, as a kubelet does. Metacontroller ends when the API server is away for long."""

    def __init__(self, cluster: DevCluster) -> None:
        self._cluster = cluster
        self._lock = threading.RLock()
        self._down: set[str] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> "Keeper":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._ended.wait(0.2):
            for part, process in self._cluster.parts.items():
                with self._lock:
                    if part not in self._down and not process.running:
                        # Its log says why it doesn't start, and it is tried again.
                        with contextlib.suppress(DevClusterError):
                            process.start()

    @contextlib.contextmanager
    def down(self, part: str) -> Iterator[None]:
        """Kill a part, and start it again at the end."""
        with self._lock:
            self._down.add(part)
            self._cluster.parts[part].kill()
        try:
            yield
        finally:
            with self._lock:
                self._down.discard(part)

    def restart(self, part: str) -> None:
        """Kill a part, which is started again at once."""
        with self.down(part):
            pass

    def roll_out(self, settings: Object) -> None:
        """Restart the hook with other settings."""
        with self._lock:
            self._cluster.restart_hook(settings)

    def until_up(self) -> None:
        """Return once every part runs, and the API server and the hook are ready."""
        wait_for(lambda: all(process.running for process in self._cluster.parts.values()), 60, what="all parts")
        self._cluster.control_plane.apiserver.wait_ready(self._cluster.api.ready)
        self._cluster.hook.wait_ready(self._cluster.hook_ready)

    @contextlib.contextmanager
    def breaking(self, fault: Fault | None) -> Iterator[None]:
        """Let a fault last while in the context. Some end before."""
        if fault is None:
            yield
            return
        if fault.kind == "kill" and fault.part in STORES:
            self.restart(fault.part)
            yield
        elif fault.kind == "kill":
            with self.down(fault.part):
                yield
        elif fault.kind == "answer":
            port = int(self._cluster.hook_url.rpartition(":")[2])
            with self.down("hook"), answering(port, fault.answer):
                yield
        else:
            with held_still(self._cluster.parts[fault.part], fault):
                yield
        self.until_up()


@contextlib.contextmanager
def held_still(process: Process, fault: Fault) -> Iterator[None]:
    """Stop a process as long as the fault says, at a stretch or again and again."""

    def act() -> None:
        end = time.monotonic() + fault.seconds
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(ProcessLookupError), process.paused():
                time.sleep(left if fault.kind == "pause" else 0.08)
            if fault.kind == "slow":
                time.sleep(0.04)

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextlib.contextmanager
def answering(port: int, answer: str) -> Iterator[None]:
    """Serve a port of loopback with one of ANSWERS."""
    ended = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(5)
            with contextlib.suppress(OSError):
                self.request.recv(65536)
                self.request.sendall(ANSWERS[answer])
                if answer == "nothing":
                    ended.wait(10)
                elif answer == "a reset":
                    self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = allow_reuse_port = daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_arguments: object) -> None:
            """Say nothing: a client has broken off."""

    with Server(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            server.shutdown()
            thread.join()
