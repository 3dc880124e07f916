"""The text of the failover benchmark: its section of docs/benchmarks.md and its last line."""

from __future__ import annotations

from failover_faults import Goal
from failover_results import AFTER_S, BEFORE_S, PHASES, KindResult, Lives, percentile
from failover_samples import Samples
from machine import facts_table

# Upper edges of the histogram's rows, in milliseconds.
_EDGES_MS = (5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 200, 300, 500, 1000, 2000, 5000, 10_000, 20_000)
_BAR_WIDTH = 40
_MOST_GROWTH_BYTES = 8 << 20
# A node that has just started lacks some descriptors yet: per cable, one socket for pulses and one for questions to a
# kernel.
_MOST_NEW_DESCRIPTORS = 12
# With fewer faults of a kind, a missed goal does not fail the run: their 99th percentile would be the slowest fault.
JUDGED_FAULTS = 100

_INTRO = """\
`tools/bench.sh failover`: a ring of four network namespaces, cables of 500 Mbit/s. collperf sends from one node to the
opposite one (one connection, 1 MiB an operation, fresh data each time, every byte checked), so that a path through either
relay will do. The flow has one path at a time (`CABLEWAY_MULTIPATH=off`), which is ended, again and again:

{kinds}

Time: from just before the fault until 64 KiB have come over the destination's other cable within 10 ms, which is data and
not the nodes' own messages, sampled every millisecond or so. At each fault all nodes know and trust all cables, the flow has
one circuit and uses it fully, and no link has changed for 1.1 s: a kernel that saw a change in the second before reports a
lost carrier up to a second late. After a fault that makes nodes distrust a cable, its relay is restarted, so that each
finds what a first one would. All other settings are the default."""


def missed(samples: Samples) -> list[str]:
    """The missed goals, the failures that must not happen and growth of memory or descriptors, one line each."""
    lines, results = [], samples.results
    for result in results.in_order():
        if result.lost:
            lines.append(f"{result.kind.name}: {result.lost} of {result.faults} faults ended or stopped the flow")
        if result.wrong_bytes:
            lines.append(f"{result.kind.name}: {result.wrong_bytes} wrong bytes")
        if result.faults >= JUDGED_FAULTS:
            lines += [f"{result.kind.name}: {goal} is missed: {_ms(result.times_s(), goal.percent)}"
                      for goal in result.kind.goals if not is_met(goal, result)]
    lines += [f"a block of faults could not be ended: {reason}" for reason in results.broken_off]
    return lines + [line for name, lives in samples.processes().items() for line in _growth(name, lives)]


def is_met(goal: Goal, result: KindResult) -> bool:
    """Whether the goal is met. A fault that stops the flow takes longer than any limit."""
    times = [time * 1e3 for time in result.times_s()] + [float("inf")] * result.stuck
    return percentile(times, goal.percent) <= goal.most_ms


def last_line(results: list[KindResult]) -> str:
    times = sorted(time for result in results for time in result.times_s())
    cuts, lost = sum(result.faults for result in results), sum(result.lost for result in results)
    return f"failover: {cuts} cuts, {lost} lost, p50 {_ms(times, 50)} p99 {_ms(times, 99)}"


def _ms(times: list[float], percent: float) -> str:
    return f"{percentile(times, percent) * 1e3:.1f} ms"


def summary(results: list[KindResult]) -> list[str]:
    lines = ["| fault | faults | stuck | lost | wrong bytes | GB checked | p50 | p99 | max | goals | seconds per fault |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for result in results:
        times = result.times_s()
        lines.append(f"| {result.kind.name} | {result.faults} | {result.stuck} | {result.lost} | {result.wrong_bytes} |"
                     f" {result.verified_bytes / 1e9:.2f} | {_ms(times, 50)} | {_ms(times, 99)} | {_ms(times, 100)} |"
                     f" {_goals(result)} | {result.seconds / max(1, result.faults):.1f} |")
    return lines


def _goals(result: KindResult) -> str:
    return ", ".join(f"{goal}: {'met' if is_met(goal, result) else 'missed'}" for goal in result.kind.goals)


def histogram(result: KindResult) -> list[str]:
    """Rows for the times, from the shortest to the longest."""
    times = [time * 1e3 for time in result.times_s()]
    counts = [sum(low <= time < high for time in times) for low, high in zip((0, *_EDGES_MS), _EDGES_MS)]
    kept = [row for row, count in enumerate(counts) if count]
    if not kept:
        return []
    lines = []
    for row in range(kept[0], kept[-1] + 1):
        low = _EDGES_MS[row - 1] if row else 0
        bar = "#" * -(-counts[row] * _BAR_WIDTH // max(counts))
        lines.append(f"{low:>6} .. {_EDGES_MS[row]:<6} ms {counts[row]:>5}  {bar}".rstrip())
    return lines


def _rates(result: KindResult) -> str:
    """The mean rates before the fault, from the fault until data comes over another path, and after that."""
    means = [result.rates.phases[name].value for name in PHASES]
    return " | ".join("" if mean is None else f"{mean / 1e6:.1f}" for mean in means)


def _growth(name: str, lives: Lives) -> list[str]:
    lines = []
    memory, descriptors = lives.most_bytes, lives.most_descriptors
    if memory.more_bytes > _MOST_GROWTH_BYTES:
        lines.append(f"the memory of {name} grew from {memory.first.resident_bytes / 1e6:.1f} to"
                     f" {memory.last.resident_bytes / 1e6:.1f} MB in {memory.faults} faults")
    if descriptors.more_descriptors > _MOST_NEW_DESCRIPTORS:
        lines.append(f"the descriptors of {name} grew from {descriptors.first.descriptors} to"
                     f" {descriptors.last.descriptors} in {descriptors.faults} faults")
    return lines


def _processes(samples: Samples) -> list[str]:
    lines = ["| process | started | faults that the oldest one saw | its MB | its descriptors |"
             " most growth of one: MB | descriptors |", "|---|---|---|---|---|---|---|"]
    for name, lives in samples.processes().items():
        first, last = lives.longest.first, lives.longest.last
        lines.append(f"| {name} | {lives.count} | {lives.longest.faults} |"
                     f" {first.resident_bytes / 1e6:.1f} to {last.resident_bytes / 1e6:.1f} |"
                     f" {first.descriptors} to {last.descriptors} | {lives.most_bytes.more_bytes / 1e6:.1f} |"
                     f" {lives.most_descriptors.more_descriptors} |")
    return lines


def _runs(samples: Samples) -> str:
    """The runs whose measurements are added up."""
    runs = "One run" if len(samples.runs) == 1 else f"{len(samples.runs)} runs"
    at_once = f", {samples.at_once()} at a time" if samples.at_once() > 1 else ""
    return f"{runs}{at_once}, {sum(run.seconds for run in samples.runs) / 60:.0f} minutes in all."


def _disturbed(results: list[KindResult]) -> list[str]:
    count = sum(result.disturbed for result in results)
    return [f"**{count} of the faults were measured while the machine did other work, such as another run of"
            " this benchmark.**", ""] if count else []


def section(samples: Samples, picture: str | None) -> str:
    """`picture`: the path of the drawing, relative to the page."""
    results = samples.results.in_order()
    kinds = "\n".join(f"- {result.kind.name}: {result.kind.meaning}" for result in results)
    lines = ["## Failover", "", _INTRO.format(kinds=kinds), "", *facts_table(samples.facts()), "", _runs(samples), "",
             *summary(results), "", f"`{last_line(results)}`", "", *_disturbed(results)]
    for result in results:
        lines += [f"{result.kind.name}, until data comes another way:", "", "```", *histogram(result), "```", ""]
    lines += ["MB/s that arrived at the destination, headers included, means over the faults:", "",
              f"| fault | {BEFORE_S:g} s before | until data comes another way | {AFTER_S:g} s after that |",
              "|---|---|---|---|", *(f"| {result.kind.name} | {_rates(result)} |" for result in results), ""]
    if picture is not None:
        lines += [f"![MB/s around a fault]({picture})", ""]
    lines += ["Memory and descriptors, from the first fault that a process saw to its last one. Relays are restarted after"
              " most faults, ranks after each turn of a kind:", "", *_processes(samples)]
    failures = [f"- the load failed: {reason}" for result in results for reason in result.failed_runs]
    return "\n".join([*lines, "", *failures, *(f"- **{line}**" for line in missed(samples))])
