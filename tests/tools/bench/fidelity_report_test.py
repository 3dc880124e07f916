#!/usr/bin/env python3
"""The report of tools/bench.sh fidelity: which cases the cables limit, errors, goals met and missed."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import fidelity_report
from fidelity_report import Case


def case(predicted: float, measured: float, least: float = 0.099) -> Case:
    """Times in seconds."""
    return Case("ring:4", "all_gather", "1MiB", predicted, least, [measured * 1.5, measured, measured * 0.5])


def text(cases: list[Case]) -> str:
    return fidelity_report.section_text(cases, {"CPU": "of some kind"}, 3, "1 kbit/s", "16 operations")


class FidelityReportTest(unittest.TestCase):
    def test_goals_that_are_met(self) -> None:
        cases = [case(0.1, 0.1)] * 16 + [case(0.102, 0.1)] * 15
        self.assertEqual(fidelity_report.summary_line(cases), "fidelity: 0.000 0.020 31")
        self.assertEqual(fidelity_report.missed_goals(cases), [])
        found = text(cases)
        self.assertNotIn("missed", found)
        self.assertNotIn("not judged", found.split("| what |")[1])
        self.assertIn("| CPU | of some kind |", found)
        self.assertIn("| cases limited by their cables | 31 of 31 | >= 30 | met |", found)
        self.assertIn("| worst error of these | 2.0% | <= 12% | met |", found)
        self.assertIn("| ring:4 | all_gather | 1MiB | 102.0 | 100.0 | 50.0..150.0 | 99% | +2.0% |", found)

    def test_each_goal_can_be_missed(self) -> None:
        good, off, far = case(0.1, 0.1), case(0.106, 0.1), case(0.1, 0.114)
        for cases, message in (([good] * 29, r"^29 cases are limited by their cables, fewer than 30$"),
                            ([off] * 30, r"^the median error is 6\.0%, more than 5%$"),
                            ([good] * 30 + [far], r"^the worst error is 12\.3%, more than 12%$")):
            with self.subTest(message):
                missed = fidelity_report.missed_goals(cases)
                self.assertEqual(len(missed), 1)
                self.assertRegex(missed[0], message)
                self.assertIn("**missed** |", text(cases))

    def test_a_stricter_goal_differs_from_the_limit(self) -> None:
        cases = [case(0.1, 0.1)] * 30 + [case(0.11, 0.1)]
        self.assertEqual(fidelity_report.missed_goals(cases), [])
        self.assertIn("| worst error of these | 10.0% | <= 12% | met; the goal of 8% missed |", text(cases))

    def test_a_case_with_idle_cables_in_both_times_is_shown_but_not_judged(self) -> None:
        idle = case(0.15, 0.12, least=0.1)
        self.assertAlmostEqual(idle.busy, 0.1 / 0.12)
        self.assertFalse(idle.is_judged)
        cases = [case(0.1, 0.1)] * 30 + [idle]
        self.assertEqual(fidelity_report.summary_line(cases), "fidelity: 0.000 0.000 30")
        self.assertEqual(fidelity_report.missed_goals(cases), [])
        found = text(cases)
        self.assertIn("| cases limited by their cables | 30 of 31 | >= 30 | met |", found)
        self.assertIn("| worst error of the other 1 | 25.0% | not judged | |", found)
        self.assertIn("| 150.0 | 120.0 | 60.0..180.0 | 83% | +25.0% not judged: cables not busy |", found)

    # Otherwise the cases with the worst errors would be left out.
    def test_a_case_with_idle_cables_in_one_time_only_is_judged(self) -> None:
        for disagreed in (case(0.1, 0.15), case(0.15, 0.1)):
            with self.subTest(disagreed):
                self.assertTrue(disagreed.is_judged)
                self.assertEqual(len(fidelity_report.missed_goals([case(0.1, 0.1)] * 30 + [disagreed])), 1)

    def test_no_cases_miss_the_goal(self) -> None:
        self.assertEqual(fidelity_report.summary_line([]), "fidelity: 0.000 0.000 0")
        self.assertEqual(len(fidelity_report.missed_goals([])), 1)


if __name__ == "__main__":
    unittest.main()
