"""What nodes use: processors, memory; and how many bytes of TCP arrive at a node."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from cpu_time import process_seconds
from hostile_lab import DESTINATION, HONEST, HostileLab

_ADDRESSES = re.compile(r"^\S+\s+\d+\s+\d+\s+(\S+)\s+(\S+)", re.MULTILINE)
_RECEIVED = re.compile(r"bytes_received:(\d+)")


def _status_bytes(pid: int, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def forget_peaks(lab: HostileLab) -> dict[str, int]:
    """Peaks begin again. Returns the present memory in bytes, by node."""
    for node in HONEST:
        Path(f"/proc/{lab.daemons[node].pid}/clear_refs").write_text("5", encoding="ascii")
    return {node: _status_bytes(lab.daemons[node].pid, "VmRSS") for node in HONEST}


def peaks(lab: HostileLab) -> dict[str, int]:
    return {node: _status_bytes(lab.daemons[node].pid, "VmHWM") for node in HONEST}


@dataclass(frozen=True)
class _Sample:
    time: float
    received: dict[str, int]  # by connection
    processors: dict[str, float]


@dataclass(frozen=True)
class Window:
    bytes_per_s: float
    cores: dict[str, float]  # by honest node


def _sample(lab: HostileLab) -> _Sample:
    """Counts TCP alone: what attackers make nodes flood does not count as traffic."""
    text = lab.in_node(DESTINATION, "ss", "--tcp", "--info", "--numeric", "--no-header", "--oneline")
    received = {}
    for line in text.splitlines():
        ends, count = _ADDRESSES.match(line), _RECEIVED.search(line)
        if ends is not None and count is not None:
            received[f"{ends[1]} {ends[2]}"] = int(count[1])
    return _Sample(time.monotonic(), received, {node: process_seconds(lab.daemons[node].pid) for node in HONEST})


def measure(lab: HostileLab, seconds: float) -> Window:
    first = _sample(lab)
    time.sleep(seconds)
    last = _sample(lab)
    span = last.time - first.time
    arrived = sum(max(0, count - first.received.get(ends, 0)) for ends, count in last.received.items())
    cores = {node: (last.processors[node] - first.processors[node]) / span for node in HONEST}
    return Window(arrived / span, cores)
