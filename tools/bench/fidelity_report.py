"""What the fidelity benchmark found, as text."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from machine import facts_table

_MEDIAN_LIMIT, _MEDIAN_GOAL = 0.05, 0.03
_WORST_LIMIT, _WORST_GOAL = 0.12, 0.08


@dataclass(frozen=True)
class Case:
    topology: str
    workload: str
    size: str
    foretold_s: float
    measured_s: list[float]

    @property
    def median_s(self) -> float:
        return statistics.median(self.measured_s)

    @property
    def error(self) -> float:
        """Above 0: the simulator is slower than what was measured."""
        return self.foretold_s / self.median_s - 1


def _errors(cases: list[Case]) -> tuple[float, float]:
    errors = [abs(case.error) for case in cases]
    return statistics.median(errors), max(errors)


def missed_goals(cases: list[Case]) -> list[str]:
    median, worst = _errors(cases)
    missed = []
    if median > _MEDIAN_LIMIT:
        missed.append(f"the median error is {median:.1%}, more than {_MEDIAN_LIMIT:.0%}")
    if worst > _WORST_LIMIT:
        missed.append(f"the worst error is {worst:.1%}, more than {_WORST_LIMIT:.0%}")
    return missed


def summary_line(cases: list[Case]) -> str:
    median, worst = _errors(cases)
    return f"fidelity: {median:.3f} {worst:.3f} {len(cases)}"


def _judged(value: float, limit: float, goal: float) -> str:
    if value > limit:
        return "**missed**"
    return "met" if value <= goal else f"met; the goal of {goal:.0%} missed"


def section_text(cases: list[Case], facts: dict[str, str], rounds: int, rate_mbps: int) -> str:
    median, worst = _errors(cases)
    lines = [
        "## The simulator beside the real thing",
        "",
        f"`tools/bench.sh fidelity`: the time of one operation as `cableway sim` foretells it, beside what collperf over the"
        f" plugin measures in network namespaces with cables of {rate_mbps} Mbit/s, an MTU of 9000, one rank in each node,"
        f" ranks in the order of nodes; foretold with chunks of 16 KiB, as relays over TCP pass a chunk on while it arrives."
        f" Median of {rounds} runs, each the mean of 4 operations after one to warm up.",
        "",
        *facts_table(facts),
        "",
        "| what | found | at most | |",
        "|---|---|---|---|",
        f"| median error of {len(cases)} cases | {median:.1%} | {_MEDIAN_LIMIT:.0%} |"
        f" {_judged(median, _MEDIAN_LIMIT, _MEDIAN_GOAL)} |",
        f"| worst error | {worst:.1%} | {_WORST_LIMIT:.0%} | {_judged(worst, _WORST_LIMIT, _WORST_GOAL)} |",
        "",
        "| topology | workload | size | foretold, ms | measured, ms, median | min..max | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in cases:
        spread = f"{min(case.measured_s) * 1e3:.1f}..{max(case.measured_s) * 1e3:.1f}"
        mark = " **missed**" if abs(case.error) > _WORST_LIMIT else ""
        lines.append(f"| {case.topology} | {case.workload} | {case.size} | {case.foretold_s * 1e3:.1f} |"
                     f" {case.median_s * 1e3:.1f} | {spread} | {case.error:+.1%}{mark} |")
    return "\n".join(lines)
