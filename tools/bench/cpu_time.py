"""CPU time used by the whole machine, from /proc/stat, and by processes, from /proc/PID/stat.

The machine's busy time is what it did not idle: user, nice, system and, which matters for networking, interrupts and
soft interrupts. The kernel forwards packets in soft interrupts, on behalf of whichever process happens to run; so only
the machine's total compares forwarding with relaying. A process's time is what getrusage(2) would say; it includes the
soft interrupts that ran on its back.
"""

from __future__ import annotations

import os
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_BUSY_COLUMNS = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq; not steal: that was another machine's
_UTIME, _STIME = 11, 12  # counted from the state, the first field behind the command's name


def busy_seconds() -> float:
    """Of all CPUs together, since boot."""
    columns = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    return sum(int(columns[i]) for i in _BUSY_COLUMNS) / _TICKS_PER_SECOND


def process_seconds(pid: int) -> float:
    """Of all threads of a process that is still there; 0 when it has gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    fields = text.rpartition(")")[2].split()
    return (int(fields[_UTIME]) + int(fields[_STIME])) / _TICKS_PER_SECOND
