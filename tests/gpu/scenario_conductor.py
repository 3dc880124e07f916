#!/usr/bin/env python3
"""Runs one scenario inside a lab (scenario_run.py builds it) and writes everything it records to a work folder.

    scenario_conductor.py JOB.json

A Cableway node runs in every node of the lab throughout. Stages run one after another, the jobs of a stage at the same
time. After each stage no node may have a circuit left.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import diagnosis
import lab_nodes
import rank_set
import scenario_plan
from faults import Faults
from lab_nodes import CablewayNodes
from rank_set import Outcome, RankSet
from rank_settings import all_operations, collperf_command, rank_settings
from scenario_plan import RankJob
from traffic_counters import difference

_HERE = Path(__file__).resolve().parent
_START_S = 60.0  # until the first cell, imports and the first communicator included
_MIN_JOB_S = 15.0
_TO_END_S = 6.0  # from the ranks' own end of time to the conductor's
_STAGE_FAVOUR = 1.4  # factor on a stage's equal share of the time that is left
_FIRST_PORT = 29500
_STOP_FILE = "stop"
_FLOWS_GONE_S = 5.0
_FLOWS_EVERY_S = 0.7
_ADVICE_S = 10.0
_OF_SPLIT_PORTS = "NCCL_NCHANNELS_PER_NET_PEER"  # `cableway env` prints it where plugs are split


class ScenarioConductor:
    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.work, self.bundle = job, Path(job["work"]), Path(job["bundle"])
        self.scenario = scenario_plan.SCENARIOS[job["scenario"]]
        self.nodes = [f"n{index}" for index in range(self.scenario.nodes)]
        self.settings = {"CABLEWAY_RUNTIME_DIR": f"scenario-{self.scenario.name}", "CABLEWAY_LOG": "info"}
        self.cableway_nodes = CablewayNodes(self.bundle, self.settings, self.work, nodes=self.nodes)
        self.ports = iter(range(_FIRST_PORT, _FIRST_PORT + 100))
        self.failed = False
        self._notes_lock = threading.Lock()

    def run(self) -> None:
        try:
            with self.cableway_nodes:
                self._run_stages()
        except RuntimeError as error:
            self._note("broken", detail=str(error))

    def _run_stages(self) -> None:
        stages = [stage for stage in self.scenario.stages if not all(job.reference for job in stage)]
        references = [stage for stage in self.scenario.stages if stage not in stages]
        for number, stage in enumerate(stages):
            self._run_stage(stage, self._share(len(stages) - number))
        for number, stage in enumerate(references if self.failed else []):
            self._run_stage(stage, self._share(len(references) - number))

    def _share(self, stages_left: int) -> float:
        """When the next stage must have ended."""
        left = self.job["until"] - time.monotonic()
        return time.monotonic() + (left if stages_left == 1 else min(left, _STAGE_FAVOUR * left / stages_left))

    def _note(self, what: str, **more: Any) -> None:
        with self._notes_lock, open(self.work / "notes.jsonl", "a", encoding="utf-8") as notes:
            notes.write(json.dumps({"note": what} | more) + "\n")

    def _run_stage(self, stage: tuple[RankJob, ...], until: float) -> None:
        names = " and ".join(job.name for job in stage)
        if self.job["ranks"] == "collperf" and not stage[0].runs_dry():
            self._note("skipped", jobs=[job.name for job in stage], detail="needs a GPU: not a part of a dry run")
            return
        if until - time.monotonic() < _MIN_JOB_S:
            self._note("skipped", jobs=[job.name for job in stage], detail="no time was left")
            return
        print(f"[{time.monotonic() - self.job['began']:5.0f} s] {self.scenario.name}: {names}", flush=True)
        ended = threading.Event()
        with ThreadPoolExecutor(len(stage) + 1) as pool:
            most = pool.submit(self._max_flows, ended) if self.scenario.watch_flows else None
            ready = [str(self.work / f"{job.name}.ready") for job in stage]
            for done in [pool.submit(self._run_job, job, ready[at:] + ready[:at] if len(ready) > 1 else [], until)
                         for at, job in enumerate(stage)]:
                done.result()
            ended.set()
        left = self._flows_left()
        self._note("flows", after=names, most=most.result() if most else None, left=left)
        self.failed = self.failed or bool(left)

    def _run_job(self, job: RankJob, together: list[str], until: float) -> None:
        """Runs a job. If its ranks fail, continues with the configurations after the failed one, if there are any."""
        plan = scenario_plan.stage_plan(job, self.job["backend"], self.job["device"], until - _TO_END_S)
        plan["together"] = together
        attempt = 0
        while until - time.monotonic() > _MIN_JOB_S / 2:
            folder = self.work / f"{job.name}-{attempt}"
            folder.mkdir()
            plan["stop_file"] = str(folder / _STOP_FILE)
            (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
            began, before = time.monotonic(), lab_nodes.all_sent_bytes(self.nodes)
            outcome = self._run_ranks(job, plan, folder, until)
            sent = {node: difference(before[node], now) for node, now in lab_nodes.all_sent_bytes(self.nodes).items()}
            self._note("pass", job=job.name, transport=job.transport, folder=folder.name, outcome=outcome.kind,
                       configs=[config["name"] for config in plan.get("configs", [])], detail=outcome.detail,
                       seconds=round(time.monotonic() - began, 1), sent=sent)
            if outcome.kind in ("ok", "late"):
                return
            self.failed = self.failed or not job.reference
            print(f"  {job.name}: {outcome.kind}: {outcome.detail}", flush=True)
            started = sum(event["event"] == "config" for event in rank_set.read_events(folder / "rank0.jsonl"))
            plan = plan | {"configs": plan.get("configs", [])[started:]}
            if not started or not plan["configs"]:
                return
            attempt += 1

    def _run_ranks(self, job: RankJob, plan: dict[str, Any], folder: Path, until: float) -> Outcome:
        port, nodes = next(self.ports), job.nodes()
        advised = self._advised() if job.advised else {}

        def environment(rank: int) -> dict[str, str]:
            own = rank_settings(job.transport, rank, nodes, port, folder, self.bundle, job.preset)
            return advised | own | self.settings | job.settings

        def command(rank: int) -> list[str]:
            if self.job["ranks"] == "collperf":
                work = job.collperf or all_operations([str(size) for size in scenario_plan.SIZES],
                                                      advised.get("NCCL_MIN_NCHANNELS", "1"))
                return collperf_command(self.bundle, folder, work)
            return [sys.executable, str(_HERE / job.program), str(folder / "plan.json"),
                    str(folder / f"rank{rank}.jsonl")]

        ranks = RankSet(folder, command, environment, nodes, {} if self.job["ranks"] == "collperf" else job.exits)

        def diagnose(outcome: Outcome) -> None:
            if outcome.kind == "hang":
                diagnosis.write_threads(folder, ranks, self.job["debugger"])
            diagnosis.write(folder, ranks, outcome, self.bundle, self.settings)

        with self._faults(job, folder):
            return ranks.watch(self.job["stall_s"], _START_S, until, diagnose)

    def _faults(self, job: RankJob, folder: Path) -> contextlib.AbstractContextManager[Any]:
        if job.faults is None:
            return contextlib.nullcontext()

        def record(note: str, **fields: Any) -> None:
            self._note(note, job=job.name, **({"fault": fields} if note == "fault" else fields))

        def status(node: str) -> str:
            return lab_nodes.output(node, [str(self.bundle / "bin" / "cableway"), "status", "--json"], self.settings)

        return Faults(job.faults, self.cableway_nodes, self.nodes, status, record, folder / _STOP_FILE)

    def _advised(self) -> dict[str, str]:
        """NCCL's settings that `cableway env` prints once a node knows its split ports; a rank's own win over them."""
        command = [str(self.bundle / "bin" / "cableway"), "env", "--json"]
        until = time.monotonic() + _ADVICE_S
        while True:
            text = lab_nodes.output(self.nodes[0], command, self.settings)
            variables = json.loads(text)["variables"] if text.startswith("{") else {}
            if _OF_SPLIT_PORTS in variables:
                return {name: value for name, value in variables.items() if name.startswith("NCCL_")}
            if time.monotonic() > until:
                raise RuntimeError(f"cableway env has no {_OF_SPLIT_PORTS} after {_ADVICE_S:g} s: {text[:200]}")
            time.sleep(_FLOWS_EVERY_S)

    def _flows(self) -> dict[str, int]:
        """The number of circuits through each node; -1 if it does not answer."""
        found = {}
        for node in self.nodes:
            text = lab_nodes.output(node, [str(self.bundle / "bin" / "cableway"), "flows", "--json"], self.settings)
            try:
                view = json.loads(text)
                found[node] = len(view["circuits"]) + view["circuits_left_out"]
            except (ValueError, KeyError, TypeError):
                found[node] = -1
        return found

    def _max_flows(self, ended: threading.Event) -> dict[str, int]:
        """The maximum number of circuits of each node until the event is set."""
        most = dict.fromkeys(self.nodes, 0)
        while not ended.wait(_FLOWS_EVERY_S):
            most = {node: max(most[node], count) for node, count in self._flows().items()}
        return most

    def _flows_left(self) -> dict[str, int]:
        """The nodes that still have circuits some time after all ranks have ended."""
        until = time.monotonic() + _FLOWS_GONE_S
        while left := {node: count for node, count in self._flows().items() if count != 0}:
            if time.monotonic() > until:
                break
            time.sleep(_FLOWS_EVERY_S)
        return left


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with contextlib.suppress(KeyboardInterrupt):
        ScenarioConductor(job).run()
    return 0


if __name__ == "__main__":
    os.environ.pop("NCCL_SOCKET_IFNAME", None)
    sys.exit(main())
