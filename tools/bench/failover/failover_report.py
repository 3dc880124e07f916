"""The text of the failover benchmark: its section of docs/benchmarks.md and its last line."""

from __future__ import annotations

from failover_measurements import AFTER_S, BEFORE_S, Failover, KindResult, percentile
from machine import facts_table

# Upper edges of the histogram's rows, in milliseconds.
_EDGES_MS = (5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
_BAR_WIDTH = 40
_MOST_GROWTH_BYTES = 8 << 20
# A node that has just been started lacks some yet: for each cable a socket for pulses, and one for a question to a kernel.
_MOST_NEW_DESCRIPTORS = 12

_INTRO = """\
`tools/bench.sh failover`: a ring of four network namespaces, cables of 500 Mbit/s. collperf sends from one node to the
opposite one (one connection, 1 MiB an operation, fresh data each time, every byte checked), so that a path through either
relay will do. The flow has one path at a time (`CABLEWAY_MULTIPATH=off`), which is ended, again and again:

{kinds}

Time: from just before the fault until 64 KiB have come over the destination's other cable within 10 ms, which is data and
not the nodes' own messages, sampled every millisecond or so. Faults are at least 1.1 s apart: a kernel that saw a link
change in the second before reports a lost carrier up to a second late. All other settings are the default."""


def missed(results: list[KindResult]) -> list[str]:
    """What must not happen and did."""
    lines = []
    for result in results:
        if result.lost:
            lines.append(f"{result.kind.name}: {result.lost} of {len(result.failovers)} faults ended or stopped the flow")
        if result.wrong_bytes:
            lines.append(f"{result.kind.name}: {result.wrong_bytes} wrong bytes")
        lines += [f"{result.kind.name}: {line}" for line in _growth(result)]
    return lines


def last_line(results: list[KindResult]) -> str:
    times = sorted(time for result in results for time in result.times_s())
    cuts, lost = (sum(counts) for counts in ((len(result.failovers) for result in results),
                                             (result.lost for result in results)))
    return f"failover: {cuts} cuts, {lost} lost, p50 {_ms(times, 50)} p99 {_ms(times, 99)}"


def _ms(times: list[float], percent: float) -> str:
    return f"{percentile(times, percent) * 1e3:.0f} ms"


def summary(results: list[KindResult]) -> list[str]:
    lines = ["| fault | faults | stuck | lost | wrong bytes | GB checked | p50 | p99 | max | seconds per fault |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for result in results:
        times, faults = result.times_s(), len(result.failovers)
        lines.append(f"| {result.kind.name} | {faults} | {result.stuck} | {result.lost} | {result.wrong_bytes} |"
                     f" {result.verified_bytes / 1e9:.2f} | {_ms(times, 50)} | {_ms(times, 99)} | {_ms(times, 100)} |"
                     f" {result.seconds / max(1, faults):.1f} |")
    return lines


def histogram(result: KindResult) -> list[str]:
    """Rows of the times from the shortest to the longest one's."""
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


def rate_between(failover: Failover, begin_s: float, end_s: float) -> float | None:
    """Bytes per second that arrived then, headers included; None without two samples."""
    inside = [sample for sample in failover.arrived if begin_s <= sample[0] <= end_s]
    if len(inside) < 2 or inside[-1][0] <= inside[0][0]:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def _rates(result: KindResult) -> tuple[str, str, str]:
    """The mean rates before a fault, from it until data comes another way, and in the time after that."""
    parts: tuple[list[float], list[float], list[float]] = ([], [], [])
    for failover in result.failovers:
        took = failover.took_s
        if took is None:
            continue
        for part, (begin, end) in zip(parts, ((-BEFORE_S, 0.0), (0.0, took), (took, took + AFTER_S))):
            if (rate := rate_between(failover, begin, end)) is not None:
                part.append(rate)
    before, meanwhile, after = (f"{sum(part) / len(part) / 1e6:.1f}" if part else "" for part in parts)
    return before, meanwhile, after


def _growth(result: KindResult) -> list[str]:
    lines = []
    for name, footprints in result.footprints.items():
        first, last = footprints[0], footprints[-1]
        if last.resident_bytes > first.resident_bytes + _MOST_GROWTH_BYTES:
            lines.append(f"the memory of {name} grew from {first.resident_bytes / 1e6:.1f} to"
                         f" {last.resident_bytes / 1e6:.1f} MB")
        if last.descriptors > first.descriptors + _MOST_NEW_DESCRIPTORS:
            lines.append(f"the descriptors of {name} grew from {first.descriptors} to {last.descriptors}")
    return lines


def _footprints(results: list[KindResult]) -> list[str]:
    lines = ["| process | " + " | ".join(f"{result.kind.name}: MB | descriptors" for result in results) + " |",
             "|---|" + "---|---|" * len(results)]
    names = list(dict.fromkeys(name for result in results for name in result.footprints))
    for name in names:
        cells = []
        for result in results:
            both = result.footprints.get(name)
            cells += [f"{both[0].resident_bytes / 1e6:.1f} to {both[-1].resident_bytes / 1e6:.1f}",
                      f"{both[0].descriptors} to {both[-1].descriptors}"] if both else ["", ""]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def section(results: list[KindResult], facts: dict[str, str], picture: str | None) -> str:
    """`picture`: the path of the drawing, relative to the page."""
    kinds = "\n".join(f"- {result.kind.name}: {result.kind.meaning}" for result in results)
    lines = ["## Failover", "", _INTRO.format(kinds=kinds), "", *facts_table(facts), "",
             *summary(results), "", f"`{last_line(results)}`", ""]
    for result in results:
        lines += [f"{result.kind.name}, until data comes another way:", "", "```", *histogram(result), "```", ""]
    lines += ["MB/s that arrived at the destination, headers included, means over the faults:", "",
              f"| fault | {BEFORE_S:g} s before | until data comes another way | {AFTER_S:g} s after that |",
              "|---|---|---|---|",
              *(f"| {result.kind.name} | " + " | ".join(_rates(result)) + " |" for result in results), ""]
    if picture is not None:
        lines += [f"![MB/s around a fault]({picture})", ""]
    lines += ["Memory and descriptors, from the first fault to the last one; killed relays, and all"
              " processes under stopped relays and silent cables, were fresh ones each time:", "",
              *_footprints(results)]
    failures = [f"- the load failed: {reason}" for result in results for reason in result.failed_runs]
    return "\n".join([*lines, "", *failures, *(f"- **{line}**" for line in missed(results))])
