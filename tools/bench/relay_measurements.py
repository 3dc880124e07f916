"""The measurements of tools/bench.sh relay, in their order.

Compared cases run in turns, round after round in the same lab, so that a drift of the machine affects all equally; the
results are medians over the rounds.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field

from cpu_time import busy_seconds
from pair_run import SHARED, Outcome, PairRunner, Placement, Way, apart, unshape_cables
from spread import Spread

# How endpoints wait for data: they yield the CPU, as NCCL's threads do, or sleep for this many microseconds. Real
# endpoints have dedicated machines; here they share the CPUs with every relay, and polling slows the relays.
YIELD_US = 0
SLEEP_US = 50

_MAX_IDLE_SHARE = 0.1

SHAPED_WAYS = (Way(0), Way(1), Way(2), Way(3))
UNSHAPED_WAYS = (Way(0), Way(1, forwarded=True), Way(1))
LATENCY_WAYS = (Way(0), Way(1, forwarded=True), Way(1), Way(2, forwarded=True), Way(2), Way(3, forwarded=True), Way(3))


@dataclass(frozen=True)
class Plan:
    repeats: int
    throughput_s: float
    latency_s: float
    idle_s: float


@dataclass
class Series:
    """Outcomes by the way and by how endpoints wait."""

    outcomes: dict[tuple[Way, int], list[Outcome]] = field(default_factory=dict)

    def add(self, way: Way, idle_us: int, outcome: Outcome) -> None:
        self.outcomes.setdefault((way, idle_us), []).append(outcome)

    def throughput(self, way: Way, idle_us: int) -> Spread:
        return Spread(tuple(outcome.gigabytes_per_s for outcome in self.outcomes[way, idle_us]))

    def latency(self, way: Way, idle_us: int) -> Spread:
        return Spread(tuple(outcome.p50_us for outcome in self.outcomes[way, idle_us]))

    def machine_cpu(self, way: Way, idle_us: int) -> Spread:
        return Spread(tuple(outcome.cost.machine_per_gigabyte() for outcome in self.outcomes[way, idle_us]))

    def process_cpu(self, way: Way, idle_us: int) -> dict[str, float]:
        """CPU seconds per gigabyte by process, medians."""
        costs = [outcome.cost for outcome in self.outcomes[way, idle_us]]
        return {name: Spread(tuple(cost.process_per_gigabyte(name) for cost in costs)).median
                for name in costs[0].process_cpu_s}


@dataclass(frozen=True)
class Measurements:
    plan: Plan
    shaped: Series
    unshaped: Series
    latency: dict[Placement, Series]
    idle_rate: float  # busy seconds per second of the idle machine

    def machine_was_busy(self) -> bool:
        """Whether other work makes the results meaningless."""
        return self.idle_rate > _MAX_IDLE_SHARE * len(os.sched_getaffinity(0))


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def _wait_text(idle_us: int) -> str:
    return f"sleeping {idle_us} us" if idle_us else "yielding"


def _measure_idle_rate(seconds: float) -> float:
    busy, begin = busy_seconds(), time.monotonic()
    time.sleep(seconds)
    return (busy_seconds() - busy) / (time.monotonic() - begin)


def _measure_shaped(runner: PairRunner, plan: Plan) -> Series:
    series = Series()
    for turn in range(plan.repeats):
        for way in SHAPED_WAYS:
            outcome = runner.throughput(way, plan.throughput_s, SLEEP_US)
            series.add(way, SLEEP_US, outcome)
            say(f"1 Gbit/s, round {turn + 1}/{plan.repeats}, {way.name}: {outcome.gigabytes_per_s:.4f} GB/s")
    return series


def _measure_unshaped(runner: PairRunner, plan: Plan, idle_rate: float) -> Series:
    series = Series()
    for turn in range(plan.repeats):
        for idle_us in (SLEEP_US, YIELD_US):
            for way in UNSHAPED_WAYS:
                outcome = runner.throughput(way, plan.throughput_s, idle_us, idle_rate)
                series.add(way, idle_us, outcome)
                say(f"unshaped, round {turn + 1}/{plan.repeats}, {way.name}, endpoints {_wait_text(idle_us)}: "
                    f"{outcome.gigabytes_per_s:.3f} GB/s, {outcome.cost.machine_per_gigabyte():.3f} CPU s/GB")
    return series


def _measure_latency(runner: PairRunner, plan: Plan) -> dict[Placement, Series]:
    placements = [SHARED, apart()]
    found = {placement: Series() for placement in placements if placement}
    for turn in range(plan.repeats):
        for placement, series in found.items():
            for way in LATENCY_WAYS:
                outcome = runner.latency(way, placement, plan.latency_s, YIELD_US)
                series.add(way, YIELD_US, outcome)
                say(f"8 bytes, round {turn + 1}/{plan.repeats}, {placement.name}, {way.name}: {outcome.p50_us:.1f} us")
    return found


def measure(runner: PairRunner, plan: Plan) -> Measurements:
    """Measures in a lab line:5 at 1 Gbit/s whose kernels forward; removes the rate limit in between."""
    idle_rate = _measure_idle_rate(plan.idle_s)
    say(f"before the measurement, the machine uses {idle_rate:.3f} CPU seconds per second")
    shaped = _measure_shaped(runner, plan)
    unshape_cables()
    unshaped = _measure_unshaped(runner, plan, idle_rate)
    return Measurements(plan, shaped, unshaped, _measure_latency(runner, plan), idle_rate)
