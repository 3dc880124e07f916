#!/usr/bin/env python3
"""Tests of the harness of the GPU test's scenarios that need no GPU: plans, arguments, verdicts, results, report."""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

import diagnosis
import nccl_library
import report
import scenario_plan
import scenario_report
import scenario_results
import scenario_run
import scenario_verdict
from matrix_plan import RATIO_SIZE
from rank_settings import rank_settings
from scenario_plan import ALL_OPERATIONS, ORDER_SIZE, SCENARIOS, SIZES
from scenario_verdict import FAILED, INCOMPLETE, PASSED

_HERE = Path(__file__).resolve().parent
DDP_STEPS = SCENARIOS["ddp"].stages[0][0].plan["steps"]


def _jobs(name: str) -> dict[str, scenario_plan.RankJob]:
    return {job.name: job for stage in SCENARIOS[name].stages for job in stage}


class Plans(unittest.TestCase):
    def test_rings_cover_every_operation_with_every_protocol(self) -> None:
        for name, ranks in (("ring6", 6), ("ring8", 8)):
            (job,) = _jobs(name).values()
            self.assertEqual(job.nodes(), [f"n{index}" for index in range(ranks)])
            cells = {(config["name"], cell["op"], cell["size"]) for config in job.plan["configs"]
                     for cell in config["cells"]}
            for protocol in ("ll", "ll128", "simple"):
                for size in SIZES:
                    self.assertIn((f"tree-{protocol}", "all_reduce", size), cells)
                    for operation in ALL_OPERATIONS:
                        self.assertIn((f"ring-{protocol}", operation, size), cells)
            self.assertEqual(scenario_plan.planned_cells(job), len(cells))

    def test_orders_have_every_node_once_and_begin_at_the_store(self) -> None:
        for scenario in SCENARIOS.values():
            for job in (job for stage in scenario.stages for job in stage):
                self.assertEqual(sorted(job.order), list(range(scenario.nodes)), job.name)
                self.assertEqual(job.order[0], 0, job.name)
        self.assertNotEqual(_jobs("against")["against"].order, _jobs("against")["cable-order"].order)

    def test_programs_exist_and_job_names_are_unique(self) -> None:
        for scenario in SCENARIOS.values():
            jobs = [job for stage in scenario.stages for job in stage]
            self.assertEqual(len({job.name for job in jobs}), len(jobs))
            for job in jobs:
                self.assertTrue((_HERE / job.program).exists(), job.program)

    def test_expected_times_fit_the_deadlines(self) -> None:
        self.assertLess(sum(SCENARIOS[name].expected_s for name in scenario_plan.DEFAULT), 420)
        for scenario in SCENARIOS.values():
            self.assertLess(scenario.expected_s, scenario.deadline_s)

    def test_forced_choices(self) -> None:
        self.assertEqual(scenario_plan.forced_choice("ring-ll128"), "RING/LL128/")
        self.assertFalse("RING/LL128/2ch".startswith(scenario_plan.forced_choice("ring-ll") or "?"))
        self.assertEqual(scenario_plan.forced_choice("pat"), "PAT/SIMPLE/")
        self.assertIsNone(scenario_plan.forced_choice("default"))

    def test_ddp_jobs_differ_in_the_transport_only(self) -> None:
        ours, theirs = _jobs("ddp").values()
        self.assertEqual((ours.plan, ours.settings, ours.order), (theirs.plan, theirs.settings, theirs.order))
        settings = [rank_settings(job.transport, 1, job.nodes(), 1, Path("f"), Path("b")) for job in (ours, theirs)]
        differing = {key for key in settings[0] | settings[1] if settings[0].get(key) != settings[1].get(key)}
        self.assertEqual(differing, {"NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_NET_PLUGIN_REF_COUNT", "NCCL_SOCKET_IFNAME"})

    def test_the_disturbed_training_differs_in_its_faults_only(self) -> None:
        jobs = _jobs("failover")
        disturbed, undisturbed = jobs["disturbed"], jobs["undisturbed"]
        self.assertEqual((disturbed.plan, disturbed.settings, disturbed.order, disturbed.transport),
                         (undisturbed.plan, undisturbed.settings, undisturbed.order, undisturbed.transport))
        self.assertIsNone(undisturbed.faults)
        assert disturbed.faults is not None
        self.assertTrue(disturbed.faults.cuts)
        for name in ("opposite", "against", "disturbed"):
            self.assertEqual(jobs[name].faults.kills, 2, name)
            self.assertTrue(jobs[name].collperf, name)

    def test_multipath_jobs_differ_in_paths_and_transport_only(self) -> None:
        off, every, socket = _jobs("multipath").values()
        self.assertEqual([job.settings.get("CABLEWAY_MULTIPATH") for job in (off, every, socket)], ["off", "all", None])
        self.assertEqual([job.settings.get("NCCL_MIN_NCHANNELS") for job in (off, every, socket)], ["4"] * 3)
        for job in (every, socket):
            self.assertEqual((job.plan, job.order, job.program), (off.plan, off.order, off.program))
        self.assertEqual([job.runs_dry() for job in (off, every, socket)], [True, True, False])
        operations = {(config["name"], cell["op"]) for config in off.plan["configs"] for cell in config["cells"]
                      if cell["size"] == RATIO_SIZE}
        self.assertLessEqual(set(scenario_verdict.MULTIPATH_GOALS), operations)
        self.assertNotIn("multipath", scenario_plan.DEFAULT)

    def test_gloo_runs_a_part_and_nccl_all(self) -> None:
        job = _jobs("two")["groups"]
        self.assertEqual(scenario_plan.stage_plan(job, "nccl", "cuda", 1.0)["cells"], job.plan["cells"])
        on_gloo = {cell["op"] for cell in scenario_plan.stage_plan(job, "gloo", "cpu", 1.0)["cells"]}
        self.assertEqual(on_gloo, {"all_reduce", "broadcast", "all_to_all", "opposite"})

    def test_labs(self) -> None:
        self.assertEqual(SCENARIOS["ring6"].lab_spec(2000), ["ring:6", "--rate", "2000mbit", "--forwarding"])
        self.assertEqual(SCENARIOS["twins"].lab_spec(1000)[:3], ["twins:4", "--rate", "1000mbit"])


class Arguments(unittest.TestCase):
    def _refused(self, *words: str) -> str:
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit):
            scenario_run.arguments_of(list(words))
        return errors.getvalue()

    def test_errors_list_the_alternatives(self) -> None:
        self.assertIn("no scenario 'ring5'; there are all, ring6", self._refused("--scenario", "ring6,ring5"))
        self.assertIn("none is named", self._refused("--scenario", ","))
        self.assertIn("make it with tests/gpu/pack.sh", self._refused("--scenario", "two", "--bundle", "/nowhere"))

    def test_all_and_a_list(self) -> None:
        with tempfile.TemporaryDirectory() as bundle:
            for name in ("lib/libnccl-net-cableway.so", "bin/cablewayd", "bin/cableway", "tools/ip", "tools/tc"):
                path = Path(bundle, name)
                path.parent.mkdir(exist_ok=True)
                path.touch()
            words = ["--bundle", bundle, "--scenario"]
            self.assertEqual(scenario_run.arguments_of([*words, "all"]).names, list(scenario_plan.DEFAULT))
            self.assertEqual(scenario_run.arguments_of([*words, "two,ring6,two"]).names, ["two", "ring6"])


def _cell(config: str, operation: str, **more: Any) -> dict[str, Any]:
    return {"transport": "cableway", "config": config, "op": operation, "size_bytes": 8, "busbw_GBps": 0.2, "wrong": 0,
            "checked_bytes": 10, "chosen": []} | more


def _job(job: scenario_plan.RankJob, outcome: str = "ok", **more: Any) -> dict[str, Any]:
    return {"job": job.name, "program": job.program, "transport": job.transport, "order": list(job.order),
            "reference": job.reference, "planned_cells": 0, "planned_steps": job.plan.get("steps", 0), "errors": [],
            "attempts": [{"outcome": outcome, "detail": "what was seen", "seconds": 1.0}]} | more


def _result(name: str, *jobs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "nodes": SCENARIOS[name].nodes, "rate_mbps": 2000, "seconds": 3.0, "machine": {},
            "jobs": list(jobs), "flows": [], "skipped": [], "broken": [], "proof": {}} | more


def _judged(result: dict[str, Any]) -> dict[str, Any]:
    found = scenario_verdict.judge(result)
    return result | {"status": found.status(), "findings": found.lines()}


class SplitPortsVerdict(unittest.TestCase):
    def _verdict(self, first: int, second: int, name: str = "around") -> scenario_verdict.Findings:
        job = _jobs("twins")[name]
        done = _job(job, cells=[_cell("default", "all_reduce")], planned_cells=1)
        done["attempts"][0]["sent"] = {"n0": {"mg0": 7, "to-w0": first, "to-w0-2": second}}
        return scenario_verdict.judge(_result("twins", done))

    def test_both_functions_send_equally(self) -> None:
        self.assertEqual(self._verdict(1000, 901).status(), PASSED)
        self.assertEqual(self._verdict(899, 1000).status(), FAILED)
        self.assertEqual(self._verdict(0, 1000).status(), FAILED)
        self.assertEqual(self._verdict(1000, 901, "pairs").status(), PASSED)
        self.assertEqual(self._verdict(0, 1000, "pairs").status(), FAILED)

    def test_a_lab_without_split_ports_proves_nothing(self) -> None:
        job = _jobs("twins")["around"]
        done = _job(job, cells=[_cell("default", "all_reduce")], planned_cells=1)
        self.assertEqual(scenario_verdict.judge(_result("twins", done)).status(), FAILED)


class MatrixVerdict(unittest.TestCase):
    def _status(self, outcome: str = "ok", planned: int = 1, flows: list[Any] | None = None, **cell: Any) -> str:
        job = _job(_jobs("ring6")["cable-order"], outcome, planned_cells=planned,
                   cells=[_cell("ring-ll", "all_reduce", **cell)])
        return scenario_verdict.judge(_result("ring6", job, flows=flows or [])).status()

    def test_passes_and_fails(self) -> None:
        self.assertEqual(self._status(chosen=["RING/LL/2ch"]), PASSED)
        self.assertEqual(self._status(chosen=["RING/LL128/2ch"]), FAILED)
        self.assertEqual(self._status(wrong=1), FAILED)
        self.assertEqual(self._status("hang"), FAILED)
        self.assertEqual(self._status("crash"), FAILED)
        self.assertEqual(self._status("late"), INCOMPLETE)
        self.assertEqual(self._status(planned=2), INCOMPLETE)

    def test_flows_that_stay_fail(self) -> None:
        for left, status in (({}, PASSED), ({"n1": 2}, FAILED), ({"n1": -1}, FAILED)):
            self.assertEqual(self._status(flows=[{"after": "x", "most": {"n1": 3}, "left": left}]), status)
        self.assertEqual(self._status(flows=[{"after": "x", "most": {"n1": 0}, "left": {}}]), INCOMPLETE)

    def test_no_results_do_not_pass(self) -> None:
        self.assertEqual(scenario_verdict.judge(_result("ring6")).status(), INCOMPLETE)
        job = _job(_jobs("ring6")["cable-order"])
        self.assertEqual(scenario_verdict.judge(_result("ring6", job)).status(), FAILED)
        self.assertEqual(scenario_verdict.judge(_result("ring6", broken=["no lab"])).status(), FAILED)

    def test_orders_are_compared_at_one_size(self) -> None:
        jobs = [_job(job, cells=[_cell("default", "all_reduce", size_bytes=ORDER_SIZE, busbw_GBps=busbw),
                                 _cell("default", "all_reduce", size_bytes=8, busbw_GBps=9.0)])
                for job, busbw in zip(_jobs("against").values(), (0.2, 0.15))]
        result = _result("against", *jobs)
        self.assertAlmostEqual(scenario_verdict.order_ratios(result)["all_reduce"], 0.75)
        self.assertIn("FAILED: busbw against / in cable order, all_reduce of 16 MiB: 0.750",
                      scenario_verdict.judge(result).lines())


class TwoVerdict(unittest.TestCase):
    def _status(self, second_began: float, wrong: int = 0) -> str:
        worked = [{"rank": rank, "config": f"group{lane}", "began": lane * second_began,
                   "ended": lane * second_began + 4} for rank in range(4) for lane in range(2)]
        job = _job(_jobs("two")["groups"], worked=worked, checked={"operations": 3, "bytes": 9, "wrong": wrong})
        return scenario_verdict.judge(_result("two", job)).status()

    def test_groups_must_overlap(self) -> None:
        self.assertEqual(self._status(1.0), PASSED)
        self.assertEqual(self._status(3.0), INCOMPLETE)
        self.assertEqual(self._status(1.0, wrong=1), FAILED)

    def test_jobs_must_overlap(self) -> None:
        jobs = _jobs("two")
        for began, status in ((2.0, PASSED), (9.0, INCOMPLETE)):
            pair = [_job(jobs[name], cells=[_cell("default", "reduce")], span=span)
                    for name, span in (("first-job", [0.0, 8.0]), ("second-job", [began, began + 8.0]))]
            self.assertEqual(scenario_verdict.judge(_result("two", *pair)).status(), status)


class AbortVerdict(unittest.TestCase):
    CHECKED = {"operations": 1, "bytes": 4, "wrong": 0}

    def _aborted(self, step: str, ranks: int, **more: Any) -> list[dict[str, Any]]:
        return [{"rank": rank, "config": step, "seconds": 0.4, "stream_s": 0.1, "ok": True, "code": "0"} | more
                for rank in range(ranks)]

    def _abort(self, **more: Any) -> str:
        fields = {"aborted": self._aborted("inside", 4) + self._aborted("connecting", 4), "checked": self.CHECKED,
                  "inside": [{"rank": 0, "config": "inside", "entered": True, "waiting": True}]}
        return scenario_verdict.judge(_result("abort", _job(_jobs("abort")["abort"], **(fields | more)))).status()

    def test_every_abort_must_return_in_time(self) -> None:
        self.assertEqual(self._abort(), PASSED)
        self.assertEqual(self._abort(aborted=self._aborted("inside", 4)), FAILED)
        both = self._aborted("inside", 4) + self._aborted("connecting", 4, seconds=scenario_plan.ABORT_BOUND_S)
        self.assertEqual(self._abort(aborted=both), FAILED)
        both = self._aborted("inside", 4) + self._aborted("connecting", 4, ok=False)
        self.assertEqual(self._abort(aborted=both), FAILED)
        idle = [{"rank": 0, "config": "inside", "entered": True, "waiting": False}]
        self.assertEqual(self._abort(inside=idle), INCOMPLETE)
        self.assertEqual(self._abort(checked=self.CHECKED | {"wrong": 2}), FAILED)

    def test_a_rank_must_be_notified_of_the_dead_one(self) -> None:
        job = _jobs("abort")["kill"]
        self.assertEqual(job.exits, {3: -9})
        for error, status in ((True, PASSED), (False, FAILED)):
            noticed = [{"rank": rank, "config": "killed", "seconds": 0.2, "code": "6", "error": error and rank == 2}
                       for rank in range(3)]
            found = _job(job, aborted=self._aborted("killed", 3), noticed=noticed, checked=self.CHECKED)
            self.assertEqual(scenario_verdict.judge(_result("abort", found)).status(), status)

    def test_a_reference_is_shown_but_not_judged(self) -> None:
        socket = _job(_jobs("abort")["abort-socket"], "hang", checked=self.CHECKED)
        good = _job(_jobs("abort")["new-job"], cells=[_cell("default", "all_reduce")])
        found = scenario_verdict.judge(_result("abort", good, socket))
        self.assertEqual(found.status(), PASSED)
        self.assertIn("over Socket, not judged: abort-socket: hang", "\n".join(found.lines()))
        skipped = [{"jobs": ["kill-socket"], "detail": "no time was left"}]
        self.assertEqual(scenario_verdict.judge(_result("abort", good, skipped=skipped)).status(), PASSED)


class TrainingVerdict(unittest.TestCase):
    def _found(self, steps: int = DDP_STEPS, differing: int | None = None, parameters: str = "ab",
               last: float = 1.0) -> scenario_verdict.Findings:
        jobs = []
        for name, job in _jobs("ddp").items():
            losses = [[(5.0 + (last - 5.0) * step / DDP_STEPS).hex() for step in range(steps)] for _ in range(4)]
            if differing is not None and name == "socket":
                losses[3][differing] = (7.0).hex()
            jobs.append(_job(job, losses=losses, parameters=[parameters if name == "socket" else "ab"] * 4))
        return scenario_verdict.judge(_result("ddp", *jobs))

    def test_equal_bit_for_bit_or_failed(self) -> None:
        self.assertEqual(self._found().status(), PASSED)
        self.assertEqual(self._found(differing=117).status(), FAILED)
        self.assertIn("first in step 117", "\n".join(self._found(differing=117).lines()))
        self.assertEqual(self._found(parameters="cd").status(), FAILED)

    def test_the_loss_must_fall_and_all_steps_run(self) -> None:
        self.assertEqual(self._found(last=6.0).status(), FAILED)
        self.assertEqual(self._found(steps=DDP_STEPS - 1).status(), INCOMPLETE)


class FailoverVerdict(unittest.TestCase):
    CHECKED = {"operations": 9, "bytes": 9, "wrong": 0}
    PACE = {"of": "operation", "typical_s": 0.006, "longest_s": 1.25}

    def _fault(self, kind: str = "kill", in_use: bool = True) -> dict[str, Any]:
        return {"kind": kind, "what": "n1", "moved": 10_000_000 * in_use, "in_use": in_use, "at_s": 3.0, "lasted_s": 1.2}

    def _rounds(self, outcome: str = "ok", **more: Any) -> scenario_verdict.Findings:
        fields = {"checked": self.CHECKED, "pace": self.PACE, "faults": [self._fault(), self._fault()]} | more
        return scenario_verdict.judge(_result("failover", _job(_jobs("failover")["opposite"], outcome, **fields)))

    def test_results_stay_right_under_faults(self) -> None:
        self.assertEqual(self._rounds().status(), PASSED)
        self.assertIn("2 relays killed while they relayed; longest operation 1.25 s, typically 6 ms",
                      "\n".join(self._rounds().lines()))
        self.assertEqual(self._rounds(checked=self.CHECKED | {"wrong": 1}).status(), FAILED)
        self.assertEqual(self._rounds(checked=self.CHECKED | {"operations": 0}).status(), FAILED)
        for outcome in ("hang", "crash"):
            self.assertEqual(self._rounds(outcome).status(), FAILED)

    def test_faults_without_effect_do_not_pass(self) -> None:
        for faults in ([], [self._fault()], [self._fault(), self._fault(in_use=False)],
                       [self._fault(), self._fault("cut")]):
            self.assertEqual(self._rounds(faults=faults).status(), INCOMPLETE, faults)

    def _training(self, parameters: str = "ab", differing: int | None = None, steps: int = 500,
                  cuts: tuple[bool, ...] = (True,)) -> scenario_verdict.Findings:
        jobs = []
        for name in ("disturbed", "undisturbed"):
            disturbed = name == "disturbed"
            losses = [[(5.0 - step / 500).hex() for step in range(steps if disturbed else 500)] for _ in range(4)]
            more: dict[str, Any] = {"parameters": [parameters if disturbed else "ab"] * 4}
            if disturbed:
                more["faults"] = [self._fault(), self._fault(), *(self._fault("cut", in_use) for in_use in cuts)]
                if differing is not None:
                    losses[1][differing] = (7.0).hex()
            jobs.append(_job(_jobs("failover")[name], losses=losses, **more))
        return scenario_verdict.judge(_result("failover", *jobs))

    def test_training_ends_with_the_same_bits(self) -> None:
        self.assertEqual(self._training().status(), PASSED)
        self.assertIn("parameters ab, the undisturbed run's ab: equal", self._training().lines())
        self.assertEqual(self._training(parameters="cd").status(), FAILED)
        self.assertEqual(self._training(differing=301).status(), FAILED)
        self.assertIn("differ from the undisturbed run's in 1 of 500 steps, first in step 301",
                      "\n".join(self._training(differing=301).lines()))

    def test_training_without_cuts_or_steps_does_not_pass(self) -> None:
        self.assertEqual(self._training(cuts=()).status(), INCOMPLETE)
        self.assertEqual(self._training(cuts=(False, False)).status(), INCOMPLETE)
        self.assertEqual(self._training(cuts=(False, True)).status(), PASSED)
        self.assertEqual(self._training(steps=499).status(), INCOMPLETE)

    def test_a_dry_run_is_judged_by_collperfs_checks(self) -> None:
        for wrong, status in ((0, PASSED), (2, FAILED)):
            cells = [_cell("collperf", "sendrecv", wrong=wrong)]
            job = _job(_jobs("failover")["opposite"], cells=cells, faults=[self._fault(), self._fault()])
            self.assertEqual(scenario_verdict.judge(_result("failover", job)).status(), status)


class MultipathVerdict(unittest.TestCase):
    BUSBW = {"multipath-off": 0.24, "multipath-all": 0.32, "socket": 0.25}

    def _result(self, config: str = "default", operation: str = "all_reduce", wrong: str = "",
                **busbw: float) -> dict[str, Any]:
        """`wrong`: the job with a wrong element."""
        own = self.BUSBW | {f"multipath-{name}" if name != "socket" else name: value for name, value in busbw.items()}
        jobs = [_job(job, cells=[_cell(config, operation, size_bytes=RATIO_SIZE, busbw_GBps=own[name],
                                       transport=job.transport, wrong=int(name == wrong)),
                                 _cell(config, operation, busbw_GBps=9.0)])
                for name, job in _jobs("multipath").items() if own[name]]
        return _result("multipath", *jobs)

    def _found(self, *place: str, **more: Any) -> scenario_verdict.Findings:
        return scenario_verdict.judge(self._result(*place, **more))

    def test_all_paths_must_not_be_slower_than_one(self) -> None:
        self.assertEqual(self._found().status(), PASSED)
        self.assertEqual(self._found(all=0.229).status(), PASSED)
        self.assertEqual(self._found(all=0.227).status(), FAILED)
        self.assertEqual(self._found("collperf", all=0.1, socket=0).status(), PASSED)

    def test_goals_are_shown_and_not_judged(self) -> None:
        self.assertIn("busbw all / Socket, all_reduce: 1.280 (goal: 1.25, reached)", self._found().lines())
        found = self._found("pat", "all_gather", socket=0.4)
        self.assertEqual(found.status(), PASSED)
        self.assertIn("busbw all / Socket, all_gather by PAT: 0.800 (goal: 1, missed)", found.lines())
        found = self._found("pat", "all_gather", all=0.24999, socket=0.25)
        self.assertIn("busbw all / Socket, all_gather by PAT: 1.000 (goal: 1, reached)", found.lines())
        self.assertEqual(self._found(socket=0).status(), INCOMPLETE)

    def test_sockets_wrong_elements_are_not_judged(self) -> None:
        for job, status in (("multipath-off", FAILED), ("multipath-all", FAILED), ("socket", PASSED)):
            self.assertEqual(self._found(wrong=job).status(), status, job)

    def test_the_page_has_a_table(self) -> None:
        page = scenario_report.markdown([_judged(self._result())])
        self.assertIn("| all_reduce | 0.250 | 0.240 | 0.320 | 1.280 (goal 1.25) | 1.333 |", page)
        self.assertNotIn("- busbw", page)


class Results(unittest.TestCase):
    def _write(self, path: Path, events: list[dict[str, Any]]) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps({"at": 1.0} | event) + "\n" for event in events), encoding="utf-8")

    def test_reads_events_and_notes(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            for rank in range(4):
                self._write(work / "kill-0" / f"rank{rank}.jsonl", [
                    {"event": "checked", "config": "killed", "wrong": rank, "checked": 100},
                    {"event": "aborted", "config": "killed", "seconds": 0.5}])
            self._write(work / "notes.jsonl", [
                {"note": "pass", "job": "kill", "transport": "cableway", "folder": "kill-0", "outcome": "ok",
                 "detail": "", "seconds": 2.0},
                {"note": "flows", "after": "kill", "most": {"n0": 2}, "left": {}},
                {"note": "skipped", "jobs": ["new-job"], "detail": "no time was left"}])
            result = scenario_results.gather(work, "abort", 2000, 9.0)
        (kill,) = [job for job in result["jobs"] if job["attempts"]]
        self.assertEqual(kill["checked"], {"operations": 4, "bytes": 400, "wrong": 6})
        self.assertEqual([entry["rank"] for entry in kill["aborted"]], [0, 1, 2, 3])
        self.assertEqual(result["flows"], [{"after": "kill", "most": {"n0": 2}, "left": {}}])
        self.assertNotIn("kill-socket", [job["job"] for job in result["jobs"]])

    def _gathered(self, folder: str, events: list[dict[str, Any]], *notes: dict[str, Any]) -> dict[str, Any]:
        """The job of `failover` that had this folder; every rank had these events."""
        job = folder.partition("-")[0]
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            for rank in range(4):
                self._write(work / folder / f"rank{rank}.jsonl", events)
            passed = {"note": "pass", "job": job, "transport": "cableway", "folder": folder, "outcome": "ok", "detail": "",
                      "seconds": 2.0}
            self._write(work / "notes.jsonl", [passed, *notes])
            result = scenario_results.gather(work, "failover", 2000, 9.0)
        return next(found for found in result["jobs"] if found["job"] == job)

    def test_faults_and_the_longest_operation(self) -> None:
        times = ({}, *({"mean_s": mean, "slowest_s": slowest} for mean, slowest in ((0.01, 0.02), (0.03, 1.5), (0.01, 0.01))))
        job = self._gathered("opposite-0", [{"event": "checked", "wrong": 0, "checked": 4} | each for each in times],
                             {"note": "fault", "job": "opposite", "fault": {"kind": "kill"}},
                             {"note": "fault", "job": "against", "fault": {"kind": "cut"}})
        self.assertEqual(job["pace"], {"of": "operation", "typical_s": 0.01, "longest_s": 1.5})
        self.assertEqual(job["faults"], [{"kind": "kill"}])
        self.assertEqual(job["checked"]["operations"], 16)

    def test_the_longest_step(self) -> None:
        events = [{"event": "step", "loss": "0x1p+1", "at": at} for at in (1.0, 1.5, 2.0, 5.0)]
        job = self._gathered("disturbed-0", events)
        self.assertEqual(job["pace"], {"of": "step", "typical_s": 0.5, "longest_s": 3.0})

    def test_results_of_an_ended_conductor_are_kept(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            self._write(work / "cableway-0" / "rank0.jsonl", [{"event": "step", "step": 0, "loss": "0x1p+1"}])
            result = scenario_results.gather(work, "ddp", 4000, 9.0)
        self.assertEqual(result["jobs"][0]["attempts"][0]["outcome"], "late")
        self.assertEqual(result["jobs"][0]["losses"], [["0x1p+1"]])
        self.assertEqual(scenario_verdict.judge(result).status(), INCOMPLETE)


class Report(unittest.TestCase):
    PAGE = f"# Benchmarks\n\n## Real NCCL\n\n{report.BEGIN}\nmatrix\n{report.END}\n\nafter\n"

    def _document(self, mode: str = "cuda", seconds: float = 3.0, wrong: int = 0) -> dict[str, Any]:
        jobs = [_job(job, cells=[_cell("default", "all_reduce", size_bytes=ORDER_SIZE, wrong=wrong)])
                for job in _jobs("against").values()]
        return {"format": 1, "mode": mode, "scenarios": [_judged(_result("against", *jobs, seconds=seconds))]}

    def test_is_inserted_after_the_matrix_and_replaces_only_itself(self) -> None:
        page = report.page_with(self.PAGE, [self._document()])
        self.assertIn("\nmatrix\n", page)
        self.assertLess(page.index(report.END), page.index(scenario_report.BEGIN))
        self.assertTrue(page.endswith("\nafter\n"))
        self.assertIn("| 1.000 |", page)
        self.assertEqual(report.page_with(page, [self._document()]), page)

    def test_a_failure_is_in_the_page(self) -> None:
        page = report.page_with(self.PAGE, [self._document(wrong=3)])
        self.assertIn("- FAILED: against: default all_reduce of 16777216 bytes: 3 wrong elements", page)

    def test_a_later_file_takes_precedence_and_a_dry_run_is_refused(self) -> None:
        merged = scenario_report.merge([self._document(), self._document(seconds=8.0)])
        self.assertEqual([result["seconds"] for result in merged], [8.0])
        for mode in ("dry-run", "gloo"):
            with self.assertRaises(ValueError):
                scenario_report.merge([self._document(mode)])

    def test_last_line(self) -> None:
        self.assertEqual(scenario_run.end_line([PASSED, FAILED, INCOMPLETE]), "gpu: FAILED")
        self.assertEqual(scenario_run.end_line([PASSED, INCOMPLETE]), "gpu: ok as far as it went: not all was run")
        self.assertEqual(scenario_run.end_line([PASSED]), "gpu: ok")


class NcclLibrary(unittest.TestCase):
    def test_finds_the_loaded_library(self) -> None:
        maps = ("7f00-7f01 r--p 00000000 fe:01 12 /usr/lib/libm.so.6\n"
                "7f02-7f03 r-xp 00000000 fe:01 13 /site packages/nccl/lib/libnccl.so.2\n")
        self.assertEqual(nccl_library.loaded_library(maps), "/site packages/nccl/lib/libnccl.so.2")
        self.assertIsNone(nccl_library.loaded_library("7f00-7f01 r--p 0 fe:01 12 /usr/lib/libnccl-net-x.so\n"))

    def test_structures_are_those_of_the_header(self) -> None:
        config = nccl_library._Config
        self.assertEqual((ctypes.sizeof(config), config.net_name.offset, config.comm_name.offset,
                          config.nvlink_centric_sched.offset), (80, 32, 48, 76))
        self.assertEqual(ctypes.sizeof(nccl_library.UniqueId), 128)
        self.assertEqual(len(nccl_library.UniqueId.from_buffer_copy(bytes(range(128))).to_bytes()), 128)

    def test_threads_of_a_process(self) -> None:
        self.assertRegex(diagnosis._kernel_view(os.getpid()), r"\d+ \S+: R ")


if __name__ == "__main__":
    unittest.main()
