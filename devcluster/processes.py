"""Child processes that share a temporary folder, log to files in it, and end together."""

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
"""A shell script that kills the processes and removes the folder once this process ends, even by SIGKILL: `read` waits
on a pipe that only this process holds open. A killed process may still be writing, so `rm` is tried twice."""

INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""The environment variables that every program inherits: search paths, locale, time zone, and temporary folder."""


class Process:
    """A program that can be started and stopped repeatedly. Create it with `Processes.add`."""

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
        """The process ID. Raises RuntimeError before the first start."""
        if self._popen is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether the process has been started and hasn't ended."""
        if self._popen is None:
            return False
        if self._popen.poll() is not None:
            self._end_group()
            return False
        return True

    def start(self) -> None:
        """Start the program unless it is running, and append its output to the log. Raises ProcessDied on failure."""
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
        """Send SIGTERM, wait up to ten seconds, then kill what is left of the process and its descendants."""
        if self._popen is None:
            return
        self.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(10)
        self.kill()

    def terminate(self) -> None:
        """Send SIGTERM to the process without waiting for it to end."""
        if self._popen is not None:
            self._popen.terminate()

    def kill(self) -> None:
        """Kill the process and its descendants at once with SIGKILL, as in a crash."""
        self._end_group()
        if self._popen is not None:
            self._popen.wait()

    def _end_group(self) -> None:
        """Kill what is left of the process group, but only once, because its ID may be reused later."""
        if self._group is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError if the group has ended
            os.killpg(self._group, signal.SIGKILL)
        (self._groups / str(self._group)).unlink(missing_ok=True)
        self._group = None

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Suspend the process and its descendants while in the context, to simulate an overloaded machine.

        Raises ProcessLookupError if the process has ended.
        """
        os.killpg(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.pid, signal.SIGCONT)

    def wait_ready(self, check: Callable[[], object]) -> None:
        """Return once `check` returns a true value.

        Raises ProcessDied as soon as the process ends, and NotReady after a minute. The messages contain the log's end.
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
        """Raise ProcessDied, with the log's last lines, if the process isn't running."""
        if not self.running:
            status = "has not been started" if self._popen is None else f"ended with status {self._popen.returncode}"
            raise ProcessDied(f"{self.name} {status}. The end of its log:\n{self.log_tail()}")

    def log_tail(self, lines: int = 15) -> str:
        """Return the last `lines` lines of the log, each indented and cut to 300 characters."""
        text = self.log_path.read_text(errors="replace") if self.log_path.exists() else ""
        return "\n".join(f"  {line[:300]}" for line in text.splitlines()[-lines:]) or "  (the log is empty)"


class Processes:
    """A temporary folder and its processes, as a context manager that kills them and removes the folder on exit.

    Subclasses start their processes in `start`. If `start` raises, all processes are killed. On Linux, ports from
    `port` stay reserved until exit.
    """

    def __init__(self) -> None:
        # Resolved, because /tmp is a link on macOS, which would break relative paths.
        self.folder = Path(tempfile.mkdtemp(prefix="ingress-manager-")).resolve()
        self._all: list[Process] = []
        self._held: list[socket.socket] = []
        self.groups = self.folder / "groups"
        """Contains one empty file per running process group, named after the group's ID."""

        self.groups.mkdir()
        reading, self._pipe = os.pipe()  # not inheritable, so no process started later keeps it open
        command = ["sh", "-c", GUARD, str(self.folder)]
        self._guard = subprocess.Popen(command, stdin=reading, start_new_session=True, cwd="/")
        os.close(reading)

    def add(
        self, name: str, command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Process:
        """Return a new, unstarted process. It logs to NAME.log in the folder and runs there unless `cwd` is given.

        Its environment contains the variables in INHERITED, plus HOME and `env`.
        """
        process = Process(name, command, self.environment(env), cwd or self.folder, self)
        self._all.append(process)
        return process

    def port(self) -> int:
        """Return a free loopback port for a server that sets SO_REUSEPORT.

        On Linux, the port is reserved by a socket that is bound but doesn't listen, so connections are refused until
        the server listens. Elsewhere, such a socket might receive connections, so the port isn't reserved.
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
        """Return a program's environment: the variables in INHERITED, the folder as HOME, and `extra`."""
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
        """Start the initial processes. Subclasses override this; the default starts none."""

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._all):  # at once, because their files are removed anyway
            process.kill()
        for held in self._held:
            held.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._pipe)
        self._guard.wait()


def run(*command: str | Path, input: str = "", **options: Any) -> str:  # noqa: A002 - as subprocess.run calls it
    """Run a command with subprocess.run's `options`, and return its stdout. Raises CommandFailed with all output."""
    ended = subprocess.run(command, input=input, capture_output=True, text=True, check=False, **options)
    if ended.returncode:
        raise CommandFailed(f"{' '.join(map(str, command))}\n{(ended.stdout + ended.stderr).strip()}")
    return str(ended.stdout)
