"""The text of the multipath benchmark: its section of docs/benchmarks.md and its last line."""

from __future__ import annotations

import math
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import facts_table
from multipath_cases import AGAIN, BEFORE, CASES, RATE_MBPS, SMALL, SMALL_SIZES, Case
from spread import Spread

MODES = ("off", "all")

# The most by which several circuits may slow a small message down.
_MOST_OF_OFF = 1.03

_INTRO = """\
`tools/bench.sh multipath`: network namespaces with shaped cables. The same work with one path for each flow
(`CABLEWAY_MULTIPATH=off`) and with all that are of use (`all`), {rounds} times each, one after the other in turn; medians, and
the range in brackets. Sizes and numbers of connections are collperf's, two connections for each pair of ranks as NCCL has, but
where one node sends to one other: there it is one. Every run ends with checked bytes. Bandwidth is in cables: the rate of the
topology's fastest cable, headers included, so that a full cable is a little less than 1."""


@dataclass(frozen=True)
class Result:
    case: Case
    gigabytes_per_s: dict[str, Spread]  # by mode

    def cables(self, mode: str) -> float:
        return self.gigabytes_per_s[mode].median * 8000 / self.case.topology.rate_mbps

    @property
    def gain(self) -> float:
        """The ratio of the medians: rounds alternate, so that both modes see the same machine."""
        return self.gigabytes_per_s["all"].median / self.gigabytes_per_s["off"].median

    @property
    def share_of_most(self) -> float | None:
        if self.case.pair is None:
            return None
        return self.gigabytes_per_s["all"].median * 8000 / self.case.topology.most_mbps(*self.case.pair)

    def missed(self) -> list[str]:
        case, lines = self.case, []
        for name, value, least in (("cables", self.cables("all"), case.least_cables),
                                   ("of one path", self.gain, case.least_of_off),
                                   ("of the maximum flow", self.share_of_most, case.least_of_most)):
            if least is not None and value is not None and value < least:
                lines.append(f"{case.topology.name}, {case.name}: {value:.3f} {name}, wanted {least:.2f}")
        return lines


@dataclass(frozen=True)
class SmallResult:
    """Half round trips in microseconds, by mode and size."""

    microseconds: dict[str, dict[str, Spread]]

    def ratio(self, size: str) -> float:
        """Of all paths to one path at most, which both series with `off` show."""
        one_path = Spread((*self.microseconds["off"][size].values, *self.microseconds[AGAIN][size].values))
        return self.microseconds["all"][size].median / one_path.median

    def control(self, size: str) -> float:
        return self.microseconds[AGAIN][size].median / self.microseconds["off"][size].median

    def growth(self, mode: str) -> tuple[float, float]:
        """How many times as long messages of 8 bytes took after the large ones as before, in the same flow: the geometric mean,
        and its relative standard error."""
        sizes = self.microseconds[mode]
        logs = [math.log(after / before)
                for before, after in zip(sizes[BEFORE].values, sizes[SMALL_SIZES[0]].values, strict=True)]
        error = statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.nan
        return math.exp(statistics.mean(logs)), error

    @property
    def runs(self) -> int:
        return min(len(spread.values) for spreads in self.microseconds.values() for spread in spreads.values())

    def lines(self) -> list[str]:
        return [f"messages of {size}: {self.microseconds['off'][size].median:.1f} us with one path,"
                f" {self.microseconds['all'][size].median:.1f} with all" for size in SMALL_SIZES]

    def missed(self) -> list[str]:
        return [f"messages of {size}: {self.ratio(size):.3f} of the time with one path, wanted {_MOST_OF_OFF:.2f} at most"
                for size in SMALL_SIZES if self.ratio(size) > _MOST_OF_OFF]


def missed(results: list[Result], small: SmallResult | None) -> list[str]:
    return [line for each in (*results, *([small] if small else [])) for line in each.missed()]


def last_line(results: list[Result]) -> str:
    """The results for the cables of neighbours, one opposite pair and all_to_all."""
    by_case = {result.case: result for result in results}
    chosen = [by_case.get(case) for case in (CASES[0], CASES[1], CASES[3])]
    return "multipath: " + " ".join(f"{result.cables('all'):.3f}" if result else "-" for result in chosen)


def _goal(case: Case) -> str:
    goals = []
    if case.least_cables is not None:
        goals.append(f">= {case.least_cables:.2f} cables")
    if case.least_of_off is not None:
        goals.append(f">= {case.least_of_off:.2f} of off")
    if case.least_of_most is not None:
        goals.append(f">= {case.least_of_most:.2f} of the maximum flow")
    return ", ".join(goals)


def _row(result: Result) -> str:
    cells = []
    for mode in MODES:
        spread, scale = result.gigabytes_per_s[mode], 8000 / result.case.topology.rate_mbps
        low, high = (edge(spread.values) * scale for edge in (min, max))
        cells.append(f"{result.cables(mode):.3f} ({low:.3f} to {high:.3f})")
    share = result.share_of_most
    verdict = "missed" if result.missed() else "met"
    return (f"| {result.case.topology.name} | {result.case.name} | {cells[0]} | {cells[1]} | {result.gain:.3f} |"
            f" {'' if share is None else f'{share:.3f}'} | {_goal(result.case)}: {verdict} |")


def section_text(results: list[Result], small: SmallResult | None, facts: dict[str, str], rounds: int) -> str:
    lines = ["## Multipath", "", _INTRO.format(rounds=rounds), "", *facts_table(facts), "",
             "| topology | who sends | off | all | all / off | of the maximum flow | goal |", "|---|---|---|---|---|---|---|",
             *(_row(result) for result in results)]
    if small is not None:
        lines += ["", "Small messages of a flow that has several circuits, because it has carried large ones: half round trips"
                  f" between neighbours in the ring of 4, {small.runs} runs of each kind in turn; their medians, and the range."
                  f" Goal: {_MOST_OF_OFF:.2f} of the time with one path at most. `off, again` repeats `off`: the difference is"
                  " chance.", "",
                  "| bytes | off, us | all, us | off, again, us | all / both off | again / off | |", "|---|---|---|---|---|---|---|"]
        for size in SMALL_SIZES:
            cells = [f"{spread.median:.2f} ({spread.range_text('.1f')})"
                     for spread in (small.microseconds[mode][size] for mode in SMALL.modes)]
            lines.append(f"| {size} | {' | '.join(cells)} | {small.ratio(size):.3f} | {small.control(size):.3f} |"
                         f" {'met' if small.ratio(size) <= _MOST_OF_OFF else 'missed'} |")
        grown = "; ".join(f"{mean:.3f} with `{mode}`, standard error {error:.3f}"
                          for mode in SMALL.modes for mean, error in [small.growth(mode)])
        lines += ["", "Messages of 8 bytes after the large ones, which bring the further circuits, took this many times as long as"
                  f" before them in the same flow (geometric means): {grown}."]
    lines += ["", f"Cables have {RATE_MBPS} Mbit/s where two cores copy for all nodes at that rate, else less. What each node"
              " relays for others costs its host's CPU time: a cluster whose hosts are the limit, not its cables, gains nothing."]
    return "\n".join(lines)

