"""The data that arrives at the destination around a fault."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from failover_lab import RELAYS, FailoverLab

# Distinguishes data from set-ups and the nodes' own messages: this many bytes within this time, a tenth of a cable's
# rate.
BURST_BYTES, BURST_S = 64 << 10, 0.010
SAMPLE_S = 0.001

Arrived = list[tuple[float, int]]  # time, and bytes that have arrived since the first sample


@dataclass
class Failover:
    """One fault. Times are in seconds from the fault."""

    took_s: float | None  # until the first data over the other path; None: stuck
    arrived: Arrived


class Burst:
    """Recognises data in a counter that other messages advance, too."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int]] = deque()

    def has_begun(self, now: float, count: int) -> bool:
        self._recent.append((now, count))
        while self._recent[0][0] < now - BURST_S:
            # Keeps the sample before this process's last pause, so that the bytes that arrived in the pause count, too.
            if len(self._recent) == 2:
                break
            self._recent.popleft()
        return count - self._recent[0][1] >= BURST_BYTES


class Samples:
    """The bytes that have arrived at the destination over time, and whether data comes through another relay than the
    given one."""

    def __init__(self, lab: FailoverLab, relay: str) -> None:
        self._lab, self.other = lab, next(name for name in RELAYS if name != relay)
        self._burst = Burst()
        self._totals: Arrived = []
        self.arrives_elsewhere = False

    def take_one(self) -> None:
        counts, now = self._lab.received_bytes(), time.monotonic()
        self._totals.append((now, sum(counts.values())))
        self.arrives_elsewhere = self._burst.has_begun(now, counts[self.other]) or self.arrives_elsewhere

    def take(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.take_one()
            time.sleep(SAMPLE_S)

    @property
    def taken_at(self) -> float:
        """The time of the last sample."""
        return self._totals[-1][0]

    def relative_to(self, instant: float) -> Arrived:
        return [(at - instant, count - self._totals[0][1]) for at, count in self._totals]
