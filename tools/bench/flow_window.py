"""The cost of a flow: bytes and CPU time of a window in its middle, without set-up, warm-up and checks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from bench_error import BenchError
from cpu_time import busy_seconds, process_seconds

_FLOWING_BYTES = 64 << 20  # received bytes after which the flow counts as started
_SETTLE_S = 0.1


def received_bytes(pid: int) -> int:
    """Received bytes of all interfaces but loopback of the process's network namespace; 0 if the process has ended.
    The counters see segmentation-offload packets, so headers are less than 1 %."""
    try:
        lines = Path(f"/proc/{pid}/net/dev").read_text(encoding="ascii").splitlines()[2:]
    except (OSError, ValueError):
        return 0
    counters = (line.partition(":") for line in lines)
    return sum(int(numbers.split()[0]) for name, _, numbers in counters if name.strip() != "lo")


def is_program(pid: int, name: str) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip() == name
    except OSError:
        return False


@dataclass(frozen=True)
class Sample:
    time: float
    received: int
    busy_s: float
    process_s: dict[str, float]


@dataclass(frozen=True)
class WindowCost:
    gigabytes: float
    machine_cpu_s: float  # of the whole machine, minus its idle load
    process_cpu_s: dict[str, float]

    def machine_per_gigabyte(self) -> float:
        return self.machine_cpu_s / self.gigabytes

    def process_per_gigabyte(self, name: str) -> float:
        return self.process_cpu_s[name] / self.gigabytes


class FlowWindow:
    """Polled while the flow runs; opens when bytes flow, and closes `length_s` later."""

    def __init__(self, receiver: int, processes: dict[str, int], length_s: float, idle_rate: float) -> None:
        """`processes`: names and process ids. `idle_rate`: busy seconds per second of the idle machine."""
        self._receiver, self._processes = receiver, processes
        self._length_s, self._idle_rate = length_s, idle_rate
        self._received_before: int | None = None
        self._flows_since: float | None = None
        self._opened: Sample | None = None
        self.cost: WindowCost | None = None

    def poll(self) -> None:
        now = time.monotonic()
        if self._received_before is None:
            if is_program(self._receiver, "collperf"):  # now in its node, whose counters started before this flow
                self._received_before = received_bytes(self._receiver)
        elif self._flows_since is None:
            if received_bytes(self._receiver) >= self._received_before + _FLOWING_BYTES:
                self._flows_since = now
        elif self._opened is None:
            if now >= self._flows_since + _SETTLE_S:
                self._opened = self._sample()
        elif self.cost is None and now >= self._opened.time + self._length_s:
            self.cost = self._since(self._opened)

    def _sample(self) -> Sample:
        process_s = {name: process_seconds(pid) for name, pid in self._processes.items()}
        return Sample(time.monotonic(), received_bytes(self._receiver), busy_seconds(), process_s)

    def _since(self, opened: Sample) -> WindowCost:
        now = self._sample()
        if now.received <= opened.received:
            raise BenchError("no bytes were received while the flow's cost was measured")
        idle_s = (now.time - opened.time) * self._idle_rate
        return WindowCost(gigabytes=(now.received - opened.received) / 1e9,
                          machine_cpu_s=now.busy_s - opened.busy_s - idle_s,
                          process_cpu_s={name: now.process_s[name] - opened.process_s[name] for name in now.process_s})
