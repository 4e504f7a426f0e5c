"""Requests at a steady rate beside what a test does meanwhile, by devcluster/controlplane/cmd/steadyload."""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from devcluster.build import built
from devcluster.programs import STEADYLOAD

ALL_KINDS = ("kept", "new", "http2")
"""Visitors that keep an HTTP/1.1 connection, that make one for each request, and that keep an HTTP/2 connection."""


class Outcome(msgspec.Struct, frozen=True):
    """A request that failed, or that had to be sent again."""

    at: float
    """Seconds from the start of the load."""
    kind: str
    url: str
    reason: str


class Report(msgspec.Struct, frozen=True):
    """What became of the requests. Times are in milliseconds, and count from when a request was due."""

    sent: dict[str, int]
    """By the kind of visitor."""
    succeeded: int
    failed: list[Outcome]
    sent_again: list[Outcome]
    """These succeeded at last, and are among `succeeded`."""
    median: float
    p99: float
    slowest: float
    latest: float
    """By how much a request was sent too late: the load was not steady."""

    @property
    def total(self) -> int:
        """How many requests were sent."""
        return sum(self.sent.values())

    def __str__(self) -> str:
        sent = ", ".join(f"{count} {kind}" for kind, count in sorted(self.sent.items()))
        return (
            f"{self.succeeded} of {self.total} requests succeeded ({sent}), {len(self.sent_again)} of them when sent "
            f"again; median {self.median:.1f} ms, 99th percentile {self.p99:.1f} ms, slowest {self.slowest:.0f} ms, "
            f"sent too late by at most {self.latest:.0f} ms"
        )


class SteadyLoad:
    """Visitors, from entering the context until `report`. `texts` is what the answers of each host hold."""

    def __init__(
        self,
        texts: Mapping[str, str],
        addresses: Sequence[str],
        *,
        http_port: int,
        https_port: int = 443,
        rate: int = 500,
        kinds: Iterable[str] = ALL_KINDS,
        timeout: str = "10s",
    ) -> None:
        self._command = [
            str(program()),
            f"-rate={rate}",
            f"-kinds={','.join(kinds)}",
            f"-http-port={http_port}",
            f"-https-port={https_port}",
            f"-timeout={timeout}",
            *(f"{host}={text}" for host, text in texts.items()),
        ]
        self._addresses = addresses
        self._process: subprocess.Popen[str]

    def __enter__(self) -> "SteadyLoad":
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.connect_to(self._addresses)
        return self

    def connect_to(self, addresses: Iterable[str]) -> None:
        """Let new connections go to these addresses from now on. Those that are open stay."""
        assert self._process.stdin
        with suppress(BrokenPipeError):  # it has ended: `report` says why
            self._process.stdin.write(" ".join(addresses) + "\n")
            self._process.stdin.flush()

    def report(self) -> Report:
        """Send no more, and return what became of all requests when the last one is answered."""
        printed, complaint = self._process.communicate(timeout=60)
        assert self._process.returncode == 0, complaint
        return msgspec.json.decode(printed, type=Report)

    def __exit__(self, *_: object) -> None:
        with self._process:  # closes the pipes, and waits
            self._process.kill()


def program() -> Path:
    """Return the program. It isn't built here: `make test` has built it."""
    path = built(STEADYLOAD)
    if path is None:
        pytest.skip("NO REQUESTS AT A STEADY RATE: `python -m devcluster build` builds what sends them; it needs Go")
    return path
