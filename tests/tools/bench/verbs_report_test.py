#!/usr/bin/env python3
"""The report of tools/bench.sh verbs from its rates and perftest's output: ratios, goals met and missed."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import verbs_report
from bench_error import BenchError
from guest_processes import average_mebibytes
from verbs_measurements import (BOTH_WAYS, DIRECT, LINE_WAYS, ONE_WAY, PERFTEST, RELAY_1, RELAY_2, ROUTER_1, ROUTER_2,
                                DIRECT_4, RELAY_1_4, Plan, Rates)

PERFTEST_OUTPUT = """\
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      151              0.00               4.71   \t\t   0.000075
---------------------------------------------------------------------------------------
"""


def line(direct: float = 0.98, relay_1: float = 0.99, relay_2: float = 0.985) -> Rates:
    """Shares of ib_write_bw's 5 MB/s, and of the direct rate."""
    ours = 5.0 * direct
    return Rates({PERFTEST: [4.0, 5.0, 6.0], DIRECT: [ours], RELAY_1: [ours * relay_1], RELAY_2: [ours * relay_2],
                  ROUTER_1: [4.9], ROUTER_2: [4.8], DIRECT_4: [ours], RELAY_1_4: [ours]})


def ring(factor: float = 1.96) -> Rates:
    return Rates({ONE_WAY: [1.0], BOTH_WAYS: [factor]})


class VerbsReportTest(unittest.TestCase):
    def test_goals_that_are_met(self) -> None:
        self.assertEqual(verbs_report.ratio_line(line()), "verbs: 0.980 0.990 0.985")
        self.assertEqual(verbs_report.missed_goals(line(), ring()), [])
        text = verbs_report.section_text(line(), ring(), {"CPU": "of some kind"}, Plan(3, 15))
        self.assertNotIn("missed", text)
        self.assertIn("| CPU | of some kind |", text)
        self.assertIn("| direct / ib_write_bw | 0.980 | >= 0.97 | met |", text)
        self.assertIn("| ib_write_bw | 5.000 | 4.000..6.000 | 1.000 |", text)
        self.assertIn("| both ways | 1.960 | 1.960..1.960 | 1.960 |", text)
        for way in LINE_WAYS:
            self.assertIn(f"| {way} |", text)

    def test_each_goal_can_be_missed(self) -> None:
        for rates, found, message in ((line(direct=0.96), ring(), r"ib_write_bw is 0\.9600; the goal is >= 0\.97$"),
                                   (line(relay_1=0.97), ring(), r"1 relay / direct is 0\.9700; the goal is >= 0\.98$"),
                                   (line(relay_2=0.96), ring(), r"2 relays / direct is 0\.9600; the goal is >= 0\.97$"),
                                   (line(), ring(1.88), r"twice one way is 0\.9400; the goal is >= 0\.95$")):
            with self.subTest(message):
                missed = verbs_report.missed_goals(rates, found)
                self.assertEqual(len(missed), 1)
                self.assertRegex(missed[0], message)
                self.assertEqual(verbs_report.section_text(rates, found, {}, Plan(1, 1)).count("**missed**"), 1)

    def test_average_of_perftest(self) -> None:
        self.assertEqual(average_mebibytes(PERFTEST_OUTPUT), 4.71)
        with self.assertRaisesRegex(BenchError, "printed no average:\nno route"):
            average_mebibytes("no route")
        with self.assertRaisesRegex(BenchError, "printed no average"):
            average_mebibytes(PERFTEST_OUTPUT.replace("4.71", "0.00"))


if __name__ == "__main__":
    unittest.main()
