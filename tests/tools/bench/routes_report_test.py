#!/usr/bin/env python3
"""The report of tools/bench.sh routes from Google Benchmark's JSON: medians in seconds, goals met and missed."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import routes_report
from bench_error import BenchError


def report(**changes: float) -> dict[str, Any]:
    """Two repetitions of every benchmark, in seconds, the second slightly slower, and an aggregate."""
    seconds = {"shortest_paths": 40e-6, "boost_dijkstra": 100e-6, "all_pairs": 0.04, "path_for_flow": 30e-6,
               "offers_torus_64": 200e-6, "offers_sparks_64": 300e-6, "offers_random_400": 1e-3, "max_min_shares": 0.02,
               "failures": 18.0} | changes
    runs: list[dict[str, Any]] = []
    for factor in (1, 1.5):
        runs += [{"run_type": "iteration", "run_name": f"{name}/iterations:1", "cpu_time": value * factor * 1e3,
                  "real_time": 1e9, "time_unit": "ms"} for name, value in seconds.items()]
    runs.append({"run_type": "aggregate", "run_name": "failures", "cpu_time": 1e9, "time_unit": "s"})
    return {"benchmarks": runs}


class RoutesReportTest(unittest.TestCase):
    def test_times_are_cpu_seconds(self) -> None:
        times = routes_report.times_of(report())
        self.assertAlmostEqual(times["failures"].median, 18 * 1.25)
        self.assertAlmostEqual(times["shortest_paths"].values[0], 40e-6)

    def test_a_missing_benchmark_is_named(self) -> None:
        some = report()
        some["benchmarks"] = [run for run in some["benchmarks"] if "max_min" not in run["run_name"]]
        with self.assertRaisesRegex(BenchError, "no max_min_shares: rebuild it"):
            routes_report.times_of(some)

    def test_goals_that_are_met(self) -> None:
        times = routes_report.times_of(report())
        self.assertEqual(routes_report.missed(times), [])
        text = routes_report.section_text(times, {"CPU": "of some kind"})
        self.assertIn("| CPU | of some kind |", text)
        self.assertIn("| shortest paths / Boost.Graph's Dijkstra | 0.40 | <= 1.2 | met |", text)
        self.assertIn("| shortest paths between all pairs of that torus | 50 | 40..60 | ms |", text)
        self.assertNotIn("missed", text)

    def test_each_goal_can_be_missed(self) -> None:
        for changes, message in (({"shortest_paths": 121e-6}, r"Dijkstra: 1\.21; the goal is <= 1\.2$"),
                              ({"offers_torus_64": 0.81e-3}, r"ms: 1\.01; the goal is <= 1$"),
                              ({"max_min_shares": 0.41}, r"s: 0\.51\d; the goal is <= 0\.5$"),
                              ({"failures": 49.0}, r"stretch goal: 61\.\d; the goal is <= 60$")):
            with self.subTest(message):
                times = routes_report.times_of(report(**changes))
                lines = routes_report.missed(times)
                self.assertEqual(len(lines), 1)
                self.assertRegex(lines[0], message)
                self.assertEqual(routes_report.section_text(times, {}).count("**missed**"), 1)


if __name__ == "__main__":
    unittest.main()
