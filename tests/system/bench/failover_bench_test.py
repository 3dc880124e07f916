#!/usr/bin/env python3
"""Tests of tools/bench.sh failover: its judgement on made-up measurements, and a quick run.

Usage: failover_bench_test.py --build DIR [TEST...]. The programs in DIR are measured. Exit status 77 where this system cannot
run a lab.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tools" / "bench"), str(ROOT / "tools" / "bench" / "failover")]

import failover_picture
import failover_report
import lab_case
from failover_faults import KINDS
from failover_measurements import BURST_BYTES, Burst, Failover, Footprint, KindResult, percentile

BUILD = ""
QUICK_RUN_LIMIT_S = 280


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "tools" / "bench.sh"), "failover", *words], capture_output=True, text=True,
                          timeout=QUICK_RUN_LIMIT_S, check=False)


def failover(took_s: float | None, mb_per_s: int = 60) -> Failover:
    """60 MB/s before the fault and as much after the pause."""
    pause, samples, total = 20.0 if took_s is None else took_s, [], 0
    for millisecond in range(-200, round(pause * 1000) + 600):
        if not 0 <= millisecond < pause * 1000:
            total += mb_per_s * 1000
        samples.append((millisecond / 1000, total))
    return Failover(took_s, samples)


def measured(*times: float | None) -> KindResult:
    return KindResult(KINDS[0], [failover(time) for time in times], verified_bytes=10**9, seconds=10.0)


class ReportTest(unittest.TestCase):
    def test_last_line(self) -> None:
        both = [measured(0.004, 0.006, 0.008), measured(0.5, 1.5)]
        self.assertEqual(failover_report.last_line(both), "failover: 5 cuts, 0 lost, p50 8 ms p99 1500 ms")
        self.assertEqual(failover_report.last_line([measured(0.004, None)]), "failover: 2 cuts, 1 lost, p50 4 ms p99 4 ms")

    def test_percentiles_are_values_that_occurred(self) -> None:
        values = [float(number) for number in range(1, 101)]
        self.assertEqual([percentile(values, percent) for percent in (0, 50, 99, 100)], [1, 50, 99, 100])
        self.assertEqual(percentile([7.0], 99), 7)
        self.assertTrue(math.isnan(percentile([], 50)))

    def test_what_must_not_happen_is_reported(self) -> None:
        self.assertEqual(failover_report.missed([measured(0.1)]), [])
        self.assertIn("1 of 2 faults ended or stopped the flow", failover_report.missed([measured(0.1, None)])[0])
        wrong = measured(0.1)
        wrong.wrong_bytes = 3
        self.assertEqual(failover_report.missed([wrong]), ["carrier: 3 wrong bytes"])
        ended = measured(0.1)
        ended.failed_runs.append("no other path")
        self.assertEqual(len(failover_report.missed([ended])), 1)
        self.assertIn("no other path", failover_report.section([ended], {}, None))

    def test_growth_is_reported(self) -> None:
        for memory, descriptors, lines in ((11 << 20, 21, 0), (30 << 20, 20, 1), (10 << 20, 60, 1), (30 << 20, 60, 2)):
            result = measured(0.1)
            result.footprints["rank n0"] = [Footprint(10 << 20, 20), Footprint(memory, descriptors)]
            self.assertEqual(len(failover_report.missed([result])), lines, (memory, descriptors))

    def test_histogram_counts_all(self) -> None:
        rows = failover_report.histogram(measured(0.001, 0.006, 0.007, 0.030, 6.0))
        counts = [int(row.split("ms")[1].split()[0]) for row in rows]
        self.assertEqual(sum(counts), 5)
        self.assertEqual(counts[:2], [1, 2])
        self.assertTrue(rows[-1].startswith("  5000 .. 10000"))
        self.assertEqual(failover_report.histogram(measured(None)), [])

    def test_rates_before_during_and_after(self) -> None:
        text = failover_report.section([measured(0.1, 0.1)], {}, None)
        self.assertRegex(text, r"\| carrier \| 59\.\d \| 0\.\d \| 60\.0 \|")


class PictureTest(unittest.TestCase):
    def test_the_pause_shows(self) -> None:
        rates = failover_picture.binned_rates([failover(0.1)], -0.2, 0.4)
        self.assertTrue(all(rate < 1 for at, rate in rates if 0.02 < at < 0.08), rates)
        self.assertTrue(all(59 < rate < 61 for at, rate in rates if at < -0.02 or 0.13 < at), rates)

    def test_is_well_formed(self) -> None:
        text = failover_picture.drawing([measured(0.1), measured(5.0, None)])
        root = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(len(root.findall("{http://www.w3.org/2000/svg}polyline")), 2)


class BurstTest(unittest.TestCase):
    def begins_at(self, samples: list[tuple[float, int]]) -> float | None:
        burst = Burst()
        return next((at for at, count in samples if burst.has_begun(at, count)), None)

    def test_the_nodes_own_messages_are_no_data(self) -> None:
        self.assertIsNone(self.begins_at([(step / 1000, step * 1000) for step in range(5000)]))  # 1 MB/s

    def test_data_is_recognised_within_milliseconds(self) -> None:
        samples = [(step / 1000, max(0, step - 100) * 60_000) for step in range(200)]
        began = self.begins_at(samples)
        assert began is not None
        self.assertTrue(0.1 < began <= 0.104, began)

    def test_what_came_while_this_process_did_not_run_counts(self) -> None:
        self.assertEqual(self.begins_at([(0.0, 0), (0.2, BURST_BYTES)]), 0.2)


class CommandTest(unittest.TestCase):
    def test_refusals(self) -> None:
        for words in (("--cuts", "0"), ("--kinds", "loud"), ("--kinds", ","), ("--fast",)):
            with self.subTest(words):
                done = bench(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr)

    def test_programs_that_are_not_built(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            done = bench("--quick", "--build", empty)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "not built: .*/bin/cablewayd, .*; build with: ")

    def test_quick_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "benchmarks.md")
            done = bench("--cuts", "1", "--build", BUILD, "--out", str(out))
            self.assertEqual(done.returncode, 0, f"stdout:\n{done.stdout}\nstderr:\n{done.stderr}")
            text, picture = out.read_text(encoding="utf-8"), Path(folder, "failover.svg").read_text(encoding="utf-8")
        self.assertRegex(done.stdout.splitlines()[-1], r"^failover: 5 cuts, 0 lost, p50 \d+ ms p99 \d+ ms$")
        self.assertEqual(picture.count("<polyline"), 5)
        rows = re.findall(r"^\| ([a-z ]+) \| 1 \| 0 \| 0 \| 0 \| (\d\.\d\d) \|", text, re.MULTILINE)
        self.assertEqual([name for name, _ in rows], ["carrier", "killed relay", "stopped relay", "silent", "silent one way"])
        self.assertTrue(all(float(verified) > 0.01 for _, verified in rows), rows)
        self.assertIn("| cablewayd n3 | ", text)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: failover_bench_test.py --build DIR [TEST...]")
    BUILD = sys.argv[2]
    del sys.argv[1:3]
    lab_case.main()
