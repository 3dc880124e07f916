"""The file in which multipath's measurements are kept: a run that was broken off goes on."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from bench_error import BenchError
from machine import PROGRAMS_FACT
from multipath_cases import Case
from spread import Spread

_WHAT = "cableway multipath samples"
_LABS_FACT = "cases at a time"
_SAME = ("CPU", "kernel", PROGRAMS_FACT)  # wherever measurements are compared; the programs, and not the commit, are the build

Sample = tuple[str, str, str, float]  # case, mode, size, value


def case_key(case: Case) -> str:
    return f"{case.topology.name}, {case.name}"


@dataclass
class Samples:
    facts: dict[str, str]  # of the run that began
    values: list[Sample] = field(default_factory=list)

    def has(self, case: Case) -> bool:
        return any(value[0] == case_key(case) for value in self.values)

    def spread(self, case: Case, mode: str, size: str) -> Spread:
        return Spread(tuple(value for key, its_mode, its_size, value in self.values
                            if (key, its_mode, its_size) == (case_key(case), mode, size)))

    def note_labs(self, labs: int) -> None:
        """So many cases were measured at a time; the most are kept."""
        most = max(labs, *map(int, re.findall(r"^\d+", self.facts.get(_LABS_FACT, "1"))))
        self.facts[_LABS_FACT] = "1" if most == 1 else f"{most}, but those without a cable's rate as their limit alone"

    def rounds(self) -> int:
        """The fewest times that anything was measured."""
        counts: dict[tuple[str, str, str], int] = {}
        for case, mode, size, _ in self.values:
            counts[case, mode, size] = counts.get((case, mode, size), 0) + 1
        return min(counts.values(), default=0)


def read_samples(path: Path, facts: dict[str, str]) -> Samples:
    """Those that the file holds, none where it does not exist. Raises where they are of another machine or other programs than
    those of `facts`."""
    if not path.exists():
        return Samples(dict(facts))
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["what"] != _WHAT:
            raise ValueError(f"it is '{found['what']}', not '{_WHAT}'")
        samples = Samples({str(name): str(value) for name, value in found["facts"].items()},
                          [(str(case), str(mode), str(size), float(value)) for case, mode, size, value in found["values"]])
    except OSError as error:
        raise BenchError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BenchError(f"{path}: not a file of multipath's measurements: {type(error).__name__}: {error}; remove it, or name"
                         " another one") from None
    if different := [name for name in _SAME if samples.facts.get(name) != facts[name]]:
        differences = "; ".join(f"{name}: '{samples.facts.get(name)}' there, '{facts[name]}' here" for name in different)
        raise BenchError(f"{path} holds measurements that do not add up with this run's ({differences}): name another file, or"
                         " remove this one")
    return samples


def write_samples(path: Path, samples: Samples) -> None:
    document = {"what": _WHAT, "facts": samples.facts, "values": samples.values}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(json.dumps(document), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise BenchError(f"cannot write '{path}': {error.strerror}") from None
