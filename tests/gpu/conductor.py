#!/usr/bin/env python3
"""Runs the passes of the GPU test inside a lab (gpu_run.py builds it) and writes everything it records to a work folder.

    conductor.py JOB.json

A pass is one set of rank processes that goes through its configurations. One that hangs or crashes is recorded with
the output of the ranks, the nodes and the kernel; a fresh set continues with the configurations after it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import diagnosis
import lab_nodes
import matrix_plan
import rank_set
from lab_nodes import NODES, CablewayNodes
from matrix_plan import Pass
from rank_set import Outcome, RankSet
from rank_settings import all_operations, collperf_command, rank_settings
from traffic_counters import difference

_HERE = Path(__file__).resolve().parent
_START_S = 120.0
_MIN_PASS_S = 25.0  # not worth starting with less
_RANK_START_S = 20.0  # to import, connect and leave; used to divide the time only
_CELL_S = 0.15  # to prepare and check a cell
_EARLY_FAVOUR = 1.3  # factor on a pass's fair share of the time: the first passes matter most
_FIRST_PORT = 29500


class Conductor:
    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.work, self.bundle = job, Path(job["work"]), Path(job["bundle"])
        self.until: float = job["until"]
        self.passes = matrix_plan.passes(job["mode"], tuple(job["configs"]) or None)
        self.ports = iter(range(_FIRST_PORT, _FIRST_PORT + 100))

    def run(self) -> None:
        self._record_kernel()
        for number, entry in enumerate(self.passes):
            left = self.until - time.monotonic()
            shares = [self._estimate(later) for later in self.passes[number:]]
            if left < _MIN_PASS_S:
                self._note("skipped", entry, list(entry.configs), detail="no time was left")
                continue
            share = min(left, max(_MIN_PASS_S, _EARLY_FAVOUR * left * shares[0] / sum(shares)))
            self._run_pass(number, entry, time.monotonic() + share)

    def _estimate(self, entry: Pass) -> float:
        """Seconds that a pass needs: its cells' budgets, or their minimum iterations on a cable."""
        plan = matrix_plan.rank_plan(entry, list(entry.configs), "nccl", "cuda", 0)
        byte_s = 8 / (self.job["rate_mbps"] * 1e6) * 1.5
        return _RANK_START_S + sum(_CELL_S + max(cell["budget_s"], cell["size"] * byte_s * cell["least"])
                                   for config in plan["configs"] for cell in config["cells"])

    def _note(self, what: str, entry: Pass, configs: list[str], **more: Any) -> None:
        note = {"note": what, "transport": entry.transport, "configs": configs}
        with open(self.work / "notes.jsonl", "a", encoding="utf-8") as notes:
            notes.write(json.dumps(note | more) + "\n")

    def _record_kernel(self) -> None:
        for node in NODES:
            text = "".join(f"$ {' '.join(words)}\n{lab_nodes.output(node, words)}" for words in (
                ["ip", "-br", "address"], ["ip", "route"], ["tc", "qdisc"], ["cat", "/proc/net/dev"]))
            (self.work / f"kernel-{node}.txt").write_text(text, encoding="utf-8")

    def _run_pass(self, number: int, entry: Pass, until: float) -> None:
        remaining, attempt = list(entry.configs), 0
        while remaining and until - time.monotonic() > _MIN_PASS_S / 2:
            folder = self.work / f"pass{number}-{entry.transport}-{attempt}"
            folder.mkdir()
            began, before = time.monotonic(), lab_nodes.all_sent_bytes()
            print(f"[{began - self.job['began']:5.0f} s] {entry.transport}: {', '.join(remaining)}", flush=True)
            outcome = self._run_set(entry, remaining, folder, until)
            started = [event["config"] for event in rank_set.read_events(folder / "rank0.jsonl")
                       if event["event"] == "config"]
            sent = {node: difference(before[node], after) for node, after in lab_nodes.all_sent_bytes().items()}
            self._note("pass", entry, remaining, folder=folder.name, outcome=outcome.kind, detail=outcome.detail,
                       seconds=round(time.monotonic() - began, 1), sent=sent)
            if outcome.kind in ("ok", "late"):
                return
            print(f"  {outcome.kind}: {outcome.detail}", flush=True)
            if not started:  # it would fail again
                return
            remaining = remaining[len(started):]
            attempt += 1

    def _run_set(self, entry: Pass, configs: list[str], folder: Path, until: float) -> Outcome:
        settings = {"CABLEWAY_RUNTIME_DIR": folder.name, "CABLEWAY_LINGER": "2", "CABLEWAY_LOG": "info"}
        routed = None
        if self.job["ranks"] == "collperf" and entry.transport == "socket":
            routed = self._routed_topology(folder)
        uses_plugin = entry.transport == "cableway" or self.job["ranks"] == "collperf"
        harness_nodes = routed is not None or (uses_plugin and not entry.plugin_starts_nodes)
        plan = matrix_plan.rank_plan(entry, configs, self.job["backend"], self.job["device"], until - 8)
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        try:
            with CablewayNodes(self.bundle, settings, folder, routed) if harness_nodes else contextlib.nullcontext():
                ranks = self._start_ranks(entry, plan, settings, folder)
                outcome = self._watch(ranks, settings, uses_plugin, folder, until)
        except RuntimeError as error:
            return Outcome("crash", str(error))
        return outcome

    def _watch(self, ranks: RankSet, settings: dict[str, str], uses_plugin: bool, folder: Path,
               until: float) -> Outcome:
        def diagnose(outcome: Outcome) -> None:
            diagnosis.write(folder, ranks, outcome, self.bundle, settings if uses_plugin else None)

        outcome = ranks.watch(self.job["stall_s"], _START_S, until, diagnose)
        if uses_plugin:
            statuses = [diagnosis.node_status(node, self.bundle, settings) for node in NODES]
            (folder / "status.txt").write_text("".join(statuses), encoding="utf-8")
        return outcome

    def _start_ranks(self, entry: Pass, plan: dict[str, Any], settings: dict[str, str], folder: Path) -> RankSet:
        port = next(self.ports)

        def environment(rank: int) -> dict[str, str]:
            return rank_settings(entry.transport, rank, NODES, port, folder, self.bundle) | settings

        def command(rank: int) -> list[str]:
            if self.job["ranks"] == "collperf":
                sizes = sorted({cell["size"] for config in plan["configs"] for cell in config["cells"]})
                return collperf_command(self.bundle, folder, all_operations([str(size) for size in sizes]))
            return [sys.executable, str(_HERE / "nccl_matrix.py"), str(folder / "plan.json"),
                    str(folder / f"rank{rank}.jsonl")]

        return RankSet(folder, command, environment)

    def _routed_topology(self, folder: Path) -> Path:
        """A topology in which every pair of nodes is joined through the kernels' forwarding."""
        pairs = [word for a in range(len(NODES)) for b in range(a + 1, len(NODES))
                 for word in ("--routed", f"{NODES[a]}-{NODES[b]}")]
        text = lab_nodes.output(NODES[0], [lab_nodes.LAB, "topology", *pairs])
        path = folder / "routed.toml"
        path.write_text(text, encoding="utf-8")
        return path


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Conductor(job).run()
    return 0


if __name__ == "__main__":
    os.environ.pop("NCCL_SOCKET_IFNAME", None)
    sys.exit(main())
