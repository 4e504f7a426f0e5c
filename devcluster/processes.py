"""Processes beside this one: each with a log file, all in one temporary folder, all ended together."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from devcluster.api import wait_for
from devcluster.errors import CommandFailed, NotReady, ProcessDied

GUARD = """
trap '' INT TERM HUP
read -r _
for group in "$0"/groups/*; do kill -KILL "-${group##*/}" 2>/dev/null; done
rm -rf "$0" || { sleep 1; rm -rf "$0"; }
"""
"""What ends the processes of this one when it has ended, even if by SIGKILL: `read` ends with the pipe, whose other end
only this process holds. Some of those that are killed may just be writing a file."""

INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""The environment variables that every program is given: where programs and libraries are, and the language."""


class Process:
    """A program that can be started and stopped again and again. Make one with `Processes.add`."""

    def __init__(
        self, name: str, command: Sequence[str], env: Mapping[str, str], cwd: Path, owner: "Processes"
    ) -> None:
        self.name, self.command, self.env = name, list(command), dict(env)
        self.log_path = owner.folder / f"{name}.log"
        self.before_start: Callable[[], None] = lambda: None
        """Called before each start."""
        self._cwd, self._groups = cwd, owner.groups
        self._popen: subprocess.Popen[bytes] | None = None
        self._group: int | None = None

    @property
    def pid(self) -> int:
        """The process id; raises RuntimeError before the first start."""
        if self._popen is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether it has been started and has not ended."""
        if self._popen is None:
            return False
        if self._popen.poll() is not None:
            self._end_group()
            return False
        return True

    def start(self) -> None:
        """Start it unless it runs; the log is continued. Raises ProcessDied when the program can't be executed."""
        if self.running:
            return
        self.before_start()
        with self.log_path.open("ab") as log:
            try:
                self._popen = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=self._cwd,
                    env=self.env,
                    start_new_session=True,  # Ctrl-C must not reach it: we end the processes in the right order
                )
            except OSError as error:
                raise ProcessDied(f"{self.name} can't be started: {error}") from error
        self._group = self._popen.pid
        (self._groups / str(self._group)).touch()

    def stop(self) -> None:
        """End it and its descendants: SIGTERM, and SIGKILL for what is left when it has ended or after ten seconds."""
        if self._popen is None:
            return
        self.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(10)
        self.kill()

    def terminate(self) -> None:
        """Ask it to end, without waiting for it."""
        if self._popen is not None:
            self._popen.terminate()

    def kill(self) -> None:
        """End it and its descendants at once, as a crash would."""
        self._end_group()
        if self._popen is not None:
            self._popen.wait()

    def _end_group(self) -> None:
        """Kill what is left of its process group. Only once, because the id can be given to another group later."""
        if self._group is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError for one that has ended
            os.killpg(self._group, signal.SIGKILL)
        (self._groups / str(self._group)).unlink(missing_ok=True)
        self._group = None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Keep the process and its descendants from running while in the context, as a machine under load would.

        Raises ProcessLookupError when it has ended.
        """
        os.killpg(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.pid, signal.SIGCONT)

    def wait_ready(self, check: Callable[[], object]) -> None:
        """Return once `check` returns something true.

        Raises ProcessDied as soon as the process has ended, and NotReady after a minute, both with the log's end.
        """

        def ready() -> bool:
            if check():
                return True
            self.check_alive()
            return False

        try:
            wait_for(ready, 60)
        except NotReady as error:
            raise NotReady(f"{self.name} was not ready within 60 s. The end of its log:\n{self.log_tail()}") from error

    def check_alive(self) -> None:
        """Raise ProcessDied, with the log's last lines, unless it runs."""
        if not self.running:
            status = "has not been started" if self._popen is None else f"ended with status {self._popen.returncode}"
            raise ProcessDied(f"{self.name} {status}. The end of its log:\n{self.log_tail()}")

    def log_tail(self, lines: int = 15) -> str:
        """Return the last lines of the log, each indented and cut to a readable length."""
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return "\n".join(f"  {line[:300]}" for line in text.splitlines()[-lines:]) or "  (the log is empty)"


class Processes:
    """A temporary folder and the processes whose files are in it. Leaving the context ends and removes them.

    A subclass says in `start` with which it begins; where one of these doesn't start, the others end.
    It holds the ports on which they listen until then.
    """

    def __init__(self) -> None:
        # Resolved, for macOS: a path relative to /tmp, which is a link there, would lead elsewhere.
        self.folder = Path(tempfile.mkdtemp(prefix="ingress-manager-")).resolve()
        self._all: list[Process] = []
        self._held: list[socket.socket] = []
        self.groups = self.folder / "groups"
        """Has a file for each process group that runs, by its id."""

        self.groups.mkdir()
        reading, self._pipe = os.pipe()  # not inheritable: no process started later holds it open
        command = ["sh", "-c", GUARD, str(self.folder)]
        self._guard = subprocess.Popen(command, stdin=reading, start_new_session=True, cwd="/")
        os.close(reading)

    def add(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Process:
        """Return a process to be started, which logs to NAME.log in the folder and works there unless `cwd` is given.

        Of this process's environment it sees only what every program needs, and `env`.
        """
        process = Process(name, command, self.environment(env), cwd or self.folder, self)
        self._all.append(process)
        return process

    def port(self) -> int:
        """Return a free port of loopback. A server that sets SO_REUSEPORT can listen on it; no other one is given it.

        A bound socket that doesn't listen holds the port: connecting to it is refused until the server listens. That is
        Linux's behaviour; elsewhere such a socket might be handed the server's connections, so it is closed at once.
        """
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        number: int = held.getsockname()[1]
        if sys.platform == "linux":
            self._held.append(held)
        else:
            held.close()
        return number

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment for a program: nothing of a person's own settings, and the folder as its HOME."""
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return inherited | {"HOME": str(self.folder)} | dict(extra or {})

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self) -> None:
        """Start what it is to begin with: of these, nothing."""

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._all):  # whatever they might still write goes with the folder
            process.kill()
        for held in self._held:
            held.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._pipe)
        self._guard.wait()


def run(*command: str | Path, input: str = "", **options: Any) -> str:  # noqa: A002 - as subprocess.run calls it
    """Return what a command prints; the options are subprocess.run's. Raises CommandFailed with what it said."""
    ended = subprocess.run(command, input=input, capture_output=True, text=True, check=False, **options)
    if ended.returncode:
        raise CommandFailed(f"{' '.join(map(str, command))}\n{(ended.stdout + ended.stderr).strip()}")
    return str(ended.stdout)
