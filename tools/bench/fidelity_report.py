"""The results of the fidelity benchmark as text."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from machine import facts_table

_MEDIAN_LIMIT, _MEDIAN_GOAL = 0.05, 0.03
_WORST_LIMIT, _WORST_GOAL = 0.12, 0.08
_MIN_CASES = 30
_BUSY_LIMIT = 0.9


@dataclass(frozen=True)
class Case:
    topology: str
    workload: str
    size: str
    predicted_s: float
    least_s: float  # minimum that the busiest direction of a cable needs for its bytes
    measured_s: list[float]

    @property
    def median_s(self) -> float:
        return statistics.median(self.measured_s)

    @property
    def error(self) -> float:
        """Above 0: the predicted time is longer than the measured one."""
        return self.predicted_s / self.median_s - 1

    @property
    def busy(self) -> float:
        """The share of the shorter of both times that the busiest direction of a cable needs for its bytes."""
        return self.least_s / min(self.predicted_s, self.median_s)

    @property
    def is_judged(self) -> bool:
        """Whether the cables are the limit; by the shorter time, so that a case is judged if the times disagree."""
        return self.busy >= _BUSY_LIMIT


def _judged(cases: list[Case]) -> list[Case]:
    return [case for case in cases if case.is_judged]


def _errors(cases: list[Case]) -> tuple[float, float]:
    """Median and worst error of the judged cases; 0 if there are none."""
    errors = [abs(case.error) for case in _judged(cases)]
    return (statistics.median(errors), max(errors)) if errors else (0.0, 0.0)


def missed_goals(cases: list[Case]) -> list[str]:
    median, worst = _errors(cases)
    missed = []
    if len(_judged(cases)) < _MIN_CASES:
        missed.append(f"{len(_judged(cases))} cases are limited by their cables, fewer than {_MIN_CASES}")
    if median > _MEDIAN_LIMIT:
        missed.append(f"the median error is {median:.1%}, more than {_MEDIAN_LIMIT:.0%}")
    if worst > _WORST_LIMIT:
        missed.append(f"the worst error is {worst:.1%}, more than {_WORST_LIMIT:.0%}")
    return missed


def summary_line(cases: list[Case]) -> str:
    median, worst = _errors(cases)
    return f"fidelity: {median:.3f} {worst:.3f} {len(_judged(cases))}"


def _verdict(value: float, limit: float, goal: float) -> str:
    if value > limit:
        return "**missed**"
    return "met" if value <= goal else f"met; the goal of {goal:.0%} missed"


def _summary_rows(cases: list[Case]) -> list[str]:
    median, worst = _errors(cases)
    judged = len(_judged(cases))
    rows = [
        "| what | result | limit | |",
        "|---|---|---|---|",
        f"| cases limited by their cables | {judged} of {len(cases)} | >= {_MIN_CASES} |"
        f" {'met' if judged >= _MIN_CASES else '**missed**'} |",
        f"| median error of these | {median:.1%} | <= {_MEDIAN_LIMIT:.0%} |"
        f" {_verdict(median, _MEDIAN_LIMIT, _MEDIAN_GOAL)} |",
        f"| worst error of these | {worst:.1%} | <= {_WORST_LIMIT:.0%} | {_verdict(worst, _WORST_LIMIT, _WORST_GOAL)} |",
    ]
    if others := [abs(case.error) for case in cases if not case.is_judged]:
        rows.append(f"| worst error of the other {len(others)} | {max(others):.1%} | not judged | |")
    return rows


def _case_row(case: Case) -> str:
    spread = f"{min(case.measured_s) * 1e3:.1f}..{max(case.measured_s) * 1e3:.1f}"
    remark = ""
    if not case.is_judged:
        remark = " not judged: cables not busy"
    elif abs(case.error) > _WORST_LIMIT:
        remark = " **missed**"
    return (f"| {case.topology} | {case.workload} | {case.size} | {case.predicted_s * 1e3:.1f} |"
            f" {case.median_s * 1e3:.1f} | {spread} | {case.busy:.0%} | {case.error:+.1%}{remark} |")


def section_text(cases: list[Case], facts: dict[str, str], rounds: int, cables: str, means: str) -> str:
    """`cables`: their properties. `means`: the operations of each run."""
    lines = [
        "## Accuracy of the simulator",
        "",
        f"`tools/bench.sh fidelity`: the time of one operation as predicted by `cableway sim` and as measured by"
        f" collperf over the plugin in network namespaces with cables of {cables}, an MTU of 9000, one rank in each node,"
        f" ranks in the order of nodes, one path for each flow (`CABLEWAY_MULTIPATH=off`); predicted with chunks of 16 KiB, as relays over TCP forward a chunk while it arrives."
        f" Median of {rounds} runs, each the mean of {means}; predicted as the mean of as many.",
        "",
        f"Busy: the share of the operation's time that the busiest direction of a cable needs for its bytes, by the"
        f" shorter of the predicted and the measured time. Below {_BUSY_LIMIT:.0%} both agree that no cable is the limit:"
        f" the case is shown, but not judged. If only one of them has idle cables, the case is judged.",
        "",
        *facts_table(facts),
        "",
        *_summary_rows(cases),
        "",
        "| topology | workload | size | predicted, ms | measured, ms, median | min..max | busy | error |",
        "|---|---|---|---|---|---|---|---|",
        *map(_case_row, cases),
    ]
    return "\n".join(lines)
