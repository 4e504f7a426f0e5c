"""What a process and all its descendants use, read from /proc (so on Linux only)."""

import os
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Return the processor time, user and system, used so far by `pid` and its descendants.

    Raises ProcessLookupError when `pid` is gone, and NotImplementedError where there is no /proc.
    """
    # utime, stime, and those of the children that have ended and been waited for.
    return sum(sum(map(int, stat[11:15])) for stat in family(pid).values()) / TICKS_PER_SECOND


def pss_bytes(pid: int) -> int:
    """Return the memory of `pid` and its descendants with each shared page counted once, as a container's limit does.

    Raises as cpu_seconds does.
    """
    found = (line for member in family(pid) for line in read(member, "smaps_rollup").splitlines())
    return sum(int(line.split()[1]) * 1024 for line in found if line.startswith("Pss:"))


def family(pid: int) -> dict[int, list[str]]:
    """Return the fields of /proc/PID/stat after the command's name, for `pid` and its descendants."""
    if not Path("/proc/self/stat").exists():
        raise NotImplementedError("the use of processor and memory is read from /proc, which only Linux has")
    stats = {int(path.name): fields for path in Path("/proc").glob("[0-9]*") if (fields := stat(int(path.name)))}
    if pid not in stats:
        raise ProcessLookupError(f"no process {pid}")
    members = {pid: stats[pid]}
    while children := {child: f for child, f in stats.items() if child not in members and int(f[1]) in members}:
        members |= children
    return members


def stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on: the name before them may hold spaces and parentheses."""
    return read(pid, "stat").rpartition(")")[2].split()


def read(pid: int, name: str) -> str:
    """Return a file of /proc/PID, empty when the process has just gone."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
