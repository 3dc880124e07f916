"""CPU time used by the whole machine, from /proc/stat, and by processes, from /proc/PID/stat.

The machine's busy time is its non-idle time: user, nice, system and, important for networking, interrupts and soft
interrupts. The kernel forwards packets in soft interrupts, in the context of any running process; so only the machine's
total compares forwarding with relaying. A process's time is that of getrusage(2); it includes the soft interrupts that
ran in its context.
"""

from __future__ import annotations

import os
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_BUSY_COLUMNS = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq; not steal: that is another machine's
_UTIME, _STIME = 11, 12  # counted from the state, the first field after the command's name


def busy_seconds() -> float:
    """The busy time of all CPUs together, since boot."""
    columns = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    return sum(int(columns[i]) for i in _BUSY_COLUMNS) / _TICKS_PER_SECOND


def process_seconds(pid: int) -> float:
    """The CPU time of all threads of a process; 0 if the process has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    fields = text.rpartition(")")[2].split()
    return (int(fields[_UTIME]) + int(fields[_STIME])) / _TICKS_PER_SECOND
