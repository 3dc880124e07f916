#!/usr/bin/env python3
"""The report of tools/bench.sh tuner: what the tuner chooses by its table of sizes, and how far that is from the best."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "tools/bench"), str(ROOT / "tools/bench/tuner")]

from tuner_report import Case, Measured, TreeSizes, chosen, last_line, missed, section_text, size_text, tree_sizes

LINE = Case("line", 4)
ROWS = [TreeSizes("line", 4, 0, 1000), TreeSizes("mesh", 4, 0, 5000)]


class TunerReportTest(unittest.TestCase):
    def test_reads_the_tuners_table(self) -> None:
        rows = tree_sizes((ROOT / "nccl_adapter/algorithm/tree_sizes.h").read_text(encoding="utf-8"))
        self.assertEqual({row.cabling for row in rows} - {"sparks", "ring", "line", "mesh"}, set())
        self.assertTrue(any(row.cabling == "line" and row.nodes == 4 and row.first == 0 for row in rows))
        self.assertTrue(all(row.first < row.end for row in rows))

    def test_chooses_as_the_tuner(self) -> None:
        self.assertEqual([chosen(ROWS, LINE, size) for size in (0, 999, 1000)], ["tree", "tree", "ring"])
        self.assertEqual(chosen(ROWS, Case("line", 5), 8), "ring")
        self.assertEqual(chosen(ROWS, Case("ring", 4), 8), "ring")

    def test_more_than_the_goal_is_missed(self) -> None:
        results = [Measured(LINE, 8, {"ring": 1049.0, "tree": 1000.0}, "ring"),
                   Measured(LINE, 64 << 10, {"ring": 1000.0, "tree": 1060.0}, "tree")]
        self.assertEqual(missed(results), ["line:4, 64K: tree took 1.06 times as long as ring"])
        self.assertEqual(last_line(results), "tuner: 1 of 2 choices within 1.05 of the best; worst 1.06, line:4 64K")
        text = section_text(results, {"CPU": "some"}, 3)
        self.assertIn("| line:4 | 8 | 1.0 | 1.0 | ring | tree | 1.05 |", text)
        self.assertIn("| line:4 | 64K | 1.0 | 1.1 | tree | ring | 1.06 missed |", text)

    def test_sizes(self) -> None:
        self.assertEqual([size_text(size) for size in (8, 1024, 1500, 3 << 20)], ["8", "1K", "1500", "3M"])


if __name__ == "__main__":
    unittest.main()
