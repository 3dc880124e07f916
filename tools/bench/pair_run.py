"""One run of collperf between two nodes of a line of five: neighbours, through relays, or through the kernels'
forwarding. Plugin, sockets and collperf are the same every time; only the nodes between differ.

Every run starts and ends its own nodes: cablewayd, or, if the kernels forward, routed_node with a topology file, since
a node does not discover such a path. The two take turns.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench_error import BenchError
from flow_window import FlowWindow, WindowCost
from lab_processes import LabProcess, start_node, wait_for_all

NODES = ("n0", "n1", "n2", "n3", "n4")
MESSAGE_BYTES = 4 << 20
MESSAGES_IN_FLIGHT = 8
# One operation of collperf. Two are open at a time and follow each other without a gap, so 16 messages in each keep 8
# in flight throughout.
OPERATION_BYTES = 16 * MESSAGE_BYTES

WINDOW_SHARE = 0.5  # of a run's time, in which its cost is measured

_PORT = 29500
_SLACK_S = 60  # for set-up, warm-up and checks


@dataclass(frozen=True)
class Way:
    """The connection from n0 to a node further down the line."""

    hops_between: int
    forwarded: bool = False

    @property
    def receiver(self) -> str:
        return NODES[self.hops_between + 1]

    @property
    def name(self) -> str:
        if self.hops_between == 0:
            return "direct"
        kind = "router" if self.forwarded else "relay"
        return f"{self.hops_between} {kind}{'s' if self.hops_between > 1 else ''}"


@dataclass(frozen=True)
class Placement:
    """The CPUs of the processes, in taskset(1)'s syntax; empty for any."""

    name: str
    endpoints: str = ""
    between: str = ""


SHARED = Placement("all share the CPUs")


def apart() -> Placement | None:
    """Endpoints, of which only one is active at a time, on one CPU, and the nodes between on the others, so that these
    have a free CPU, as on a dedicated host. None if there is only one CPU."""
    first, *others = sorted(os.sched_getaffinity(0))
    if not others:
        return None
    return Placement("endpoints on one CPU, the rest on the others", str(first), ",".join(map(str, others)))


@dataclass(frozen=True)
class Builds:
    """Where the programs are."""

    folder: Path

    @property
    def daemon(self) -> Path:
        return self.folder / "bin/cablewayd"

    @property
    def routed_node(self) -> Path:
        return self.folder / "bin/routed_node"

    @property
    def collperf(self) -> Path:
        return self.folder / "bin/collperf"

    @property
    def plugin(self) -> Path:
        return self.folder / "lib/libnccl-net-cableway.so"

    def check(self) -> None:
        needed = (self.daemon, self.routed_node, self.collperf, self.plugin)
        missing = [str(path) for path in needed if not path.exists()]
        if missing:
            raise BenchError(f"not built: {', '.join(missing)}; build with: cmake --build {self.folder}")


@dataclass(frozen=True)
class Outcome:
    gigabytes_per_s: float
    p50_us: float
    cost: WindowCost | None


class PairRunner:
    """Runs pairs in the current lab, whose kernels forward."""

    def __init__(self, builds: Builds, scratch: Path, settings: dict[str, str] | None = None) -> None:
        """`settings`: further variables of nodes and ranks."""
        self._builds, self._scratch, self._settings = builds, scratch, settings or {}
        self._address = self._lab("exec", "n0", "--", "printenv", "LAB_NODE_ADDRESS").strip()

    def throughput(self, way: Way, seconds: float, idle_us: int, idle_rate: float | None = None) -> Outcome:
        """At least `seconds` of messages one way. With an idle_rate (see FlowWindow), also measures the cost."""
        # As many operations as a cable of 1 Gbit/s carries in that time: there, one uninterrupted stream. On a faster
        # one collperf adds batches until the time has passed, and each waits for the previous one to drain.
        operations = math.ceil(seconds * 125e6 / OPERATION_BYTES)
        arguments = ["--workload", "sendrecv,0-1", "--sizes", str(OPERATION_BYTES), "--step-bytes", str(MESSAGE_BYTES),
                     "--in-flight", str(MESSAGES_IN_FLIGHT), "-w", "1", "--iters", str(operations),
                     "--seconds", str(seconds), "--idle-us", str(idle_us)]
        return self._run(way, SHARED, arguments, seconds, idle_rate)

    def latency(self, way: Way, placement: Placement, seconds: float, idle_us: int) -> Outcome:
        """At least `seconds` of round trips of 8 bytes."""
        arguments = ["--workload", "pingpong,0-1", "--sizes", "8", "-w", "200", "--iters", "500",
                     "--seconds", str(seconds), "--idle-us", str(idle_us)]
        return self._run(way, placement, arguments, seconds, None)

    def _run(self, way: Way, placement: Placement, arguments: list[str], seconds: float,
             idle_rate: float | None) -> Outcome:
        environment = {"CABLEWAY_LOG": "warning"} | self._settings
        nodes, command = NODES[:way.hops_between + 2], [str(self._builds.daemon)]
        if way.forwarded:
            nodes, command = ("n0", way.receiver), [str(self._builds.routed_node), str(self._routed_topology(way))]
        with ExitStack() as stack:
            daemons = {}
            for node in nodes:
                daemons[node] = start_node(node, command, environment, placement.between)
                stack.callback(daemons[node].stop)
            ranks = []
            for rank, node in enumerate(("n0", way.receiver)):
                ranks.append(LabProcess(node, self._command(rank, arguments), environment, placement.endpoints))
                stack.callback(ranks[-1].stop)
            window = None
            if idle_rate is not None:
                processes = {"sender": ranks[0].pid, "receiver": ranks[1].pid}
                processes |= {f"relay {node}": daemons[node].pid for node in nodes[1:-1]}
                window = FlowWindow(ranks[1].pid, processes, seconds * WINDOW_SHARE, idle_rate)
            wait_for_all(ranks, _SLACK_S + 4 * seconds, window.poll if window else lambda: None)
        if window and window.cost is None:
            raise BenchError(f"{way.name}: the flow ended before its cost was measured: the machine may be overloaded")
        return self._outcome(way, window.cost if window else None)

    def _command(self, rank: int, arguments: list[str]) -> list[str]:
        return [str(self._builds.collperf), "--plugin", str(self._builds.plugin), "--rank", str(rank), "--ranks", "2",
                "--rendezvous", f"{self._address}:{_PORT}", "--channels", "1",
                "--json", str(self._scratch / "result.json"), *arguments]

    def _outcome(self, way: Way, cost: WindowCost | None) -> Outcome:
        report = json.loads((self._scratch / "result.json").read_text(encoding="utf-8"))
        if not report["ok"] or not report["bytes_verified"]:
            raise BenchError(f"{way.name}: {report['wrong']} bytes wrong of {report['bytes_verified']} verified")
        result = report["results"][0]
        return Outcome(result["algbw_GBps"], result["p50_us"], cost)

    def _routed_topology(self, way: Way) -> Path:
        path = self._scratch / f"routed-{way.receiver}.toml"
        if not path.exists():
            path.write_text(self._lab("topology", "--routed", f"n0-{way.receiver}"), encoding="utf-8")
        return path

    @staticmethod
    def _lab(*arguments: str) -> str:
        done = subprocess.run(["lab", *arguments], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise BenchError(f"lab {' '.join(arguments)} failed: {done.stderr.strip()}")
        return done.stdout


def unshape_cables() -> None:
    """Removes the rate limit of every cable of the line."""
    for here, there in zip(NODES, NODES[1:]):
        done = subprocess.run(["lab", "shape", f"{here}-{there}", "--rate", "none"], capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode != 0:
            raise BenchError(f"cannot unshape cable {here}-{there}: {done.stderr.strip()}")
