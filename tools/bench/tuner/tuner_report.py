"""The tuner's choices beside the best ones: its table of sizes, the verdict, and the section of the benchmarks page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from machine import facts_table

GOAL = 1.05  # the time of the chosen algorithm over that of the best
SLOWED = 1000  # how many times the lab's cables and latencies are slower than those of the table of sizes

_ROW = re.compile(r"\{TunerSetting::k(\w+), (\d+), (\d+), (\d+)\}")


@dataclass(frozen=True)
class TreeSizes:
    """Sizes, from `first` to below `end`, for which a tree is chosen on this cabling of so many nodes."""

    cabling: str
    nodes: int
    first: int
    end: int


@dataclass(frozen=True)
class Case:
    cabling: str
    nodes: int

    @property
    def shape(self) -> str:
        return f"{self.cabling}:{self.nodes}"


def tree_sizes(header: str) -> list[TreeSizes]:
    """The rows of nccl_adapter/algorithm/tree_sizes.h."""
    return [TreeSizes(cabling.lower(), int(nodes), int(first), int(end))
            for cabling, nodes, first, end in _ROW.findall(header)]


def chosen(rows: Sequence[TreeSizes], case: Case, size: int) -> str:
    """As choose_all_reduce() of nccl_adapter/algorithm/algorithm_choice.h."""
    is_for_tree = any((row.cabling, row.nodes) == (case.cabling, case.nodes) and row.first <= size < row.end for row in rows)
    return "tree" if is_for_tree else "ring"


@dataclass(frozen=True)
class Measured:
    """The times of an all_reduce in us, by algorithm."""

    case: Case
    size: int
    times: Mapping[str, float]
    chosen: str

    @property
    def best(self) -> str:
        return min(self.times, key=lambda algorithm: self.times[algorithm])

    @property
    def ratio(self) -> float:
        return self.times[self.chosen] / self.times[self.best]


def size_text(size: int) -> str:
    for unit, bytes_of in (("M", 1 << 20), ("K", 1 << 10)):
        if size >= bytes_of and size % bytes_of == 0:
            return f"{size // bytes_of}{unit}"
    return str(size)


def missed(results: Sequence[Measured]) -> list[str]:
    return [f"{each.case.shape}, {size_text(each.size)}: {each.chosen} took {each.ratio:.2f} times as long as {each.best}"
            for each in results if each.ratio > GOAL]


def last_line(results: Sequence[Measured]) -> str:
    within = sum(each.ratio <= GOAL for each in results)
    worst = max(results, key=lambda each: each.ratio)
    return (f"tuner: {within} of {len(results)} choices within {GOAL:g} of the best; worst {worst.ratio:.2f},"
            f" {worst.case.shape} {size_text(worst.size)}")


def section_text(results: Sequence[Measured], facts: dict[str, str], rounds: int) -> str:
    lines = [
        "## The tuner's choices", "",
        f"By `tools/bench.sh tuner`: collperf's all_reduce in network namespaces, by ring and by tree, and what the"
        f" tuner chooses for an NCCL of that size. Cables of 200 Mbit/s with a delay of 5 ms: those of 200 Gbit/s and 5 us, for"
        f" which its sizes were predicted, slowed {SLOWED} times, so that processors do not decide; times are shown divided by"
        f" that. Four channels; medians, the least of those of several rounds (here {rounds}). collperf has no GPU, and"
        " none of NCCL's protocols: this judges ring against tree, not NCCL.", "",
        f"{last_line(results)[len('tuner: '):]}. Goal: {GOAL:g}.", "", *facts_table(facts), "",
        "| cabling | size | ring, us | tree, us | chosen | best | chosen / best |", "|---|---|---|---|---|---|---|"]
    for each in results:
        ring, tree = (each.times[name] / SLOWED for name in ("ring", "tree"))
        note = "" if each.ratio <= GOAL else " missed"
        lines.append(f"| {each.case.shape} | {size_text(each.size)} | {ring:.1f} | {tree:.1f} | {each.chosen} | {each.best} |"
                     f" {each.ratio:.2f}{note} |")
    return "\n".join(lines)
