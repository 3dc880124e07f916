#!/usr/bin/env python3
"""Tests of tools/bench.sh multipath: its cases, its judgement on made-up measurements, and a quick run.

Usage: multipath_bench_test.py --build DIR [TEST...]. The programs in DIR are measured. Exit status 77 where this system cannot
run a lab.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tools" / "bench"), str(ROOT / "tools" / "bench" / "multipath")]

import lab_case
import multipath_report
from bench_error import BenchError
from machine import PROGRAMS_FACT
from multipath_cases import AGAIN, BEFORE, BRIDGED, CASES, CHORD, PARALLEL, RING_4, SMALL_SIZES, TORUS, UNEQUAL, Case
from multipath_report import Result, SmallResult
from multipath_samples import Samples, case_key, read_samples, write_samples
from spread import Spread

BUILD = ""
QUICK_RUN_LIMIT_S = 200


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "tools" / "bench.sh"), "multipath", *words], capture_output=True, text=True,
                          timeout=QUICK_RUN_LIMIT_S, check=False)


def measured(case: Case, off_cables: float, all_cables: float) -> Result:
    scale = case.topology.rate_mbps / 8000
    return Result(case, {"off": Spread((off_cables * scale,)), "all": Spread((all_cables * scale,))})


def small(all_us: float) -> SmallResult:
    return SmallResult({mode: {BEFORE: Spread((10.0, 10.0)), **{size: Spread((value, value)) for size in SMALL_SIZES}}
                        for mode, value in (("off", 10.0), ("all", all_us), (AGAIN, 10.1))})


class CasesTest(unittest.TestCase):
    def test_maximum_flows(self) -> None:
        """For cables counted by hand."""
        self.assertEqual(RING_4.most_mbps(0, 2), 2 * 500)
        self.assertEqual(PARALLEL.most_mbps(0, 1), 2 * 500)
        self.assertEqual(UNEQUAL.most_mbps(1, 0), 1000)
        self.assertEqual(TORUS.most_mbps(0, 4), 4 * 200)
        self.assertEqual(CHORD.most_mbps(0, 3), 3 * 200)
        self.assertEqual(CHORD.most_mbps(1, 4), 2 * 200)
        self.assertEqual(BRIDGED.most_mbps(2, 6), 200)

    def test_a_topology_file_has_all_cables(self) -> None:
        text = TORUS.text()
        self.assertEqual((text.count("[[node]]"), text.count("[[cable]]")), (9, 18))


class ReportTest(unittest.TestCase):
    def test_last_line(self) -> None:
        results = [measured(case, 1.0, value) for case, value in zip(CASES, (1.27, 1.9, 1.0, 1.42))]
        self.assertEqual(multipath_report.last_line(results), "multipath: 1.270 1.900 1.420")
        self.assertEqual(multipath_report.last_line(results[1:2]), "multipath: - 1.900 -")

    def test_what_is_missed(self) -> None:
        for case, off, every, missed in ((CASES[0], 1.0, 1.28, 0), (CASES[0], 1.0, 1.26, 1), (CASES[2], 1.0, 0.99, 0),
                                         (CASES[2], 1.0, 0.97, 1), (CASES[3], 1.5, 1.43, 1), (CASES[6], 1.0, 1.91, 0),
                                         (CASES[6], 1.0, 1.89, 1)):
            with self.subTest(case.name, all=every):
                self.assertEqual(len(measured(case, off, every).missed()), missed)
        self.assertEqual(small(10.2).missed(), [])
        self.assertEqual(len(small(10.4).missed()), len(SMALL_SIZES))

    def test_a_flow_is_compared_with_itself(self) -> None:
        """Twice and four times as long, and half as long."""
        flows = SmallResult({"all": {BEFORE: Spread((10.0, 20.0)), SMALL_SIZES[0]: Spread((20.0, 80.0))},
                             "off": {BEFORE: Spread((20.0, 20.0)), SMALL_SIZES[0]: Spread((10.0, 10.0))}})
        mean, error = flows.growth("all")
        self.assertAlmostEqual(mean, math.sqrt(8))
        self.assertAlmostEqual(error, math.log(2) / 2)
        self.assertEqual(flows.growth("off"), (0.5, 0.0))

    def test_section(self) -> None:
        text = multipath_report.section_text([measured(CASES[0], 0.99, 1.2)], small(10.2), {"CPU": "made up"}, 5)
        self.assertIn("| ring of 4 | neighbours, one way round | 0.990 (0.990 to 0.990) | 1.200 (1.200 to 1.200) | 1.212 |  |"
                      " >= 1.27 cables: missed |", text)
        self.assertIn("| 64K | 10.00 (10.0..10.0) | 10.20 (10.2..10.2) | 10.10 (10.1..10.1) | 1.015 | 1.010 | met |", text)
        self.assertIn("1.020 with `all`, standard error 0.000;", text)


class SamplesTest(unittest.TestCase):
    FACTS = {"CPU": "made up", "kernel": "6.1", PROGRAMS_FACT: "SHA-256 1"}

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.file = Path(scratch.name, "samples.json")

    def test_a_run_goes_on(self) -> None:
        samples = read_samples(self.file, self.FACTS)
        samples.labs = 4
        samples.values += [(case_key(CASES[0]), mode, "32M", value) for mode, value in (("off", 1.0), ("off", 3.0), ("all", 2.0))]
        write_samples(self.file, samples)
        again = read_samples(self.file, self.FACTS | {"date": "later"})
        self.assertEqual(again, samples)
        self.assertEqual((again.has(CASES[0]), again.has(CASES[1])), (True, False))
        self.assertEqual(again.spread(CASES[0], "off", "32M").median, 2.0)
        self.assertEqual(again.rounds(), 1, "the other mode has one measurement")

    def test_other_programs_do_not_add_up(self) -> None:
        write_samples(self.file, Samples(self.FACTS))
        for name in self.FACTS:
            with self.subTest(name), self.assertRaisesRegex(BenchError, f"{name}: .*'made otherwise' here"):
                read_samples(self.file, self.FACTS | {name: "made otherwise"})

    def test_other_files_are_refused(self) -> None:
        for text in ("", "[]", '{"what": "cableway failover samples"}'):
            with self.subTest(text):
                self.file.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(BenchError, "not a file of multipath's measurements"):
                    read_samples(self.file, self.FACTS)


class CommandTest(unittest.TestCase):
    def test_refusals(self) -> None:
        for words in (("--rounds", "none"), ("--fast",)):
            with self.subTest(words):
                done = bench(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr)

    def test_no_such_case(self) -> None:
        done = bench("--only", "ring of 5", "--build", BUILD)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "'ring of 5' in its name; there are: ring of 4, neighbours")

    def test_quick_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "benchmarks.md")
            done = bench("--quick", "--build", BUILD, "--out", str(out))
            self.assertEqual(done.returncode, 0, f"stdout:\n{done.stdout}\nstderr:\n{done.stderr}")
            text = out.read_text(encoding="utf-8")
        last = done.stdout.splitlines()[-1]
        self.assertRegex(last, r"^multipath: - \d\.\d{3} -$")
        self.assertGreater(float(last.split()[2]), 1.5, "cables of one opposite pair; one path has 0.99")
        self.assertIn("| ring of 4 | one opposite pair | ", text)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: multipath_bench_test.py --build DIR [TEST...]")
    BUILD = sys.argv[2]
    del sys.argv[1:3]
    lab_case.main()
