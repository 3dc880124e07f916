"""What the demo runs: collperf as one rank per node, once per operation and size."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo_failure import DemoFailure
from lab_nodes import LAB_DIR, LabNodes
from programs import Programs

_PORT = 29500
_SMALL_BYTES = 64 << 10
_LARGE_BYTES = 8 << 20
_CABLE_S = 0.068  # the longest time for which the larger size may keep the slowest cable busy
_MEASURED_S = "0.3"
_NETWORK_S = "20"  # collperf's own limit: for ranks to join, to connect, and to make progress
_RUN_S = 120.0
_ERROR_LINES = 12


@dataclass(frozen=True)
class Operation:
    name: str
    variant: str = ""

    @property
    def title(self) -> str:
        return f"{self.name} {self.variant}".strip()

    @property
    def workload(self) -> str:
        """As collperf takes it."""
        return f"{self.name},{self.variant}".rstrip(",")


def operations() -> list[Operation]:
    return [
        Operation("all_reduce", "ring"),
        Operation("all_reduce", "tree"),
        Operation("all_gather"),
        Operation("reduce_scatter"),
        Operation("broadcast"),
        Operation("all_to_all"),
        Operation("sendrecv", "opposite"),
    ]


def choose_sizes(slowest_mbps: int) -> list[int]:
    """A small and a large size, smaller where a cable is slow."""
    fitting = int(slowest_mbps * 1e6 / 8 * _CABLE_S)
    large = min(_LARGE_BYTES, 1 << (fitting.bit_length() - 1))
    return [_SMALL_BYTES, large] if large > _SMALL_BYTES else [large]


def rank_command(nodes: LabNodes, programs: Programs, rank: int, names: list[str]) -> list[str | Path]:
    """The collperf command of one rank on the nodes `names`, without its operation."""
    return [programs.collperf, "--plugin", programs.plugin, "--rank", str(rank), "--ranks", str(len(names)),
            "--rendezvous", f"{nodes.management_address(names[0])}:{_PORT}", "--timeout", _NETWORK_S]


def output_path(rank: int) -> Path:
    return LAB_DIR / f"collperf-{rank}.log"


def show_errors(names: list[str], ranks: list[int]) -> None:
    """Shows the last lines of each rank's output: the plugin's warnings, and collperf's errors."""
    for rank in ranks:
        lines = output_path(rank).read_text(encoding="utf-8", errors="replace").splitlines()
        for line in lines[-_ERROR_LINES:]:
            print(f"{names[rank]} | {line}")


def run_operation(nodes: LabNodes, programs: Programs, operation: Operation, size: int) -> dict[str, Any]:
    """Runs one operation at one size with all bytes checked; returns collperf's result. Raises DemoFailure when a rank
    fails."""
    report = LAB_DIR / "collperf.json"
    report.unlink(missing_ok=True)
    options = ["--workload", operation.workload, "--sizes", str(size), "-w", "1", "--iters", "2",
               "--seconds", _MEASURED_S]
    ranks = []
    for rank, node in enumerate(nodes.names):
        extra = ["--json", report] if rank == 0 else []
        with open(output_path(rank), "wb") as output:
            command = [*rank_command(nodes, programs, rank, nodes.names), *options, *extra]
            ranks.append(nodes.start(node, command, stdout=output, stderr=subprocess.STDOUT))
    _wait(nodes, operation, ranks)
    result: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))["results"][0]
    return result


def _wait(nodes: LabNodes, operation: Operation, ranks: list[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + _RUN_S
    late = []
    for rank, process in enumerate(ranks):
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            late.append(rank)
    failed = [rank for rank, process in enumerate(ranks) if process.returncode != 0]
    if not failed:
        return
    show_errors(nodes.names, failed)
    names = ", ".join(nodes.names[rank] for rank in late or failed)
    how = f"did not end within {_RUN_S:g} s" if late else "failed; what it said is above"
    raise DemoFailure(f"{operation.title}: collperf in {names} {how}")
