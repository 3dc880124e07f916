"""The file of multipath's measurements: an interrupted run can be resumed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_error import BenchError
from benchmarks_file import read_measurements, write_measurements
from machine import differences
from multipath_cases import Case
from spread import Spread

_WHAT = "cableway multipath samples"

Sample = tuple[str, str, str, float]  # case, mode, size, value


def case_key(case: Case) -> str:
    return f"{case.topology.name}, {case.name}"


@dataclass
class Samples:
    facts: dict[str, str]  # of the run that started the file
    values: list[Sample] = field(default_factory=list)
    labs: int = 1  # the most labs at a time; cases that need all processors had one

    def has(self, case: Case) -> bool:
        measured = {mode for key, mode, _, _ in self.values if key == case_key(case)}
        return measured.issuperset(case.modes)

    def spread(self, case: Case, mode: str, size: str) -> Spread:
        return Spread(tuple(value for key, its_mode, its_size, value in self.values
                            if (key, its_mode, its_size) == (case_key(case), mode, size)))

    def described(self) -> dict[str, str]:
        """The facts, in display order."""
        return self.facts | {"cases at a time": str(self.labs)}

    def rounds(self) -> int:
        """The lowest number of measurements of any value."""
        counts: dict[tuple[str, str, str], int] = {}
        for case, mode, size, _ in self.values:
            counts[case, mode, size] = counts.get((case, mode, size), 0) + 1
        return min(counts.values(), default=0)


def _parsed(found: Any) -> Samples:
    if found["what"] != _WHAT:
        raise ValueError(f"it is '{found['what']}', not '{_WHAT}'")
    return Samples({str(name): str(value) for name, value in found["facts"].items()},
                   [(str(case), str(mode), str(size), float(value)) for case, mode, size, value in found["values"]],
                   int(found["labs"]))


def read_samples(path: Path, facts: dict[str, str]) -> Samples:
    """The samples that the file holds; none if it does not exist. Raises if they do not add up with a run of `facts`."""
    if not path.exists():
        return Samples(facts)
    samples = read_measurements(path, "multipath", _parsed)
    if why := differences(samples.facts, facts):
        raise BenchError(f"{path} holds measurements that do not add up with this run's ({why}): name another file, or remove"
                         " this one")
    return samples


def write_samples(path: Path, samples: Samples) -> None:
    write_measurements(path, {"what": _WHAT, "facts": samples.facts, "values": samples.values, "labs": samples.labs})
