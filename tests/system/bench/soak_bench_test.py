#!/usr/bin/env python3
"""Tests of tools/bench.sh soak: its judgement on made-up results, and a quick run.

Usage: soak_bench_test.py --build DIR [TEST...]. The programs in DIR are measured. Exit status 77 where this system cannot run a
lab.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tools" / "bench")]

import lab_case
from soak_bench import Footprint, Result

BUILD = ""
QUICK_RUN_LIMIT_S = 200


def result(grows_by: int = 0, new_descriptors: int = 0, wrong: int = 0, **verdicts: int) -> Result:
    first, last = Footprint(10 << 20, 100), Footprint((10 << 20) + grows_by, 100 + new_descriptors)
    return Result(3600.0, 5 * 10**11, wrong, Counter(verdicts), {"cablewayd n0": (first, last)})


class JudgementTest(unittest.TestCase):
    def test_nothing_found(self) -> None:
        self.assertEqual(result(1 << 20, 2).missed(), [])
        self.assertEqual(result().last_line(), "soak: 60 min, 500.0 GB verified, 0 false verdicts")

    def test_everything_that_must_not_be(self) -> None:
        self.assertRegex(result(CABLE_SILENT=2).missed()[0], "2 times CABLE_SILENT")
        self.assertEqual(result(CABLE_SILENT=2).last_line(), "soak: 60 min, 500.0 GB verified, 2 false verdicts")
        self.assertRegex(result(wrong=1).missed()[0], "1 bytes were wrong")
        self.assertRegex(result(grows_by=9 << 20).missed()[0], r"memory of cablewayd n0 grew from 10.5 to 19.9 MB")
        self.assertRegex(result(new_descriptors=9).missed()[0], "descriptors of cablewayd n0 grew from 100 to 109")


class QuickRunTest(unittest.TestCase):
    def test_a_quick_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "page.md")
            out.write_text("<!-- soak:begin -->\n<!-- soak:end -->\n", encoding="utf-8")
            done = subprocess.run([str(ROOT / "tools/bench.sh"), "soak", "--quick", "--build", BUILD, "--out", str(out)],
                                  capture_output=True, text=True, timeout=QUICK_RUN_LIMIT_S, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout.splitlines()[-1], r"^soak: \d+ min, \d+\.\d GB verified, 0 false verdicts$")
            self.assertIn("| cablewayd n3 |", out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: soak_bench_test.py --build DIR [TEST...]")
    BUILD = str(Path(sys.argv[2]).resolve())
    del sys.argv[1:3]
    lab_case.main()
