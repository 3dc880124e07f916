"""The measurements, in a form whose size hardly grows with the number of faults: one time per fault, and sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from arrivals import Arrived, Failover
from failover_faults import KINDS, FaultKind

BEFORE_S, AFTER_S = 0.2, 0.4  # sampled: before the fault, and after the first data over the other path
BIN_S = 0.01
PHASES = ("before", "meanwhile", "after")

Json = dict[str, Any]


def percentile(ordered: list[float], percent: float) -> float:
    """The smallest value that at least `percent` of the values do not exceed; NaN if there are none."""
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def rate_between(arrived: Arrived, begin_s: float, end_s: float) -> float | None:
    """Bytes per second that arrived in the interval without its end, headers included; None without two samples."""
    inside = [sample for sample in arrived if begin_s <= sample[0] < end_s]
    if len(inside) < 2 or inside[-1][0] <= inside[0][0]:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


@dataclass
class Mean:
    total: float = 0.0
    count: int = 0

    def add(self, value: float, count: int = 1) -> None:
        self.total += value
        self.count += count

    @property
    def value(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass
class Rates:
    """Bytes per second around the faults: means over the faults that were sampled at that time."""

    bins: dict[int, Mean] = field(default_factory=dict)  # by the number of the bin, counted in BIN_S from the fault
    phases: dict[str, Mean] = field(default_factory=lambda: {name: Mean() for name in PHASES})

    def add(self, failover: Failover) -> None:
        took = failover.took_s
        if took is None:
            return
        for name, (begin, end) in zip(PHASES, ((-BEFORE_S, 0.0), (0.0, took), (took, took + AFTER_S))):
            if (rate := rate_between(failover.arrived, begin, end)) is not None:
                self.phases[name].add(rate)
        for number, rate in binned(failover.arrived):
            self.bins.setdefault(number, Mean()).add(rate)

    def merge(self, other: Rates) -> None:
        for name, mean in other.phases.items():
            self.phases[name].add(mean.total, mean.count)
        for number, mean in other.bins.items():
            self.bins.setdefault(number, Mean()).add(mean.total, mean.count)

    def to_json(self) -> Json:
        return {"phases": {name: [round(mean.total), mean.count] for name, mean in self.phases.items()},
                "bins": [[number, round(mean.total), mean.count] for number, mean in sorted(self.bins.items())]}

    @staticmethod
    def from_json(found: Json) -> Rates:
        return Rates({int(number): Mean(float(total), int(count)) for number, total, count in found["bins"]},
                     {name: Mean(float(found["phases"][name][0]), int(found["phases"][name][1])) for name in PHASES})


def binned(arrived: Arrived) -> Iterable[tuple[int, float]]:
    """Bytes per second in each bin between the first and the last sample; the rate between two samples is taken as
    constant."""
    if len(arrived) < 2:
        return
    place, before = 0, None
    for number in range(math.ceil(arrived[0][0] / BIN_S), math.floor(arrived[-1][0] / BIN_S) + 1):
        edge = number * BIN_S
        while place < len(arrived) - 2 and arrived[place + 1][0] < edge:
            place += 1
        (left, low), (right, high) = arrived[place], arrived[place + 1]
        count = low + (high - low) * (edge - left) / (right - left)
        if before is not None:
            yield number - 1, (count - before) / BIN_S
        before = count


@dataclass
class KindResult:
    kind: FaultKind
    took_s: list[float] = field(default_factory=list)
    stuck: int = 0
    failed_runs: list[str] = field(default_factory=list)  # the reasons why runs of the load failed
    verified_bytes: int = 0
    wrong_bytes: int = 0
    rates: Rates = field(default_factory=Rates)
    seconds: float = 0.0
    disturbed: int = 0  # faults of blocks before or after which the machine did other work

    @property
    def faults(self) -> int:
        return len(self.took_s) + self.stuck

    @property
    def lost(self) -> int:
        """The number of faults after which the flow did not go on."""
        return max(self.stuck, len(self.failed_runs))

    def times_s(self) -> list[float]:
        return sorted(self.took_s)

    def add(self, failover: Failover) -> None:
        if failover.took_s is None:
            self.stuck += 1
        else:
            self.took_s.append(round(failover.took_s * 1e3, 2) / 1e3)  # as read back from the file of samples
        self.rates.add(failover)

    def merge(self, other: KindResult) -> None:
        self.took_s += other.took_s
        self.stuck += other.stuck
        self.failed_runs += other.failed_runs
        self.verified_bytes += other.verified_bytes
        self.wrong_bytes += other.wrong_bytes
        self.rates.merge(other.rates)
        self.seconds += other.seconds
        self.disturbed += other.disturbed

    def to_json(self) -> Json:
        return {"took_ms": [round(time * 1e3, 2) for time in self.took_s], "stuck": self.stuck,
                "failed_runs": self.failed_runs, "verified_bytes": self.verified_bytes, "wrong_bytes": self.wrong_bytes,
                "rates": self.rates.to_json(), "seconds": round(self.seconds, 1),
                "disturbed": self.disturbed}

    @staticmethod
    def from_json(kind: FaultKind, found: Json) -> KindResult:
        return KindResult(kind, [float(time) / 1e3 for time in found["took_ms"]], int(found["stuck"]),
                          [str(reason) for reason in found["failed_runs"]], int(found["verified_bytes"]),
                          int(found["wrong_bytes"]), Rates.from_json(found["rates"]), float(found["seconds"]),
                          int(found["disturbed"]))


@dataclass(frozen=True)
class Footprint:
    """Memory and descriptors of a process."""

    resident_bytes: int
    descriptors: int


@dataclass(frozen=True)
class Life:
    """A process, from the first to the last fault after which it was examined."""

    faults: int
    first: Footprint
    last: Footprint

    @property
    def more_bytes(self) -> int:
        return self.last.resident_bytes - self.first.resident_bytes

    @property
    def more_descriptors(self) -> int:
        return self.last.descriptors - self.first.descriptors

    def to_json(self) -> list[int]:
        return [self.faults, self.first.resident_bytes, self.first.descriptors, self.last.resident_bytes,
                self.last.descriptors]

    @staticmethod
    def from_json(found: list[int]) -> Life:
        faults, *rest = (int(number) for number in found)
        return Life(faults, Footprint(rest[0], rest[1]), Footprint(rest[2], rest[3]))


@dataclass(frozen=True)
class Lives:
    """The successive processes of one name: the one that saw the most faults, and the ones that grew the most."""

    count: int
    longest: Life
    most_bytes: Life
    most_descriptors: Life

    @staticmethod
    def of(life: Life) -> Lives:
        return Lives(1, life, life, life)

    def with_others(self, other: Lives) -> Lives:
        return Lives(self.count + other.count, max(self.longest, other.longest, key=lambda life: life.faults),
                     max(self.most_bytes, other.most_bytes, key=lambda life: life.more_bytes),
                     max(self.most_descriptors, other.most_descriptors, key=lambda life: life.more_descriptors))

    def to_json(self) -> list[Any]:
        return [self.count, self.longest.to_json(), self.most_bytes.to_json(), self.most_descriptors.to_json()]

    @staticmethod
    def from_json(found: list[Any]) -> Lives:
        return Lives(int(found[0]), *(Life.from_json(each) for each in found[1:]))


@dataclass
class Results:
    kinds: dict[str, KindResult] = field(default_factory=dict)
    broken_off: list[str] = field(default_factory=list)  # the reasons why blocks of faults could not be ended

    def of(self, kind: FaultKind) -> KindResult:
        return self.kinds.setdefault(kind.name, KindResult(kind))

    def in_order(self) -> list[KindResult]:
        """The kinds that have any measurements."""
        found = [self.kinds[kind.name] for kind in KINDS if kind.name in self.kinds]
        return [result for result in found if result.faults or result.failed_runs]

    def to_json(self) -> Json:
        return {"kinds": {name: result.to_json() for name, result in self.kinds.items()},
                "broken_off": self.broken_off}

    @staticmethod
    def from_json(found: Json) -> Results:
        kinds = {kind.name: kind for kind in KINDS}
        return Results({name: KindResult.from_json(kinds[name], each) for name, each in found["kinds"].items()},
                       [str(reason) for reason in found["broken_off"]])
