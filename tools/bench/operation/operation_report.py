"""What an operator waits for: the figures, their goals, and the section of the benchmarks page."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench_error import BenchError
from machine import facts_table

VIEW_GOAL_S = 1.0        # a view of all nodes
PAGE_GOAL = 0.01         # of a core: a node with 1,000 flows and a reader of its page


@dataclass(frozen=True)
class Figures:
    """What the parts of the bench have measured; a part that was left out has none."""

    rounds: Sequence[dict[str, Any]] = ()  # of views_of_all.py
    page_cores: float | None = None        # of a node with 1,000 flows and a reader
    quiet_cores: float | None = None       # of the same node without a reader
    paint_ms: float | None = None
    page_bytes: int | None = None
    stream_bytes: int | None = None
    doctor_right: int = 0
    doctor_rows: int = 0
    first_run: str = ""                    # "12 commands, 13.7 s"


def found(pattern: str, output: str, what: str) -> list[tuple[str, ...]]:
    """The groups of each place in a test's output that has a figure."""
    matches = [match.groups() for match in re.finditer(pattern, output)]
    if not matches:
        raise BenchError(f"{what} has printed no figure of the form '{pattern}':\n{output[-2000:]}")
    return matches


def page_cost(output: str) -> tuple[float, float]:
    """With a reader, and without: of a core."""
    read, alone = found(r"a reader of 1,000 flows takes (-?[\d.]+) % of a core, beside ([\d.]+) % without", output,
                        "the test of the page's cost")[0]
    return (float(read) + float(alone)) / 100, float(alone) / 100


def page_size(output: str) -> tuple[float, int, int]:
    paint, page, stream = found(r"first paint ([\d.]+) ms, page (\d+) bytes, (\d+) bytes a second", output,
                                "the test of the page")[0]
    return float(paint), int(page), int(stream)


def doctor_rows(output: str) -> tuple[int, int]:
    rows = found(r"(\d+) of (\d+) rows of doctor's fault table are right", output, "the test of doctor's fault table")
    return sum(int(right) for right, _ in rows), sum(int(of) for _, of in rows)


def first_run(output: str) -> str:
    return found(r"(\d+ commands, [\d.]+ s)", output, "the test of packaged hosts")[0][0]


def missed(figures: Figures) -> list[str]:
    lines = []
    for view, (median, _, missing) in _views(figures).items():
        if median > VIEW_GOAL_S:
            lines.append(f"{view} --all took {median:.2f} s, goal {VIEW_GOAL_S:g} s")
        if missing:
            lines.append(f"{view} --all lacked {missing} answers")
    if figures.page_cores is not None and figures.page_cores > PAGE_GOAL:
        lines.append(f"a node with 1,000 flows and a reader took {figures.page_cores:.2%} of a core, goal {PAGE_GOAL:.0%}")
    if figures.doctor_right != figures.doctor_rows:
        lines.append(f"{figures.doctor_rows - figures.doctor_right} rows of doctor's fault table are wrong")
    return lines


def _views(figures: Figures) -> dict[str, tuple[float, float, int]]:
    """By view: the median and the longest time, and how many answers were missing in all rounds."""
    views: dict[str, list[dict[str, Any]]] = {}
    for each in figures.rounds:
        views.setdefault(each["view"], []).append(each)
    return {view: (statistics.median(each["took_s"] for each in rounds), max(each["took_s"] for each in rounds),
                   sum(len(each["missing"]) for each in rounds)) for view, rounds in views.items()}


def last_line(figures: Figures) -> str:
    goals = missed(figures)
    return "operation: " + ("all goals met" if not goals else f"{len(goals)} goals missed: {'; '.join(goals)}")


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "**missed**"


def section_text(figures: Figures, facts: dict[str, str]) -> str:
    lines = ["## What an operator waits for", "",
             "By `tools/bench.sh operation`: views of all nodes in a lab of its own; the other figures are those that system"
             " tests print.", "", *facts_table(facts), ""]
    if figures.rounds:
        nodes = max(each["nodes"] for each in figures.rounds)
        rounds = len(figures.rounds) // len(_views(figures))
        lines += [f"`cableway VIEW --all --json` on one of {nodes} nodes, a torus with a daemon in each network namespace, all on"
                  f" this machine: the time of the command, in {rounds} rounds.", "",
                  "| view | median, s | longest, s | answers missing in all rounds | median within"
                  f" {VIEW_GOAL_S:g} s |", "|---|---|---|---|---|"]
        lines += [f"| {view} | {median:.2f} | {longest:.2f} | {missing} | {_verdict(median <= VIEW_GOAL_S)} |"
                  for view, (median, longest, missing) in _views(figures).items()]
        lines.append("")
    rows = []
    if figures.page_cores is not None:
        rows.append(("processor time of a node with 1,000 flows and a reader of its page; without the reader",
                     f"{figures.page_cores:.2%} of a core; {figures.quiet_cores or 0:.2%}",
                     f"{PAGE_GOAL:.0%}: {_verdict(figures.page_cores <= PAGE_GOAL)}"))
    if figures.paint_ms is not None:
        rows += [("first paint of the page, in headless Chromium", f"{figures.paint_ms:.0f} ms", "-"),
                 ("the page; what follows each second", f"{figures.page_bytes} bytes; {figures.stream_bytes} bytes", "-")]
    if figures.doctor_rows:
        rows.append(("rows of doctor's fault table that are right", f"{figures.doctor_right} of {figures.doctor_rows}",
                     f"all: {_verdict(figures.doctor_right == figures.doctor_rows)}"))
    if figures.first_run:
        rows.append(("three fresh roots of Debian 12, from the packages to the first verified all_reduce", figures.first_run,
                     "-"))
    if rows:
        lines += ["| figure | measured | goal |", "|---|---|---|", *(f"| {what} | {value} | {goal} |" for what, value, goal in rows)]
    return "\n".join(lines)
