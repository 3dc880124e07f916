"""Faults under load, one after another: how long until data arrives another way, and what the load's checks found."""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_error import BenchError
from failover_faults import FaultKind
from failover_lab import DESTINATION, NODES, RELAYS, SOURCE, FailoverLab
from lab_processes import LabProcess

STUCK_S = 20.0  # without data on the other way: counted as stuck
BEFORE_S, AFTER_S = 0.2, 0.5  # of the picture: before the fault, and after the first data on the other way
_QUIET_S = 1.1  # the kernel reports a lost carrier up to a second late if a link has changed in the second before
# Data, told from set-ups and the nodes' own messages: that many bytes within that time, a tenth of what a cable carries.
BURST_BYTES, BURST_S = 64 << 10, 0.010
_FLOWING_BYTES = 1 << 20
SAMPLE_S = 0.001
_FLOWING_LIMIT_S = 30.0
_SET_UP_S, _MARGIN, _LONGEST_RUN_S = 5.0, 1.2, 120.0  # of one run of the load
_MOST_IN_VAIN = 3  # such runs
_SAY_EVERY = 10  # faults
_END_LIMIT_S = 120.0  # for the ranks to end after their time
_LAST_RANK_S = 5.0
_FIRST_PORT = 29600
_REPORT = "collperf.json"

Say = Callable[[str], None]


@dataclass
class Failover:
    """One fault. Times are in seconds from the fault."""

    took_s: float | None  # until the first data on the other way; None: stuck
    arrived: list[tuple[float, int]]  # time, and bytes that have arrived at the destination since the first sample


@dataclass(frozen=True)
class Footprint:
    """Memory and descriptors of a process."""

    resident_bytes: int
    descriptors: int


@dataclass
class KindResult:
    kind: FaultKind
    failovers: list[Failover] = field(default_factory=list)
    failed_runs: list[str] = field(default_factory=list)
    verified_bytes: int = 0
    wrong_bytes: int = 0
    footprints: dict[str, list[Footprint]] = field(default_factory=dict)  # by process: first and last
    seconds: float = 0.0

    @property
    def stuck(self) -> int:
        return sum(failover.took_s is None for failover in self.failovers)

    @property
    def lost(self) -> int:
        """Faults after which the flow did not go on."""
        return max(self.stuck, len(self.failed_runs))

    def times_s(self) -> list[float]:
        return sorted(failover.took_s for failover in self.failovers if failover.took_s is not None)


class Burst:
    """Recognises data in a counter that other messages advance, too."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int]] = deque()

    def has_begun(self, now: float, count: int) -> bool:
        self._recent.append((now, count))
        while self._recent[0][0] < now - BURST_S:
            # The sample before the last pause of this process stays: what arrived in the pause counts, too.
            if len(self._recent) == 2:
                break
            self._recent.popleft()
        return count - self._recent[0][1] >= BURST_BYTES


class Samples:
    """What has arrived at the destination over time, and whether data comes by another relay than the given one."""

    def __init__(self, lab: FailoverLab, relay: str) -> None:
        self._lab, self._other = lab, next(name for name in RELAYS if name != relay)
        self._burst = Burst()
        self._totals: list[tuple[float, int]] = []
        self.arrives_elsewhere = False

    def take_one(self) -> None:
        counts, now = self._lab.received_bytes(), time.monotonic()
        self._totals.append((now, sum(counts.values())))
        self.arrives_elsewhere = self._burst.has_begun(now, counts[self._other]) or self.arrives_elsewhere

    def take(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.take_one()
            time.sleep(SAMPLE_S)

    def relative_to(self, instant: float) -> list[tuple[float, int]]:
        return [(at - instant, count - self._totals[0][1]) for at, count in self._totals]


def percentile(ordered: list[float], percent: float) -> float:
    """The smallest value that at least that share of the values do not exceed; not a number if there are none."""
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class KindRunner:
    """Repeats one kind of fault, `cuts` times, under as many runs of collperf as that takes."""

    def __init__(self, lab: FailoverLab, kind: FaultKind, cuts: int, scratch: Path, say: Say) -> None:
        self._lab, self._kind, self._cuts, self._scratch, self._say = lab, kind, cuts, scratch, say
        self._result = KindResult(kind)
        self._estimate_s = 3.0  # of one fault with everything around it
        self._longest_s = 8.0  # of a fault itself

    def run(self) -> KindResult:
        began = time.monotonic()
        runs = in_vain = 0
        while (before := len(self._result.failovers)) < self._cuts:
            wanted = 1 if self._kind.fresh_nodes else self._cuts - before
            each = self._longest_s if self._kind.fresh_nodes else self._estimate_s
            if self._kind.fresh_nodes and runs > 0:
                self._lab.restart_all()
            self._one_run(wanted, min(_LONGEST_RUN_S, _SET_UP_S + _MARGIN * wanted * each), _FIRST_PORT + runs % 100)
            runs += 1
            done = len(self._result.failovers)
            in_vain = in_vain + 1 if done == before else 0
            if in_vain == _MOST_IN_VAIN:
                raise BenchError(f"{self._kind.name}: {in_vain} runs of the load had no fault from beginning to end;"
                                 f" failures: {self._result.failed_runs[-in_vain:]}")
            if done == self._cuts or not self._kind.fresh_nodes or done % _SAY_EVERY == 0:
                self._say(f"{self._kind.name}: {done} of {self._cuts}")
        self._result.seconds = time.monotonic() - began
        return self._result

    def _one_run(self, wanted: int, seconds: float, port: int) -> None:
        """That many faults, or those for which the load's time suffices."""
        report = self._scratch / _REPORT
        report.unlink(missing_ok=True)
        ranks = self._lab.start_ranks(seconds, report, port)
        until = time.monotonic() + seconds - self._estimate_s
        wanted += len(self._result.failovers)
        try:
            while self._one_fault(ranks) and len(self._result.failovers) < wanted and time.monotonic() < until:
                pass
            self._finish(ranks)
        finally:
            for rank in ranks:
                rank.stop()

    def _finish(self, ranks: list[LabProcess]) -> None:
        deadline = time.monotonic() + _END_LIMIT_S
        while any(rank.running() for rank in ranks) and time.monotonic() < deadline:
            time.sleep(0.05)
        found = _read_report(self._scratch)
        self._result.verified_bytes += found.get("bytes_verified", 0)
        self._result.wrong_bytes += found.get("wrong", 0)
        if not found.get("ok") or not found.get("bytes_verified"):
            reason = found.get("error") or "; ".join(rank.tail()[-300:] for rank in ranks)
            self._result.failed_runs.append(str(reason))
            self._say(f"{self._kind.name}: the load failed: {reason}")

    def _one_fault(self, ranks: list[LabProcess]) -> bool:
        """Returns False if the load ends before the fault does."""
        lab, number, began = self._lab, len(self._result.failovers), time.monotonic()
        lab.wait_for_cables()
        time.sleep(_QUIET_S)
        relay = self._busy_relay(ranks)
        if relay is None:
            return False
        samples = Samples(lab, relay)
        samples.take(BEFORE_S)
        if samples.arrives_elsewhere:
            return True  # the flow has just changed its path by itself: no fault now
        failover = self._watched(samples, relay, number, ranks)
        self._kind.undo(lab, relay, number)
        if failover.took_s is None and self._ended_well(ranks):
            return False  # the load's time was over
        self._result.failovers.append(failover)
        self._longest_s = max([1.0, *(time for time in self._result.times_s())])
        self._estimate_s = 0.7 * self._estimate_s + 0.3 * (time.monotonic() - began)
        self._note_footprints(ranks)
        return True

    def _ended_well(self, ranks: list[LabProcess]) -> bool:
        deadline = time.monotonic() + _LAST_RANK_S  # for the others, once one has ended
        while any(rank.running() for rank in ranks):
            if all(rank.running() for rank in ranks) or time.monotonic() > deadline:
                return False
            time.sleep(SAMPLE_S)
        return bool(_read_report(self._scratch).get("ok"))

    def _busy_relay(self, ranks: list[LabProcess]) -> str | None:
        """The relay from which the data arrives; None if the ranks end first."""
        deadline = time.monotonic() + _FLOWING_LIMIT_S
        while all(rank.running() for rank in ranks):
            before = self._lab.received_bytes()
            time.sleep(0.05)
            moved = {name: count - before[name] for name, count in self._lab.received_bytes().items()}
            busiest = max(RELAYS, key=lambda name: moved[name])
            if moved[busiest] > _FLOWING_BYTES:
                return busiest
            if time.monotonic() > deadline:
                raise BenchError(f"{self._kind.name}: nothing flows for {_FLOWING_LIMIT_S:.0f} s; the ranks' output: "
                                 + "; ".join(rank.tail() for rank in ranks))
        return None

    def _watched(self, samples: Samples, relay: str, number: int, ranks: list[LabProcess]) -> Failover:
        """Causes the fault on the path through the relay; samples until some time after data arrives another way."""
        fault = time.monotonic()
        self._kind.cause(self._lab, relay, number)
        found: float | None = None
        while (now := time.monotonic()) < fault + STUCK_S and all(rank.running() for rank in ranks):
            samples.take_one()
            if samples.arrives_elsewhere:
                found = now
                samples.take(AFTER_S)
                break
            time.sleep(SAMPLE_S)
        return Failover(found - fault if found else None, samples.relative_to(fault))

    def _note_footprints(self, ranks: list[LabProcess]) -> None:
        processes = {f"cablewayd {node}": self._lab.daemons[node] for node in NODES}
        processes |= {f"rank {node}": rank for rank, node in zip(ranks, (SOURCE, DESTINATION))}
        for name, process in processes.items():
            if (now := footprint(process.pid)) is not None:
                known = self._result.footprints.setdefault(name, [])
                self._result.footprints[name] = [*known[:1], now]


def _read_report(scratch: Path) -> dict[str, Any]:
    """collperf's; empty where it has written none."""
    path = scratch / _REPORT
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def footprint(pid: int) -> Footprint | None:
    """None for a process that has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        resident = next((line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")), None)
        return None if resident is None else Footprint(int(resident) * 1024, len(list(Path(f"/proc/{pid}/fd").iterdir())))
    except (FileNotFoundError, ProcessLookupError):
        return None


