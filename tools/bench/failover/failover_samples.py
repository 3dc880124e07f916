"""The file of failover's measurements: an interrupted run can be resumed, and runs add up, also those that run at the same
time."""

from __future__ import annotations

import datetime
import fcntl
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench_error import BenchError
from benchmarks_file import read_measurements, write_measurements
from failover_results import Json, KindResult, Lives, Results
from machine import differences
from process_lives import merged

_WHAT = "cableway failover samples"
# Increment when faults, or the condition that ends them, change: older measurements do not add up with newer ones.
_METHOD = 2


@dataclass
class Run:
    """A run that has added to the file."""

    facts: dict[str, str]
    began: float  # since the epoch
    seconds: float = 0.0
    processes: dict[str, Lives] = field(default_factory=dict)
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def to_json(self) -> Json:
        return {"name": self.name, "facts": self.facts, "began": self.began, "seconds": round(self.seconds, 1),
                "processes": {name: lives.to_json() for name, lives in self.processes.items()}}

    @staticmethod
    def from_json(found: Json) -> Run:
        facts = {str(name): str(value) for name, value in found["facts"].items()}
        processes = {str(name): Lives.from_json(each) for name, each in found["processes"].items()}
        return Run(facts, float(found["began"]), float(found["seconds"]), processes, str(found["name"]))

    @property
    def ended(self) -> float:
        return self.began + self.seconds

    @property
    def date(self) -> str:
        return datetime.datetime.fromtimestamp(self.began, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


@dataclass
class Samples:
    runs: list[Run] = field(default_factory=list)
    results: Results = field(default_factory=Results)

    def facts(self) -> dict[str, str]:
        """The facts of all runs, in display order."""
        return {name: ", ".join(dict.fromkeys(run.facts[name] for run in self.runs))
                for name in (self.runs[0].facts if self.runs else {})}

    def processes(self) -> dict[str, Lives]:
        return merged(*(run.processes for run in self.runs))

    def at_once(self) -> int:
        """The largest number of runs that measured at the same time."""
        return max((sum(run.began <= other.began < run.ended for run in self.runs) for other in self.runs), default=0)

    def add(self, run: Run, block: KindResult | None, broken_off: str | None) -> None:
        """Adds the measurements of the run since the last call, and replaces what is recorded about the run itself."""
        if run.name in (known := [other.name for other in self.runs]):
            self.runs[known.index(run.name)] = run
        else:
            self.runs.append(run)
        if block is not None:
            self.results.of(block.kind).merge(block)
        if broken_off is not None:
            self.results.broken_off.append(broken_off)

    def check_adds_up(self, facts: dict[str, str], path: Path) -> None:
        """Raises if these were measured on another machine or with other programs than those of `facts`."""
        for run in self.runs:
            if why := differences(run.facts, facts):
                raise BenchError(f"{path} holds measurements of commit {run.facts.get('commit')} of {run.date}, and this is"
                                 f" commit {facts['commit']}; they do not add up ({why}): name another file, or"
                                 " remove this one")


def _parsed(found: Json) -> Samples:
    if found["what"] != _WHAT or found["method"] != _METHOD:
        raise ValueError(f"it is '{found['what']}' of method {found['method']}, not '{_WHAT}' of method {_METHOD}")
    return Samples([Run.from_json(run) for run in found["runs"]], Results.from_json(found["results"]))


def read_samples(path: Path) -> Samples:
    """The samples that the file holds; none if it does not exist."""
    return read_measurements(path, "failover", _parsed) if path.exists() else Samples()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Locks `path` between processes. The lock has a file of its own, because `path` is replaced."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_name(f".{path.name}.lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise BenchError(f"cannot write '{path}': {error.strerror}") from None


def add_to_file(path: Path, run: Run, block: KindResult | None, broken_off: str | None) -> Samples:
    """Adds the new measurements of the run to those that other runs may have added meanwhile. Returns all of them."""
    with _locked(path):
        samples = read_samples(path)
        samples.check_adds_up(run.facts, path)
        samples.add(run, block, broken_off)
        write_samples(path, samples)
        return samples


def write_samples(path: Path, samples: Samples) -> None:
    write_measurements(path, {"what": _WHAT, "method": _METHOD, "runs": [run.to_json() for run in samples.runs],
                              "results": samples.results.to_json()})
