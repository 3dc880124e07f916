"""The file in which failover's measurements are kept: a run that was broken off goes on, and several runs add up."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from bench_error import BenchError
from failover_results import Json, Results

_WHAT = "cableway failover samples"
# To be raised when faults, or what counts as their end, change: older measurements do not add up with newer ones.
_METHOD = 1
PROGRAMS = ("bin/cablewayd", "bin/collperf", "lib/libnccl-net-cableway.so")
_PROGRAMS_FACT = "programs"
_SAME = ("CPU", "kernel", _PROGRAMS_FACT)  # in all runs that add up; the programs, and not the commit, are the build


def with_programs(facts: dict[str, str], build: Path) -> dict[str, str]:
    """The facts, and what tells this build's programs from another one's."""
    digest = hashlib.sha256()
    for name in PROGRAMS:
        digest.update((build / name).read_bytes())
    return facts | {_PROGRAMS_FACT: f"SHA-256 {digest.hexdigest()[:16]}"}


@dataclass
class Run:
    """One that has added to the file."""

    facts: dict[str, str]
    began: float  # since the epoch
    seconds: float = 0.0

    def to_json(self) -> Json:
        return {"facts": self.facts, "began": self.began, "seconds": round(self.seconds, 1)}

    @staticmethod
    def from_json(found: Json) -> Run:
        facts = {str(name): str(value) for name, value in found["facts"].items()}
        return Run(facts, float(found["began"]), float(found["seconds"]))

    @property
    def date(self) -> str:
        return datetime.datetime.fromtimestamp(self.began, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


@dataclass
class Samples:
    runs: list[Run] = field(default_factory=list)
    results: Results = field(default_factory=Results)

    def facts(self) -> dict[str, str]:
        """Of all runs, in display order."""
        return {name: ", ".join(dict.fromkeys(run.facts[name] for run in self.runs))
                for name in (self.runs[0].facts if self.runs else {})}

    def check_adds_up(self, facts: dict[str, str], path: Path) -> None:
        """Raises where these were measured on another machine or with other programs than those of `facts`."""
        for run in self.runs:
            if different := [name for name in _SAME if run.facts.get(name) != facts[name]]:
                differences = "; ".join(f"{name}: '{run.facts.get(name)}' there, '{facts[name]}' here" for name in different)
                raise BenchError(f"{path} holds measurements of commit {run.facts.get('commit')} of {run.date}, and this is"
                                 f" commit {facts['commit']}; they do not add up ({differences}): name another file, or"
                                 " remove this one")


def read_samples(path: Path) -> Samples:
    """Those that the file holds, none where it does not exist."""
    if not path.exists():
        return Samples()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["what"] != _WHAT or found["method"] != _METHOD:
            raise ValueError(f"it is '{found['what']}' of method {found['method']}, not '{_WHAT}' of method {_METHOD}")
        return Samples([Run.from_json(run) for run in found["runs"]], Results.from_json(found["results"]))
    except OSError as error:
        raise BenchError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise BenchError(f"{path}: not a file of failover's measurements: {type(error).__name__}: {error}; remove it, or name"
                         " another one") from None


def write_samples(path: Path, samples: Samples) -> None:
    document = {"what": _WHAT, "method": _METHOD, "runs": [run.to_json() for run in samples.runs],
                "results": samples.results.to_json()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(document), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise BenchError(f"cannot write '{path}': {error.strerror}") from None
