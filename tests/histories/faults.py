"""What breaks: parts that are killed, that stand still or are slow."""

import contextlib
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

WEIGHTS = {"hook": 3, "engine": 3, "controller manager": 2, "API server": 1, "etcd": 1}


@dataclass(frozen=True)
class Fault:
    """Something that breaks while one step is played."""

    kind: str
    """kill, pause or slow."""
    part: str
    seconds: float = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.part}" + (f" for {self.seconds:.1f} s" if self.seconds else "")


def made_up_fault(random: Random) -> Fault:
    """Return a fault at random."""
    kind = random.choice(["kill", "kill", "pause", "slow"])
    part = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
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
