#!/usr/bin/env python3
"""Tests of the GPU test's harness that need no GPU: data, expectations, plans, counters, verdict, report."""

from __future__ import annotations

import json
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import faults
import gpu_scenarios_test as scenarios
import matrix_plan
import report
import scenario_plan
import scenario_report
import scenario_verdict
import test_pattern
import traffic_counters
import verdict
from rank_settings import rank_settings
from scenario_plan import FaultPlan
from scenario_verdict import FAILED, PASSED
from test_pattern import ALL_OPERATIONS, FLOAT32, INT32, ONE_WAY, OPERATIONS


def _simulate(operation: str, inputs: list[list[int]], rank: int) -> list[int] | list[None]:
    """A direct implementation of an operation on whole inputs. None: not written."""
    ranks, size = len(inputs), len(inputs[0])
    share = size // ranks
    total = [sum(column) for column in zip(*inputs)]
    return {
        "all_reduce": lambda: total,
        "all_gather": lambda: [x for other in inputs for x in other],
        "reduce_scatter": lambda: total[rank * share:(rank + 1) * share],
        "broadcast": lambda: inputs[0],
        "all_to_all": lambda: [x for other in inputs for x in other[rank * share:(rank + 1) * share]],
        "opposite": lambda: inputs[(rank + ranks // 2) % ranks],
        "opposite_pair": lambda: inputs[0] if rank == ranks // 2 else [None] * size,
        "neighbour": lambda: inputs[(rank - 1) % ranks],
        "reduce": lambda: total if rank == 0 else inputs[rank],
    }[operation]()


class Expectations(unittest.TestCase):
    def test_every_operation_on_every_rank(self) -> None:
        ranks, iteration = 4, 9
        for operation in (*ALL_OPERATIONS, *ONE_WAY):
            elements = test_pattern.element_count(operation, 96, ranks)
            given = test_pattern.input_elements(operation, elements, ranks)
            inputs = [[test_pattern.contribution(rank, index, iteration, INT32) for index in range(given)]
                      for rank in range(ranks)]
            for rank in range(ranks):
                want = _simulate(operation, inputs, rank)
                got = [None] * test_pattern.output_elements(operation, elements, ranks)
                for part in test_pattern.expected(operation, rank, ranks, elements):
                    for k in range(part.length):
                        self.assertIsNone(got[part.output_start + k])
                        got[part.output_start + k] = sum(
                            test_pattern.contribution(other, part.input_start + k, iteration, INT32)
                            for other in part.ranks)
                self.assertEqual(got, want, f"{operation} on rank {rank}")

    def test_each_message_has_one_sender_and_one_receiver(self) -> None:
        for operation in ("opposite", *ONE_WAY):
            sent = {(rank, peer) for rank in range(4)
                    if (peer := test_pattern.sent_to(operation, rank, 4)) is not None}
            received = {(peer, rank) for rank in range(4)
                        if (peer := test_pattern.received_from(operation, rank, 4)) is not None}
            self.assertEqual(sent, received, operation)
        self.assertEqual(test_pattern.sent_to("opposite_pair", 0, 4), 2)

    def test_smallest_sizes_divide_among_the_ranks(self) -> None:
        self.assertEqual(test_pattern.element_count("all_reduce", 8, 4), 2)
        self.assertEqual(test_pattern.element_count("all_to_all", 8, 4), 4)
        self.assertEqual(test_pattern.element_count("all_gather", 68, 4), 20)


class Data(unittest.TestCase):
    def test_depends_on_rank_index_and_iteration(self) -> None:
        values = {test_pattern.value(rank, index, iteration)
                  for rank in range(8) for index in range(64) for iteration in range(32)}
        self.assertGreater(len(values), 8 * 64 * 32 - 20)

    def test_float_sums_are_exact(self) -> None:
        largest = 8 * max(test_pattern.contribution(1, index, 2, FLOAT32) for index in range(1000))
        self.assertLess(largest, 1 << 24)

    def test_int_elements_wrap_round(self) -> None:
        self.assertEqual(test_pattern.as_element(0xFFFFFFFF, INT32), -1)
        self.assertEqual(test_pattern.as_element(0x80000000 + 0x100000000, INT32), -(1 << 31))


class Plans(unittest.TestCase):
    def test_full_covers_every_operation_in_every_forced_configuration(self) -> None:
        seen = set()
        for entry in matrix_plan.passes("full"):
            plan = matrix_plan.rank_plan(entry, list(entry.configs), "nccl", "cuda:0", 0.0)
            seen |= {(plan["transport"], config["name"], cell["op"], cell["size"])
                     for config in plan["configs"] for cell in config["cells"]}
        for config in ("default", "tree", "ring", "ll", "ll128", "simple"):
            for operation in OPERATIONS:
                for size in matrix_plan.EVERY_SIZE:
                    self.assertIn(("cableway", config, operation, size), seen)
                self.assertIn(("socket", config, operation, matrix_plan.RATIO_SIZE), seen)

    def test_memory_is_bounded(self) -> None:
        for mode in ("quick", "full"):
            for entry in matrix_plan.passes(mode):
                for size in entry.effort.sizes:
                    cell = entry.effort.cell("all_reduce", size)
                    self.assertLessEqual(cell["least"], cell["most"])
                    self.assertLessEqual(cell["size"] * (cell["most"] + 1), 1 << 30)

    def test_chosen_configurations_only(self) -> None:
        names = {name for entry in matrix_plan.passes("full", ("ll", "default")) for name in entry.configs}
        self.assertEqual(names, {"ll", "default"})


class Counters(unittest.TestCase):
    TEXT = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier
    lo:    7       1    0    0    0     0          0         0        7       1    0    0    0     0       0          0
   mg0:  100       1    0    0    0     0          0         0      {}       1    0    0    0     0       0          0
 to-n1:  100       1    0    0    0     0          0         0     {}       1    0    0    0     0       0          0
"""

    def test_sent_bytes_by_interface(self) -> None:
        before = traffic_counters.sent_bytes(self.TEXT.format(200, 1000))
        after = traffic_counters.sent_bytes(self.TEXT.format(250, 9000))
        self.assertEqual(before, {"mg0": 200, "to-n1": 1000})
        self.assertEqual(traffic_counters.difference(before, after), {"mg0": 50, "to-n1": 8000})
        self.assertEqual(traffic_counters.split({"mg0": 50, "to-n1": 8000, "to-n3": 1}), (8001, 50))

    def test_tcp_anomalies_by_name(self) -> None:
        snmp = "Ip: Forwarding\nIp: 1\nTcp: ActiveOpens RetransSegs\nTcp: 5 7\n"
        netstat = "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 3 2\n"
        self.assertEqual(traffic_counters.tcp_anomalies(snmp, netstat), {"RetransSegs": 7, "TCPTimeouts": 2})


def _cell(transport: str, busbw: float, **more: object) -> dict[str, object]:
    return {"transport": transport, "config": "default", "op": "all_reduce", "size_bytes": matrix_plan.RATIO_SIZE,
            "bytes": matrix_plan.RATIO_SIZE, "kind": FLOAT32, "iterations": 3, "time_us": 1.0, "algbw_GBps": busbw,
            "busbw_GBps": busbw, "wrong": 0, "checked_bytes": 10, "cable_bytes": 1000, "management_bytes": 1,
            "chosen": ["RING/SIMPLE/2ch"]} | more


def _document(*cells: dict[str, object], failures: tuple[dict[str, object], ...] = ()) -> dict[str, object]:
    return {"format": 1, "mode": "full", "rate_mbps": 2000, "ranks": 4, "machine": {}, "results": list(cells),
            "failures": list(failures), "skipped": [], "passes": [], "proof": {}}


class Verdict(unittest.TestCase):
    def test_passes_at_the_goal_and_fails_below(self) -> None:
        self.assertTrue(verdict.judge(_document(_cell("cableway", 0.97), _cell("socket", 1.0)))[0])
        self.assertFalse(verdict.judge(_document(_cell("cableway", 0.969), _cell("socket", 1.0)))[0])

    def test_forced_choices_except_pat_are_judged(self) -> None:
        for config, passes in (("ll128", False), ("tree", False), ("pat", True)):
            document = _document(_cell("cableway", 0.9, config=config), _cell("socket", 1.0, config=config))
            self.assertEqual(verdict.judge(document)[0], passes, config)
            self.assertIn(f"{config} all_reduce 0.900", "\n".join(verdict.judge(document)[1]))

    def test_fails_on_wrong_results_hangs_leaks_and_no_results(self) -> None:
        good = _cell("cableway", 1.0)
        hang = {"transport": "cableway", "config": "ll", "op": "broadcast", "size": 8, "kind": "hang", "detail": "",
                "errors": []}
        self.assertTrue(verdict.judge(_document(good))[0])
        self.assertFalse(verdict.judge(_document(good | {"wrong": 1}))[0])
        self.assertFalse(verdict.judge(_document(good | {"management_bytes": 20}))[0])
        self.assertFalse(verdict.judge(_document(good, failures=(hang,)))[0])
        self.assertTrue(verdict.judge(_document(good, failures=(hang | {"kind": "late"},)))[0])
        self.assertFalse(verdict.judge(_document())[0])

    def test_text_shows_what_matters(self) -> None:
        text = verdict.text(_document(_cell("cableway", 0.5, wrong=3), _cell("socket", 1.0)))
        self.assertIn("0.500!", text)
        self.assertIn("below the goal", text)
        self.assertTrue(text.endswith("gpu: FAILED"))


class Report(unittest.TestCase):
    def test_replaces_its_own_block_only(self) -> None:
        block = report.markdown(_document(_cell("cableway", 0.99), _cell("socket", 1.0)))
        page = f"# Benchmarks\n\nbefore\n{report.BEGIN}\nold\n{report.END}\nafter\n"
        new = report.insert(page, block)
        self.assertNotIn("old", new)
        self.assertTrue(new.startswith("# Benchmarks\n\nbefore\n") and new.endswith("\nafter\n"))
        self.assertEqual(report.insert(new, block), new)
        self.assertIn("0.990 (0.990)", new)

    def test_appends_where_there_is_none_and_refuses_half_a_block(self) -> None:
        self.assertIn(report.BEGIN, report.insert("# Benchmarks\n", report.markdown(_document())))
        with self.assertRaises(ValueError):
            report.insert(report.BEGIN, "x")

    def test_later_files_take_precedence(self) -> None:
        merged = report.merge([_document(_cell("cableway", 0.1)), _document(_cell("cableway", 0.2))])
        self.assertEqual([cell["busbw_GBps"] for cell in merged["results"]], [0.2])


class RecordedNodes:
    """Stands for the nodes; n1 relays ever more while it is up, n0 never does."""

    def __init__(self, relays: bool = True, survives: bool = True) -> None:
        self.calls: list[str] = []
        self._relays, self._survives, self._relayed = relays, survives, 0

    def kill(self, node: str) -> None:
        self.calls.append(f"kill {node}")
        if not self._survives:
            raise OSError("no such process")

    def start(self, node: str) -> None:
        self.calls.append(f"start {node}")

    def status(self, node: str) -> str:
        if node == "n2":
            return "cableway: no answer"
        self._relayed += 10_000_000 * self._relays
        return json.dumps({"relayed": {"bytes": self._relayed if node == "n1" else 0}})


@mock.patch.multiple(faults, _LOOK_S=0.01, _NO_LOAD_S=0.2, _RESTART_S=0.01, _AFTER_LAST_S=0.01)
class InjectedFaults(unittest.TestCase):
    def _run(self, nodes: RecordedNodes, plan: FaultPlan, ranks_end: Callable[[], bool] = lambda: False,
             ) -> list[tuple[str, dict[str, Any]]]:
        """What was recorded. The ranks end by themselves, or when the file that they wait for exists."""
        recorded: list[tuple[str, dict[str, Any]]] = []
        with tempfile.TemporaryDirectory() as folder:
            done = Path(folder, "stop")
            with faults.Faults(plan, nodes, ["n0", "n1", "n2"], nodes.status,  # type: ignore[arg-type]
                               lambda note, **fields: recorded.append((note, fields)), done):
                until = time.monotonic() + 20
                while not ranks_end() and not done.exists():
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.01)
            self.assertTrue(done.exists())
        return recorded

    def test_the_busiest_relay_is_killed_and_started_again(self) -> None:
        nodes = RecordedNodes()
        recorded = self._run(nodes, FaultPlan(period_s=0.01, kills=2))
        self.assertEqual(nodes.calls, ["kill n1", "start n1"] * 2)
        self.assertEqual([(note, fields["what"], fields["in_use"]) for note, fields in recorded],
                         [("fault", "n1", True)] * 2)

    def test_nothing_is_killed_where_nothing_is_relayed(self) -> None:
        nodes = RecordedNodes(relays=False)
        self.assertEqual(self._run(nodes, FaultPlan(period_s=0.01, kills=2)), [])
        self.assertEqual(nodes.calls, [])

    def test_ranks_that_end_end_it(self) -> None:
        nodes = RecordedNodes(relays=False)
        self.assertEqual(self._run(nodes, FaultPlan(period_s=60, kills=1), lambda: True), [])

    def test_each_cable_is_cut_in_turn_and_mended(self) -> None:
        lab: list[str] = []
        sent = {"n0": {"to-n1": 0}, "n1": {"to-n0": 0, "to-n2": 0}, "n2": {"to-n1": 0}}
        with mock.patch.object(faults, "_lab", lambda *words: lab.append(" ".join(words))), \
                mock.patch.object(faults.lab_nodes, "all_sent_bytes", lambda names: {name: sent[name] for name in names}):
            plan = FaultPlan(period_s=0.01, kills=0, cuts=True, cut_s=0.01)
            recorded = self._run(RecordedNodes(), plan, lambda: len(lab) > 5)
        self.assertEqual(lab[:4], ["cut n0-n1", "mend n0-n1", "cut n1-n2", "mend n1-n2"])
        self.assertEqual(len(lab) % 2, 0)
        self.assertFalse(any(fields["in_use"] for _, fields in recorded))

    def test_a_fault_that_fails_is_reported(self) -> None:
        (note, fields), = self._run(RecordedNodes(survives=False), FaultPlan(period_s=0.01, kills=1))
        self.assertEqual(note, "broken")
        self.assertIn("no such process", fields["detail"])


class TunerScenario(unittest.TestCase):
    def _result(self, tuned_us: float = 50.0, on_cables: int = 1 << 20) -> dict[str, Any]:
        jobs = []
        for name, job in scenarios._jobs("tuner").items():
            configs = {"forced": {"ring-ll": 60.0, "tree-ll": 50.0}}.get(name, {"default": tuned_us})
            cells = [scenarios._cell(config, "all_reduce", size_bytes=cell["size"], time_us=time_us, chosen=[
                         f"{(config if '-' in config else 'tree-ll').replace('-', '/').upper()}/4"])
                     for config, time_us in configs.items() for cell in job.plan["configs"][0]["cells"]]
            done = scenarios._job(job, cells=cells)
            done["planned_cells"] = len(cells)
            done["attempts"][0]["sent"] = {"n0": {"to-n1": on_cables, "lab0": 1 << 30}}
            jobs.append(done)
        return scenarios._result("tuner", *jobs)

    def test_the_preset_is_the_only_source_of_the_network(self) -> None:
        self.assertTrue(all(job.preset for job in scenarios._jobs("tuner").values()))
        own = rank_settings("cableway", 0, ["n0"], 1, Path("/f"), Path("/b"), True)
        self.assertEqual(own["NCCL_ENV_PLUGIN"], "/b/lib/libnccl-net-cableway.so")
        self.assertEqual({"NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_NET_PLUGIN_REF_COUNT"} & own.keys(), set())
        self.assertNotIn("tuner", scenario_plan.DEFAULT)

    def test_a_missed_goal_is_shown_and_not_judged(self) -> None:
        found = scenario_verdict.judge(self._result())
        self.assertEqual(found.status(), PASSED, found.lines())
        self.assertIn("tuner 8 bytes: 50 us with TREE/LL/4, 1.000 of the best, tree-ll (goal: 1.05, reached)", found.lines())
        found = scenario_verdict.judge(self._result(60))
        self.assertEqual(found.status(), PASSED)
        self.assertIn("tuner 8 bytes: 60 us with TREE/LL/4, 1.200 of the best, tree-ll (goal: 1.05, missed)", found.lines())

    def test_an_nccl_that_does_not_take_the_preset_fails(self) -> None:
        self.assertEqual(scenario_verdict.judge(self._result(on_cables=10)).status(), FAILED)

    def test_the_page_has_a_table(self) -> None:
        page = scenario_report.markdown([scenarios._judged(self._result())])
        self.assertIn("| 8 | 60 | 50 | 50 | 50 | TREE/LL/4 | 1.000 |", page)
        self.assertNotIn("- tuner", page)


if __name__ == "__main__":
    unittest.main()
