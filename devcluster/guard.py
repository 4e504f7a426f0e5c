"""The guard: a process that ends the processes of its parent when the parent has ended, even if by SIGKILL.

It reads from a pipe whose other end only the parent holds, so it reads the end of the pipe when the parent has ended.
(PR_SET_PDEATHSIG would do the same, but only on Linux, and already when a *thread* of the parent ends.) Then it also
removes the temporary folder. The lines that it reads:

    watch PID       the leader of a process group that must not outlive the parent
    forget PID      that group has ended
    remove FOLDER   a folder to remove after the groups have ended
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path


class Guard:
    """The parent's end of the pipe."""

    def __init__(self) -> None:
        # -I -S: nothing but the standard library is needed, and so it starts in 15 ms. A session of its own: Ctrl-C in
        # the terminal must not reach it.
        command = [sys.executable, "-I", "-S", __file__, str(os.getpid())]
        reading, self._pipe = os.pipe()  # not inheritable: no process started later holds it open
        self._process = subprocess.Popen(command, stdin=reading, start_new_session=True, cwd="/")
        os.close(reading)

    def watch(self, pid: int) -> None:
        """End the process group of `pid` if this process dies before it calls `forget`."""
        self._tell(f"watch {pid}")

    def forget(self, pid: int) -> None:
        """Undo `watch`."""
        self._tell(f"forget {pid}")

    def remove(self, folder: Path) -> None:
        """Remove the folder, too, when this process ends."""
        self._tell(f"remove {folder}")

    def close(self) -> None:
        """Let the guard do what it has been told, and wait until it is done."""
        os.close(self._pipe)
        self._process.wait()

    def _tell(self, line: str) -> None:
        # If somebody has killed the guard, nothing is lost as long as this process ends in an orderly way.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, line.encode() + b"\n")


def main(parent: int) -> None:
    """Wait for the end of `parent`, then end the groups and remove the folders."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched: set[int] = set()
    folders: set[str] = set()
    for line in lines_until_gone(parent):
        verb, _, what = line.partition(" ")
        if verb == "watch":
            watched.add(int(what))
        elif verb == "forget":
            watched.discard(int(what))
        else:
            folders.add(what)
    for group in watched:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: PermissionError for one that has ended
            os.killpg(group, signal.SIGKILL)
    for folder in folders:
        remove(folder)


def lines_until_gone(parent: int) -> Iterator[str]:
    """Yield the lines that come through the pipe until `parent` is gone."""
    pending = b""
    while True:
        if select.select([0], [], [], 1)[0]:
            if not (data := os.read(0, 65536)):
                return
            *lines, pending = (pending + data).split(b"\n")
            yield from (line.decode() for line in lines)
        elif os.getppid() != parent:  # A process that the parent forked holds the pipe open.
            return


def remove(folder: str, timeout: float = 5) -> None:
    """Remove the folder; again, if a process that was being killed had time to write another file."""
    deadline = time.monotonic() + timeout
    while Path(folder).exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.05)


if __name__ == "__main__":
    main(int(sys.argv[1]))
