"""Causes faults under load, one after another; measures the time until data arrives over another path, and has the load check
the data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arrivals import SAMPLE_S, Failover, Samples
from bench_error import BenchError
from failover_faults import FaultKind
from failover_lab import DESTINATION, NODES, RELAYS, SOURCE, FailoverLab
from failover_results import AFTER_S, BEFORE_S, KindResult
from lab_processes import LabProcess
from process_lives import ProcessLives

STUCK_S = 20.0  # without data over the other path: counted as stuck
QUIET_S = 1.1  # the kernel reports a lost carrier up to a second late if a link has changed in the second before
_FLOWING_BYTES = 1 << 20
_FLOWING_LIMIT_S = 30.0
_BUSY_S = 0.05
_MOVE_LIMIT_S = 10.0  # for a flow to end the circuit that it has left
_SETTLED_S = 1.0  # from the flow's begin to its first fault
_SET_UP_S, _MARGIN, _LONGEST_RUN_S = 3.0, 1.1, 120.0  # of one run of the load
_MOST_IN_VAIN = 3  # runs of the load in a row without a fault, after which the measurement fails
_END_LIMIT_S = 120.0  # the time that ranks may take to end after their run
_LAST_RANK_S = 5.0
_FIRST_PORT, _PORTS = 29600, 100
_REPORT = "collperf.json"

Say = Callable[[str], None]


class PhaseTimes:
    """The time that each part of a block takes."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.monotonic() - began

    def per(self, count: int) -> str:
        return ", ".join(f"{name} {seconds / max(1, count):.2f}" for name, seconds in self._seconds.items())


class BlockRunner:
    """Repeats one kind of fault, block by block: a block is the faults that fit into one run of collperf. Nodes keep running,
    except for relays that are restarted at the end of a fault."""

    def __init__(self, lab: FailoverLab, kind: FaultKind, lives: ProcessLives, scratch: Path, say: Say) -> None:
        self._lab, self._kind, self._lives, self._scratch, self._say = lab, kind, lives, scratch, say
        self._estimate_s = 2.0  # of one fault, with everything around it
        self._in_vain = 0
        self._first = 0
        self._result = KindResult(kind)
        self._times = PhaseTimes()
        self._runs = 0

    def run(self, first: int, about: int, most: int, limit_s: float) -> KindResult:
        """Runs a block of about `about` faults, at most `most`; fewer in a limited time. `first`: the number of its first
        fault."""
        began = time.monotonic()
        self._first, self._result, self._times = first, KindResult(self._kind), PhaseTimes()
        seconds = min(_LONGEST_RUN_S, limit_s, _SET_UP_S + _MARGIN * about * self._estimate_s)
        self._one_run(most, seconds, _FIRST_PORT + self._runs % _PORTS)
        self._runs += 1
        done = self._result.faults
        self._result.seconds = time.monotonic() - began
        self._note_vain(done)
        self._say(f"{self._kind.name}: {done} more in {self._result.seconds:.1f} s; seconds per fault: {self._times.per(done)}")
        return self._result

    def _note_vain(self, done: int) -> None:
        self._in_vain = 0 if done else self._in_vain + 1
        if not done:
            self._estimate_s *= 2
        if self._in_vain == _MOST_IN_VAIN:
            raise BenchError(f"{self._kind.name}: {self._in_vain} runs of the load had no fault from beginning to end;"
                             f" failures: {self._result.failed_runs}")

    def _one_run(self, most: int, seconds: float, port: int) -> None:
        """Causes as many faults as the load's time allows: the load cannot be ended early."""
        report = self._scratch / _REPORT
        report.unlink(missing_ok=True)
        ranks = self._lab.start_ranks(seconds, report, port)
        until = time.monotonic() + seconds - self._estimate_s
        try:
            with self._times.of("starting"):
                self._busy_relay(ranks)
                time.sleep(_SETTLED_S)
            while self._one_fault(ranks) and self._result.faults < most and time.monotonic() < until:
                pass
            with self._times.of("ending"):
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
        lab, number, began = self._lab, self._first + self._result.faults, time.monotonic()
        with self._times.of("until quiet"):
            lab.wait_for_cables(QUIET_S - BEFORE_S - _BUSY_S)
            relay = self._busy_relay(ranks)
        if relay is None:
            return False
        with self._times.of("until one circuit"):
            self._wait_for_one_circuit(ranks)
        with self._times.of("before"):
            samples = Samples(lab, relay)
            samples.take(BEFORE_S)
        if samples.arrives_elsewhere or samples.other in lab.relays_with_circuits() or lab.quiet_s() < QUIET_S:
            return True  # something has changed by itself: no fault now
        with self._times.of("fault and after"):
            failover = self._watched(samples, relay, number, ranks)
        with self._times.of("undoing"):
            self._kind.undo(lab, relay, number)
        if failover.took_s is None and self._ended_well(ranks):
            return False  # the load's time was over
        self._result.add(failover)
        self._estimate_s = 0.7 * self._estimate_s + 0.3 * (time.monotonic() - began)
        self._look_at_processes(ranks)
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
            time.sleep(_BUSY_S)
            moved = {name: count - before[name] for name, count in self._lab.received_bytes().items()}
            busiest = max(RELAYS, key=lambda name: moved[name])
            if moved[busiest] > _FLOWING_BYTES:
                return busiest
            if time.monotonic() > deadline:
                raise BenchError(f"{self._kind.name}: nothing flows for {_FLOWING_LIMIT_S:.0f} s; the ranks' output: "
                                 + "; ".join(rank.tail() for rank in ranks))
        return None

    def _wait_for_one_circuit(self, ranks: list[LabProcess]) -> None:
        """Waits until the flow has one circuit. While it moves back to its best path it has one on each path, and would hardly
        pause."""
        deadline = time.monotonic() + _MOVE_LIMIT_S
        while len(self._lab.relays_with_circuits()) > 1 and all(rank.running() for rank in ranks):
            if time.monotonic() > deadline:
                raise BenchError(f"{self._kind.name}: the flow still has two circuits after {_MOVE_LIMIT_S:.0f} s")
            time.sleep(0.05)

    def _watched(self, samples: Samples, relay: str, number: int, ranks: list[LabProcess]) -> Failover:
        """Causes the fault on the path through the relay; takes samples until some time after data arrives over another
        path."""
        fault = time.monotonic()
        self._kind.cause(self._lab, relay, number)
        found: float | None = None
        while time.monotonic() < fault + STUCK_S and all(rank.running() for rank in ranks):
            samples.take_one()
            if samples.arrives_elsewhere:
                found = samples.taken_at
                samples.take(AFTER_S)
                break
            time.sleep(SAMPLE_S)
        return Failover(found - fault if found else None, samples.relative_to(fault))

    def _look_at_processes(self, ranks: list[LabProcess]) -> None:
        for node in NODES:
            self._lives.look(f"cablewayd {node}", self._lab.daemons[node].pid)
        for node, rank in zip((SOURCE, DESTINATION), ranks):
            self._lives.look(f"rank {node}", rank.pid)


def _read_report(scratch: Path) -> dict[str, Any]:
    """collperf's report; empty if it has written none."""
    path = scratch / _REPORT
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
