"""The measurements of tools/bench.sh verbs in labs of guests, in their order. Compared cases take turns."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from guest_processes import CollperfRuns, guests, ib_write_bw, start_nodes
from relay_measurements import say
from spread import Spread

LINE_MBPS = 40
RING_MBPS = 10
MESSAGE_BYTES = 1 << 20
MESSAGES_IN_FLIGHT = 8
# An operation ends when all its data has arrived. It is long enough that filling and draining the path matter little.
OPERATION_S = 5
_SLACK_S = 120.0

# Cases on the line and on the ring.
PERFTEST, DIRECT, RELAY_1, RELAY_2 = "ib_write_bw", "direct", "1 relay", "2 relays"
ROUTER_1, ROUTER_2 = "ib_write_bw, 1 router", "ib_write_bw, 2 routers"
# Each connection has its own queue pair on every hop.
DIRECT_4, RELAY_1_4 = "direct, 4 connections", "1 relay, 4 connections"
ONE_WAY, BOTH_WAYS = "one way", "both ways"
LINE_WAYS = (PERFTEST, DIRECT, RELAY_1, RELAY_2, ROUTER_1, ROUTER_2, DIRECT_4, RELAY_1_4)


@dataclass(frozen=True)
class Plan:
    repeats: int
    seconds: int


@dataclass
class Rates:
    """Megabytes per second, by way."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, way: str, rate: float) -> None:
        self.values.setdefault(way, []).append(rate)

    def spread(self, way: str) -> Spread:
        return Spread(tuple(self.values[way]))

    def ratio(self, way: str, base: str) -> float:
        return self.spread(way).median / self.spread(base).median

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.values), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Rates:
        return Rates(json.loads(path.read_text(encoding="utf-8")))


def _options(seconds: int, rate_mbps: int, workload: str, connections: int = 1) -> list[str]:
    """Options for as many operations as a cable carries in that time."""
    operation_bytes = math.ceil(OPERATION_S * rate_mbps * 125e3 / MESSAGE_BYTES) * MESSAGE_BYTES
    return ["--workload", workload, "--sizes", str(operation_bytes), "--step-bytes", str(MESSAGE_BYTES // connections),
            "--in-flight", str(MESSAGES_IN_FLIGHT), "--channels", str(connections), "-w", "1", "--iters",
            str(max(1, seconds // OPERATION_S)), "--timeout", "60"]


def measure_line(build: Path, plan: Plan) -> Rates:
    """Measures in a lab line:4 at LINE_MBPS whose kernels forward."""
    rates, runs, nodes = Rates(), CollperfRuns(build), guests()

    def ours(relays: int, connections: int = 1) -> float:
        options = _options(plan.seconds, LINE_MBPS, "sendrecv,0-1", connections)
        return runs.megabytes_per_s(_SLACK_S + 4 * plan.seconds, ((nodes[0], nodes[relays + 1]), options))[0]

    def perftest(routers: int) -> float:
        return ib_write_bw((nodes[0], "10.7.0.1"), (nodes[routers + 1], f"10.7.{routers}.2"), plan.seconds)

    ways: dict[str, Callable[[], float]] = {
        PERFTEST: lambda: perftest(0), DIRECT: lambda: ours(0), RELAY_1: lambda: ours(1), RELAY_2: lambda: ours(2),
        ROUTER_1: lambda: perftest(1), ROUTER_2: lambda: perftest(2), DIRECT_4: lambda: ours(0, 4),
        RELAY_1_4: lambda: ours(1, 4)}
    with ExitStack() as stack:
        start_nodes(build, stack, len(nodes) - 1)
        for turn in range(plan.repeats):
            for way, run in ways.items():
                rates.add(way, run())
                say(f"{LINE_MBPS} Mbit/s, round {turn + 1}/{plan.repeats}, {way}: {rates.values[way][-1]:.3f} MB/s")
    return rates


def measure_ring(build: Path, plan: Plan) -> Rates:
    """Measures in a lab ring:4 at RING_MBPS: the mean rate of a cable, one way round and both ways at once."""
    rates, runs, nodes = Rates(), CollperfRuns(build), guests()
    options = _options(plan.seconds, RING_MBPS, "sendrecv,neighbour")
    forward, backward = (nodes, options), (list(reversed(nodes)), options)
    with ExitStack() as stack:
        start_nodes(build, stack, len(nodes))
        for turn in range(plan.repeats):
            for way, flows in ((ONE_WAY, (forward,)), (BOTH_WAYS, (forward, backward))):
                rates.add(way, sum(runs.megabytes_per_s(_SLACK_S + 4 * plan.seconds, *flows)))
                say(f"{RING_MBPS} Mbit/s, round {turn + 1}/{plan.repeats}, {way}: {rates.values[way][-1]:.3f} MB/s")
    return rates
