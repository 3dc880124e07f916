#!/usr/bin/env python3
"""Tests of the scenario `tuner` that need no GPU: the preset of its ranks, its verdict, its table."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import gpu_scenarios_test as scenarios
import scenario_plan
import scenario_report
import scenario_verdict
from rank_settings import rank_settings
from scenario_verdict import FAILED, PASSED


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
