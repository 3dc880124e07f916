#!/usr/bin/env python3
"""The report of tools/bench.sh operation: what it reads from tests, and its judgement."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "tools/bench"), str(ROOT / "tools/bench/operation")]

from bench_error import BenchError
from operation_report import Figures, doctor_rows, first_run, last_line, missed, page_cost, page_size, section_text


def views_round(view: str, took_s: float, *missing: str) -> dict[str, Any]:
    return {"view": view, "took_s": took_s, "nodes": 64, "missing": list(missing)}


class OperationReportTest(unittest.TestCase):
    def test_reads_what_tests_print(self) -> None:
        self.assertEqual(page_cost("23.4 s; a reader of 1,000 flows takes 0.15 % of a core, beside 0.60 % without ok"),
                         (0.0075, 0.006))
        self.assertEqual(page_size("first paint 312 ms, page 30211 bytes, 4096 bytes a second"), (312.0, 30211, 4096))
        self.assertEqual(doctor_rows("5.1 s; 4 of 4 rows of doctor's fault table are right ok\n"
                                     "6 s; 12 of 13 rows of doctor's fault table are right FAIL"), (16, 17))
        self.assertEqual(first_run("5: 12 commands, 13.7 s ok"), "12 commands, 13.7 s")
        for read in (page_cost, page_size, doctor_rows, first_run):
            with self.assertRaises(BenchError):
                read("skipped: no browser")

    def test_each_goal_can_be_missed(self) -> None:
        good = Figures(rounds=[views_round("status", 0.4), views_round("status", 1.2), views_round("status", 0.5)],
                       page_cores=0.01, quiet_cores=0.005, doctor_right=17, doctor_rows=17)
        self.assertEqual(missed(good), [])
        self.assertEqual(last_line(good), "operation: all goals met")
        for changed, reason in ((Figures(rounds=[views_round("ports", 1.1)]), "ports --all took 1.10 s, goal 1 s"),
                                (Figures(rounds=[views_round("flows", 0.1, "n3", "n4")]), "flows --all lacked 2 answers"),
                                (Figures(page_cores=0.0123), "a node with 1,000 flows and a reader took 1.23% of a core, goal 1%"),
                                (Figures(doctor_right=16, doctor_rows=17), "1 rows of doctor's fault table are wrong")):
            with self.subTest(reason):
                self.assertEqual(missed(changed), [reason])
                self.assertEqual(last_line(changed), f"operation: 1 goals missed: {reason}")

    def test_section(self) -> None:
        text = section_text(Figures(rounds=[views_round("status", 0.25), views_round("status", 1.5, "n7")], page_cores=0.011,
                                    quiet_cores=0.009, first_run="12 commands, 13.7 s"), {"CPU": "some"})
        self.assertIn("| status | 0.88 | 1.50 | 1 | met |", text)
        self.assertIn("one of 64 nodes", text)
        self.assertIn("| 1.10% of a core; 0.90% | 1%: **missed** |", text)
        self.assertIn("| 12 commands, 13.7 s | - |", text)
        self.assertNotIn("first paint", text)


if __name__ == "__main__":
    unittest.main()
