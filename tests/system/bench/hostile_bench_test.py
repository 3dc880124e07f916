#!/usr/bin/env python3
"""Tests of tools/bench.sh hostile: its judgement on made-up results, and a short run.

Usage: hostile_bench_test.py --build DIR [TEST...]. The programs in DIR are measured. Exit status 77 where this system cannot
run a lab.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tools" / "bench"), str(ROOT / "tools" / "bench" / "hostile")]

import hostile_report
import lab_case
import open_connections
from hostile_results import Result, not_measured

BUILD = ""
SHORT_RUN_LIMIT_S = 250


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "tools" / "bench.sh"), "hostile", *words], capture_output=True, text=True,
                          timeout=SHORT_RUN_LIMIT_S, check=False)


def result(**changes: Any) -> Result:
    values: dict[str, Any] = {
        "name": "made-up", "who": "outsider", "what": "sends much", "earlier": "much", "names_job": False, "note": "",
        "per_second": 1000.0, "before_bytes_per_s": 100e6, "during_bytes_per_s": 99e6, "wrong_bytes": 0, "traffic_failure": "",
        "job_s": (0.4, 0.6), "job_failures": (), "memory_bytes": {"n0": 10**6, "n1": 2 * 10**6},
        "cores": {"n0": 0.01, "n1": 0.2}, "differs": (), "stays": ("KEY_DIFFERS",), "named_by": ("KEY_DIFFERS",),
        "lost_cables": 0, "job_after_s": 0.5, "after_failure": ""}
    return Result(**values | changes)


class JudgementTest(unittest.TestCase):
    def test_all_goals_are_met(self) -> None:
        self.assertEqual(result().missed(), [])
        self.assertEqual(hostile_report.last_line([result()]), "hostile: 1 attacks, 0 with missed goals, least ratio 0.990")

    def test_each_goal_can_be_missed(self) -> None:
        for changes, reason in (({"during_bytes_per_s": 94.9e6}, r"traffic keeps 0\.949"),
                                ({"wrong_bytes": 1}, "1 bytes .* wrong"),
                                ({"traffic_failure": "no path"}, "traffic failed: no path"),
                                ({"job_s": (0.4, 2.1)}, r"new job took 2\.10 s"),
                                ({"job_failures": ("no path",)}, "job failed"),
                                ({"memory_bytes": {"n2": 65 * 10**6}}, "grew by 65 MB"),
                                ({"cores": {"n1": 0.26}}, "n1 used 0.26"),
                                ({"differs": ("n0 lacks cable c",)}, "5 s after it: n0 lacks cable c"),
                                ({"lost_cables": 2}, "between others were lost 2 times"),
                                ({"after_failure": "no path"}, "after it failed"),
                                ({"job_after_s": 3.0}, r"after it took 3\.00 s")):
            with self.subTest(reason):
                found = result(**changes).missed()
                self.assertEqual(len(found), 1, found)
                self.assertRegex(found[0], f"^made-up: .*{reason}")

    def test_a_job_that_is_attacked_may_take_longer(self) -> None:
        self.assertEqual(result(names_job=True, job_s=(9.9,)).missed(), [])
        self.assertRegex(result(names_job=True, job_s=(10.1,)).missed()[0], r"took 10\.10 s, goal <= 10 s")
        self.assertTrue(result(names_job=True, job_failures=("no path",)).missed())

    def test_what_could_not_be_measured_misses_the_goals(self) -> None:
        found = not_measured("made-up", "outsider", "sends much", "no lab").missed()
        self.assertIn("made-up: the traffic failed: not measured: no lab", found)
        self.assertIn("traffic keeps nan", found[0])

    def test_what_was_not_run_misses_nothing(self) -> None:
        skipped = result(note="not run: no users", during_bytes_per_s=0.0)
        self.assertEqual(skipped.missed(), [])
        self.assertIn("| outsider: sends much (1,000/s sent) | not run: no users |", hostile_report.table([skipped])[-1])

    def test_a_row_of_the_table(self) -> None:
        self.assertEqual(hostile_report.table([result()])[-1],
                         "| outsider: sends much (1,000/s sent) | 100.0 | 99.0 | 0.990 | 0.60 s | 2.0 | +0.200 n1 |"
                         " nothing (KEY_DIFFERS) | KEY_DIFFERS | met |")
        self.assertIn("| outsider: sends much (1,000/s sent) | much | 100.0 |", hostile_report.table([result()], True)[-1])


class GarbageTest(unittest.TestCase):
    def test_a_connection_goes_on_until_it_is_closed(self) -> None:
        here, there = socket.socketpair()
        with there:
            here.setblocking(False)
            for _ in range(100):
                self.assertTrue(open_connections.send_more(here, bytes(65536)), "also while nobody reads")
            self.assertTrue(there.recv(1))
        self.assertFalse(open_connections.send_more(here, b"more"))
        self.assertEqual(here.fileno(), -1)


class CommandTest(unittest.TestCase):
    def test_refusals(self) -> None:
        for words in (("--only", "nonsense"), ("--seconds", "0"), ("--tries", "0")):
            with self.subTest(words):
                done = bench(*words)
                self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_short_run(self) -> None:
        """Goals may be missed on a busy machine, but everything is measured."""
        with tempfile.TemporaryDirectory() as folder:
            out, document = Path(folder, "page.md"), Path(folder, "results.json")
            done = bench("--only", "hellos-1000", "--only", "nodes", "--seconds", "1", "--tries", "1", "--build", BUILD,
                         "--out", str(out), "--json", str(document))
            self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
            page, results = out.read_text(encoding="utf-8"), json.loads(document.read_text(encoding="utf-8"))["results"]
        self.assertRegex(done.stdout.splitlines()[-1], r"^hostile: 2 attacks, \d with missed goals, least ratio \d\.\d{3}$")
        self.assertIn("<!-- hostile:begin -->", page)
        self.assertEqual([each["name"] for each in results], ["hellos-1000", "nodes"])
        for each in results:
            self.assertEqual(each["wrong_bytes"], 0, each)
        self.assertGreater(results[0]["per_second"], 100)
        self.assertIn("TOPOLOGY_CROWDED", results[1]["named_by"])


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: hostile_bench_test.py --build DIR [TEST...]")
    BUILD = str(Path(sys.argv[2]).resolve())
    del sys.argv[1:3]
    lab_case.main()
