"""The results of the benchmark of routes and flow model as text: a section of docs/benchmarks.md, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench_error import BenchError
from machine import facts_table
from spread import Spread

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}

# Name in tests/tools/bench/routes_bench.cc: description and unit.
_SHOWN = {
    "shortest_paths": ("shortest paths from one node, torus of 1,024", "us"),
    "boost_dijkstra": ("the same with Boost.Graph's Dijkstra", "us"),
    "all_pairs": ("shortest paths between all pairs of that torus", "ms"),
    "path_for_flow": ("selection of a flow's path among equally short ones", "us"),
    "offers_torus_64": ("8 offers of paths to a flow, torus of 64", "us"),
    "offers_sparks_64": ("the same, ring of 64 DGX Sparks", "us"),
    "offers_random_400": ("the same, random graph of 400 nodes with 4 cables each", "us"),
    "max_min_shares": ("max-min shares of 100,000 flows on that torus", "ms"),
    "failures": ("8,320 failures of a torus of 64: one cable, two cables, one node", "s"),
}


@dataclass(frozen=True)
class Goal:
    what: str
    found: float
    form: str
    most: float

    @property
    def met(self) -> bool:
        return self.found <= self.most

    def row(self) -> str:
        found = format(self.found, self.form)
        return f"| {self.what} | {found} | <= {self.most:g} | {'met' if self.met else '**missed**'} |"


def times_of(report: Mapping[str, Any]) -> dict[str, Spread]:
    """CPU seconds by benchmark, from Google Benchmark's JSON: one value for each repetition."""
    values: dict[str, list[float]] = {}
    for run in report["benchmarks"]:
        if run["run_type"] == "iteration":
            name = run["run_name"].split("/")[0]
            values.setdefault(name, []).append(run["cpu_time"] * _SECONDS[run["time_unit"]])
    missing = [name for name in _SHOWN if name not in values]
    if missing:
        raise BenchError(f"routes_bench measured no {', '.join(missing)}: rebuild it")
    return {name: Spread(tuple(values[name])) for name in _SHOWN}


def goals(times: Mapping[str, Spread]) -> list[Goal]:
    ratio = times["shortest_paths"].median / times["boost_dijkstra"].median
    failures = times["failures"].median
    return [
        Goal("shortest paths / Boost.Graph's Dijkstra", ratio, ".2f", 1.2),
        Goal("offers of paths to a flow in a torus of 64, ms", times["offers_torus_64"].median * 1e3, ".2f", 1),
        Goal("max-min shares of 100,000 flows, s", times["max_min_shares"].median, ".3f", 0.5),
        Goal("all failures of a torus of 64, s", failures, ".1f", 120),
        Goal("the same, stretch goal", failures, ".1f", 60),
    ]


def section_text(times: Mapping[str, Spread], facts: Mapping[str, str]) -> str:
    lines = ["## Routes and flow model", "",
             "`tools/bench.sh routes`: CPU time of one thread, median of the repetitions, which take turns.", "",
             *facts_table(facts),
             "", "| what | result | goal | |", "|---|---|---|---|"]
    lines += [goal.row() for goal in goals(times)]
    lines += ["", "| what | median | min..max | |", "|---|---|---|---|"]
    for name, (what, unit) in _SHOWN.items():
        spread = Spread(tuple(value / _SECONDS[unit] for value in times[name].values))
        lines.append(f"| {what} | {spread.median:.4g} | {spread.range_text('.4g')} | {unit} |")
    return "\n".join(lines)


def missed(times: Mapping[str, Spread]) -> list[str]:
    return [f"MISSED: {goal.what}: {goal.found:{goal.form}}; the goal is <= {goal.most:g}" for goal in goals(times)
            if not goal.met]
