"""The results of the verbs benchmark as text: a section of docs/benchmarks.md, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from machine import facts_table
from verbs_measurements import (BOTH_WAYS, DIRECT, LINE_MBPS, LINE_WAYS, MESSAGE_BYTES, MESSAGES_IN_FLIGHT, ONE_WAY,
                                OPERATION_S, PERFTEST, RELAY_1, RELAY_2, RING_MBPS, Plan, Rates)


@dataclass(frozen=True)
class Goal:
    what: str
    found: float
    least: float

    @property
    def met(self) -> bool:
        return self.found >= self.least

    def row(self) -> str:
        return f"| {self.what} | {self.found:.3f} | >= {self.least} | {'met' if self.met else '**missed**'} |"


def goals(line: Rates, ring: Rates) -> list[Goal]:
    return [Goal("direct / ib_write_bw", line.ratio(DIRECT, PERFTEST), 0.97),
            Goal("through 1 relay / direct", line.ratio(RELAY_1, DIRECT), 0.98),
            Goal("through 2 relays / direct", line.ratio(RELAY_2, DIRECT), 0.97),
            Goal("all cables of a ring both ways / twice one way", ring.ratio(BOTH_WAYS, ONE_WAY) / 2, 0.95)]


def missed_goals(line: Rates, ring: Rates) -> list[str]:
    return [f"MISSED: {goal.what} is {goal.found:.4f}; the goal is >= {goal.least}"
            for goal in goals(line, ring) if not goal.met]


def ratio_line(line: Rates) -> str:
    return (f"verbs: {line.ratio(DIRECT, PERFTEST):.3f} {line.ratio(RELAY_1, DIRECT):.3f}"
            f" {line.ratio(RELAY_2, DIRECT):.3f}")


def _table(rates: Rates, ways: tuple[str, ...], head: str) -> str:
    lines = [f"| {head} | MB/s, median | min..max | / {ways[0]} |", "|---|---|---|---|"]
    for way in ways:
        spread = rates.spread(way)
        lines.append(f"| {way} | {spread.median:.3f} | {spread.range_text('.3f')} | {rates.ratio(way, ways[0]):.3f} |")
    return "\n".join(lines)


def _method(plan: Plan) -> str:
    return f"""\
`tools/bench.sh verbs`: nodes are emulated machines with the kernel's soft-RoCE (tools/lab/softroce), with
`CABLEWAY_TRANSPORT=verbs`; the cable is the limit, not the emulated CPU. Cableway: collperf on the plugin, messages of
{MESSAGE_BYTES >> 20} MiB, {MESSAGES_IN_FLIGHT} in flight, one connection, which is one queue pair on each hop, operations of {OPERATION_S} s after one to
warm up, the last one checked byte by byte; with 4 connections, messages of a quarter.
ib_write_bw: perftest's writes of 64 KiB; to more distant nodes it uses the kernels' IP forwarding, on one queue
pair end to end. Some {plan.seconds} s each; medians over {plan.repeats} round(s) in which all cases take turns."""


_RING_METHOD = """\
Each node sends to the next, and then also to the previous one. The mean rate of a cable, over all four."""


def section_text(line: Rates, ring: Rates, facts: dict[str, str], plan: Plan) -> str:
    verdicts = ["| what | result | goal | |", "|---|---|---|---|", *(goal.row() for goal in goals(line, ring))]
    return "\n\n".join(["## RDMA hops, on soft-RoCE", _method(plan), "\n".join(facts_table(facts)), "\n".join(verdicts),
                        f"### A line of four, cables of {LINE_MBPS} Mbit/s", _table(line, LINE_WAYS, "from the first node"),
                        f"### A ring of four, cables of {RING_MBPS} Mbit/s", _RING_METHOD,
                        _table(ring, (ONE_WAY, BOTH_WAYS), "on every cable")])
