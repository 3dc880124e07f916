"""What an attack has cost, compared with the goals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks_file import write_measurements

LEAST_RATIO = 0.95
MOST_JOB_S = 2.0
MOST_NAMED_JOB_S = 10.0  # what a flow's first circuit may take
MOST_MEMORY_BYTES = 64 * 10**6
MOST_CORES = 0.25
AFTER_S = 5.0


@dataclass(frozen=True)
class Result:
    name: str
    who: str
    what: str
    earlier: str                  # what it did to earlier versions
    names_job: bool               # the attack is on the nodes of the new jobs
    note: str                     # why it was not carried out
    per_second: float | None      # sent; None: it does not count
    before_bytes_per_s: float     # of traffic between others
    during_bytes_per_s: float
    wrong_bytes: int
    traffic_failure: str          # "": the traffic went on to its end
    job_s: tuple[float, ...]      # new jobs during the attack
    job_failures: tuple[str, ...]
    memory_bytes: dict[str, int]  # by node: the peak above what it had before
    cores: dict[str, float]       # by node: above what it used before
    differs: tuple[str, ...]      # AFTER_S after the end
    stays: tuple[str, ...]        # codes of problems that may stay, then
    named_by: tuple[str, ...]     # codes of warnings and refusals during the attack
    lost_cables: int              # how often a cable between others was found lost during the attack
    job_after_s: float            # a new job, then
    after_failure: str            # why that failed

    @property
    def ratio(self) -> float:
        return self.during_bytes_per_s / self.before_bytes_per_s if self.before_bytes_per_s else math.nan

    @property
    def worst_job_s(self) -> float:
        return math.inf if self.job_failures else max(self.job_s, default=math.nan)

    @property
    def most_memory_bytes(self) -> int:
        return max(0, *self.memory_bytes.values()) if self.memory_bytes else 0

    def busiest(self) -> tuple[str, float]:
        """The node that uses most more, and how many cores."""
        node = max(self.cores, key=lambda name: self.cores[name], default="")
        return node, self.cores.get(node, 0.0)

    @property
    def most_job_s(self) -> float:
        return MOST_NAMED_JOB_S if self.names_job else MOST_JOB_S

    def missed(self) -> list[str]:
        if self.note:
            return []
        lines = []
        if not self.ratio >= LEAST_RATIO:
            lines.append(f"traffic keeps {self.ratio:.3f}, goal >= {LEAST_RATIO}")
        if self.wrong_bytes:
            lines.append(f"{self.wrong_bytes} bytes of the traffic were wrong")
        if self.traffic_failure:
            lines.append(f"the traffic failed: {self.traffic_failure}")
        lines += [f"a new job failed: {reason}" for reason in self.job_failures]
        if not self.job_failures and self.worst_job_s > self.most_job_s:
            lines.append(f"a new job took {self.worst_job_s:.2f} s, goal <= {self.most_job_s:g} s")
        if self.most_memory_bytes > MOST_MEMORY_BYTES:
            lines.append(f"memory grew by {self.most_memory_bytes / 1e6:.0f} MB, goal <= {MOST_MEMORY_BYTES / 1e6:.0f} MB")
        node, cores = self.busiest()
        if cores > MOST_CORES:
            lines.append(f"{node} used {cores:.2f} cores more, goal <= {MOST_CORES}")
        if self.lost_cables:
            lines.append(f"cables between others were lost {self.lost_cables} times")
        if self.after_failure:
            lines.append(f"a new job after it failed: {self.after_failure}")
        elif self.job_after_s > MOST_JOB_S:
            lines.append(f"a new job after it took {self.job_after_s:.2f} s, goal <= {MOST_JOB_S:g} s")
        lines += [f"{AFTER_S:g} s after it: {line}" for line in self.differs]
        return [f"{self.name}: {line}" for line in lines]


def not_measured(name: str, who: str, what: str, reason: str) -> Result:
    """Of an attack during which the bench itself failed: all goals count as missed."""
    return Result(name=name, who=who, what=what, earlier="-", names_job=False, note="", per_second=None, before_bytes_per_s=0.0,
                  during_bytes_per_s=0.0, wrong_bytes=0, traffic_failure=f"not measured: {reason}", job_s=(), job_failures=(),
                  memory_bytes={}, cores={}, differs=(), stays=(), named_by=(), lost_cables=0, job_after_s=0.0,
                  after_failure="")


def write_results(path: Path, results: Sequence[Result], facts: dict[str, str]) -> None:
    write_measurements(path, {"what": "cableway hostile results", "facts": facts,
                              "results": [asdict(result) | {"missed": result.missed()} for result in results]})

