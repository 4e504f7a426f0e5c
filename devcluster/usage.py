"""What a process and all its descendants use."""

import contextlib
from collections.abc import Callable

from psutil import NoSuchProcess, Process


def cpu_seconds(pid: int) -> float:
    """Return the processor time, user and system, used so far by `pid` and its descendants.

    Raises psutil.NoSuchProcess when `pid` is gone.
    """
    # user, system, and those two of the children that have ended and been waited for.
    return total(pid, lambda process: sum(process.cpu_times()[:4]))


def pss_bytes(pid: int) -> int:
    """Return the memory of `pid` and its descendants with each shared page counted once, as a container's limit does.

    Linux only. Raises psutil.NoSuchProcess when `pid` is gone.
    """
    return int(total(pid, lambda process: process.memory_full_info().pss))


def total(pid: int, measure: Callable[[Process], float]) -> float:
    """Return the sum over `pid` and its descendants; one of these that has just gone counts nothing."""
    process = Process(pid)
    found = measure(process)
    for child in process.children(recursive=True):
        with contextlib.suppress(NoSuchProcess):
            found += measure(child)
    return found
