#!/usr/bin/env python3
"""Tests of tools/bench.sh failover: its judgement on made-up measurements, and a quick run.

Usage: failover_bench_test.py --build DIR [TEST...]. The programs in DIR are measured. Exit status 77 where this system cannot
run a lab.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tools" / "bench"), str(ROOT / "tools" / "bench" / "failover")]

import failover_picture
import failover_report
import lab_case
from arrivals import BURST_BYTES, Burst, Failover
from bench_error import BenchError
from failover_faults import KINDS
from failover_results import Footprint, KindResult, Life, Lives, Results, binned, percentile
from failover_samples import Run, Samples, add_to_file, read_samples, write_samples
from failover_turns import next_kind
from node_events import CableNews
from process_lives import merged

BUILD = ""
QUICK_RUN_LIMIT_S = 280


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "tools" / "bench.sh"), "failover", *words], capture_output=True, text=True,
                          timeout=QUICK_RUN_LIMIT_S, check=False)


def failover(took_s: float | None, mb_per_s: int = 60) -> Failover:
    """A fault with 60 MB/s before it and the same rate after the pause."""
    pause, samples, total = 20.0 if took_s is None else took_s, [], 0
    for millisecond in range(-200, round(pause * 1000) + 600):
        if not 0 <= millisecond < pause * 1000:
            total += mb_per_s * 1000
        samples.append((millisecond / 1000, total))
    return Failover(took_s, samples)


def measured(*times: float | None, kind: int = 0) -> KindResult:
    result = KindResult(KINDS[kind], verified_bytes=10**9, seconds=10.0)
    for time in times:
        result.add(failover(time))
    return result


def results_of(*kinds: KindResult) -> Results:
    return Results({result.kind.name: result for result in kinds})


def samples_of(*kinds: KindResult, **facts: str) -> Samples:
    made_up = {"CPU": "made up", "kernel": "6.1", "commit": "aaaa", "programs": "p1"} | facts
    return Samples([Run(made_up, 1.7e9, 60.0)], results_of(*kinds))


class ReportTest(unittest.TestCase):
    def test_last_line(self) -> None:
        both = [measured(0.004, 0.006, 0.008), measured(0.5, 1.5)]
        self.assertEqual(failover_report.last_line(both), "failover: 5 cuts, 0 lost, p50 8.0 ms p99 1500.0 ms")
        self.assertEqual(failover_report.last_line([measured(0.004, None)]), "failover: 2 cuts, 1 lost, p50 4.0 ms p99 4.0 ms")

    def test_percentiles_are_values_that_occurred(self) -> None:
        values = [float(number) for number in range(1, 101)]
        self.assertEqual([percentile(values, percent) for percent in (0, 50, 99, 100)], [1, 50, 99, 100])
        self.assertEqual(percentile([7.0], 99), 7)
        self.assertTrue(math.isnan(percentile([], 50)))

    def test_what_must_not_happen_is_reported(self) -> None:
        self.assertEqual(failover_report.missed(samples_of(measured(0.1))), [])
        self.assertIn("1 of 2 faults ended or stopped the flow", failover_report.missed(samples_of(measured(0.1, None)))[0])
        wrong = measured(0.1)
        wrong.wrong_bytes = 3
        self.assertEqual(failover_report.missed(samples_of(wrong)), ["carrier: 3 wrong bytes"])
        ended = measured(0.1)
        ended.failed_runs.append("no other path")
        self.assertEqual(len(failover_report.missed(samples_of(ended))), 1)
        self.assertIn("no other path", failover_report.section(samples_of(ended), None))
        broken = samples_of(measured(0.1))
        broken.results.broken_off.append("carrier: nothing flows")
        self.assertIn("nothing flows", failover_report.missed(broken)[0])

    def test_goals_fail_a_run_with_enough_faults(self) -> None:
        """The goals for carrier: p50 of 10 ms, p99 of 30 ms."""
        for times, lines in (([0.031] * 99, 0), ([0.009] * 98 + [0.031] * 2, 1), ([0.009] * 99 + [0.031], 0),
                             ([0.011] * 100, 1), ([0.031] * 100, 2)):
            with self.subTest(len(times), first=times[0], last=times[-1]):
                self.assertEqual(len(failover_report.missed(samples_of(measured(*times)))), lines)
        stuck = measured(*[0.009] * 98, None, None)
        self.assertIn("p99 <= 30 ms is missed", failover_report.missed(samples_of(stuck))[1])
        self.assertEqual(failover_report.missed(samples_of(measured(*[0.5] * 100, kind=3))), [])  # of `silent` none is wanted

    def test_goals_are_shown_in_any_case(self) -> None:
        text = "\n".join(failover_report.summary([measured(0.007, 0.040)]))
        self.assertIn("| p50 <= 10 ms: met, p99 <= 30 ms: missed | 5.0 |", text)
        self.assertIn("max <= 1000 ms: met", "\n".join(failover_report.summary([measured(0.9, kind=2)])))

    def test_growth_is_reported(self) -> None:
        for memory, descriptors, lines in ((11 << 20, 21, 0), (30 << 20, 20, 1), (10 << 20, 60, 1), (30 << 20, 60, 2)):
            samples = samples_of(measured(0.1))
            samples.runs[0].processes["rank n0"] = Lives.of(Life(7, Footprint(10 << 20, 20), Footprint(memory, descriptors)))
            self.assertEqual(len(failover_report.missed(samples)), lines, (memory, descriptors))

    def test_histogram_counts_all(self) -> None:
        rows = failover_report.histogram(measured(0.001, 0.006, 0.007, 0.030, 6.0))
        counts = [int(row.split("ms")[1].split()[0]) for row in rows]
        self.assertEqual(sum(counts), 5)
        self.assertEqual(counts[:2], [1, 2])
        self.assertTrue(rows[-1].startswith("  5000 .. 10000"))
        self.assertEqual(failover_report.histogram(measured(None)), [])

    def test_rates_before_during_and_after(self) -> None:
        text = failover_report.section(samples_of(measured(0.1, 0.1)), None)
        self.assertRegex(text, r"\| carrier \| 60\.0 \| 0\.0 \| 60\.0 \|")

    def test_says_that_the_machine_was_busy(self) -> None:
        idle, busy = measured(0.1), measured(0.1, 0.1, kind=1)
        self.assertNotIn("other work", failover_report.section(samples_of(idle), None))
        busy.disturbed = 2
        self.assertIn("2 of the faults were measured while", failover_report.section(samples_of(idle, busy), None))

    def test_names_its_runs(self) -> None:
        samples = samples_of(measured(0.1))
        self.assertIn("One run, 1 minutes in all.", failover_report.section(samples, None))
        samples.runs.append(Run(samples.runs[0].facts | {"commit": "bbbb"}, 1.7e9, 120.0))
        text = failover_report.section(samples, None)
        self.assertIn("2 runs, 2 at a time, 3 minutes in all.", text)
        self.assertIn("| commit | aaaa, bbbb |", text)
        samples.runs[1].began += 60
        self.assertIn("2 runs, 3 minutes in all.", failover_report.section(samples, None))


class SamplesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "samples.json")

    def test_nothing_is_lost_in_the_file(self) -> None:
        samples = samples_of(measured(0.01, 0.25, None), measured(0.3, kind=2))
        samples.runs[0].processes["rank n0"] = Lives.of(Life(7, Footprint(10, 20), Footprint(30, 40)))
        samples.results.broken_off.append("why")
        write_samples(self.path, samples)
        again = read_samples(self.path)
        self.assertEqual((again.runs, again.results.to_json()), (samples.runs, samples.results.to_json()))
        self.assertEqual(again.processes(), samples.processes())
        self.assertEqual(failover_report.section(read_samples(self.path), None), failover_report.section(samples, None))

    def test_a_file_stays_small(self) -> None:
        write_samples(self.path, samples_of(measured(*[0.05] * 200)))
        self.assertLess(self.path.stat().st_size, 8000)

    def test_no_file_has_no_samples(self) -> None:
        self.assertEqual(read_samples(self.path), Samples())

    def test_other_files_are_refused(self) -> None:
        write_samples(self.path, samples_of(measured(0.01)))
        good = json.loads(self.path.read_text(encoding="utf-8"))

        def without_kinds(document: dict[str, Any]) -> None:
            del document["results"]["kinds"]

        def other_method(document: dict[str, Any]) -> None:
            document["method"] = 0

        def no_number(document: dict[str, Any]) -> None:
            document["results"]["kinds"]["carrier"]["took_ms"] = ["soon"]

        def unknown_kind(document: dict[str, Any]) -> None:
            document["results"]["kinds"]["loud"] = document["results"]["kinds"]["carrier"]

        spoilers: tuple[Callable[[dict[str, Any]], None], ...] = (without_kinds, other_method, no_number, unknown_kind)
        for spoil in spoilers:
            with self.subTest(spoil.__name__):
                document = json.loads(json.dumps(good))
                spoil(document)
                self.path.write_text(json.dumps(document), encoding="utf-8")
                self.assertRaisesRegex(BenchError, "not a file of failover's measurements", read_samples, self.path)
        for text in ("", "[]", "nothing"):
            with self.subTest(text):
                self.path.write_text(text, encoding="utf-8")
                self.assertRaisesRegex(BenchError, "not a file of failover's measurements", read_samples, self.path)

    def test_runs_at_the_same_time_add_up(self) -> None:
        facts = samples_of().runs[0].facts
        one, other = Run(facts, 1.7e9), Run(facts, 1.7e9)
        life = Lives.of(Life(7, Footprint(10, 20), Footprint(30, 40)))
        self.assertEqual(add_to_file(self.path, one, None, None).results.in_order(), [])
        for run in (one, other, one):
            run.processes["rank n0"] = life
            run.seconds += 10
            add_to_file(self.path, run, measured(0.01, None), None)
        samples = add_to_file(self.path, other, None, "why")
        self.assertEqual((samples, samples.at_once()), (read_samples(self.path), 2))
        self.assertEqual([(run.name, run.seconds) for run in samples.runs], [(one.name, 20.0), (other.name, 10.0)])
        self.assertEqual([(result.faults, result.stuck) for result in samples.results.in_order()], [(6, 3)])
        self.assertEqual((samples.results.broken_off, samples.processes()["rank n0"].count), (["why"], 2))

    def test_a_block_of_other_programs_is_not_added(self) -> None:
        write_samples(self.path, samples_of(measured(0.01)))
        other = Run(samples_of(programs="p2").runs[0].facts, 1.7e9)
        self.assertRaisesRegex(BenchError, "do not add up", add_to_file, self.path, other, measured(0.02), None)
        self.assertEqual(read_samples(self.path).results.in_order()[0].faults, 1)

    def test_other_programs_do_not_add_up(self) -> None:
        samples = samples_of(measured(0.01))
        facts = samples.runs[0].facts
        samples.check_adds_up(facts | {"commit": "bbbb"}, self.path)  # for example a commit that changed the documentation
        for changed in ({"programs": "p2"}, {"CPU": "another"}, {"kernel": "6.2"}):
            with self.subTest(changed), self.assertRaisesRegex(BenchError, "commit aaaa of 2023.* commit bbbb;.*another file"):
                samples.check_adds_up(facts | {"commit": "bbbb"} | changed, self.path)

    def test_results_add_up(self) -> None:
        one, other = measured(0.01, None), measured(0.02, 0.03)
        one.merge(other)
        self.assertEqual((one.faults, one.lost, one.verified_bytes, one.seconds), (4, 1, 2 * 10**9, 20.0))
        self.assertEqual(one.times_s(), [0.01, 0.02, 0.03])
        self.assertEqual(one.rates.phases["before"].count, 3)

    def test_lives_add_up(self) -> None:
        old, young = Life(9, Footprint(10, 3), Footprint(11, 3)), Life(2, Footprint(10, 3), Footprint(19, 5))
        both = merged({"n0": Lives.of(old)}, {"n0": Lives.of(young), "n1": Lives.of(young)})
        self.assertEqual(both["n0"], Lives(2, old, young, young))
        self.assertEqual(both["n1"], Lives.of(young))


class TurnsTest(unittest.TestCase):
    def test_the_kind_with_the_fewest_faults_comes_next(self) -> None:
        results = results_of(measured(0.1, 0.1), measured(0.1, kind=1))
        self.assertEqual(next_kind(list(KINDS[:2]), results, 3), KINDS[1])
        self.assertEqual(next_kind(list(KINDS[:3]), results, 3), KINDS[2])
        self.assertEqual(next_kind(list(KINDS[:2]), results_of(measured(0.1), measured(0.1, kind=1)), 3), KINDS[0])
        self.assertIsNone(next_kind(list(KINDS[:2]), results, 1))


class CableNewsTest(unittest.TestCase):
    def take(self, *events: str) -> CableNews:
        news = CableNews()
        for event in events:
            news.take(f"[2026-01-01T00:00:00.000Z] [cablewayd] [info] {event}")
        return news

    def test_cables_come_and_go(self) -> None:
        up = "CABLE_UP cable to-n1 to node n1 (to-n0) is up"
        topology = "TOPOLOGY_CHANGED the topology now has 2 nodes and 1 cable"
        self.assertEqual(self.take(up, topology), CableNews(1, {"to-n1"}, set()))
        for end in ("CABLE_LOST cable to-n1 to node n1 (to-n0) is down: why", "NEIGHBOUR_LEFT cable to-n1 to node n1 (to-n0) .."):
            self.assertEqual(self.take(up, topology, end).up, set())

    def test_cables_that_are_not_trusted(self) -> None:
        for doubt in ("CABLE_SILENT cable to-n1 to node n1: why", "RELAY_SILENT cable to-n1 to node n1: why"):
            self.assertEqual(self.take(doubt).doubted, {"to-n1"})
            self.assertEqual(self.take(doubt, "CABLE_HEARD_AGAIN cable to-n1 to node n1: why").doubted, set())

    def test_only_news_is_new(self) -> None:
        news = CableNews()
        line = "[2026-01-01T00:00:00.000Z] [cablewayd] [info] CABLE_UP cable to-n1 to node n1 (to-n0) is up"
        self.assertEqual([news.take(each) for each in (line, line, "", "cablewayd: whatever")], [True, False, False, False])


class PictureTest(unittest.TestCase):
    def test_the_pause_shows(self) -> None:
        rates = failover_picture.rates_over_time(measured(0.1, 0.1).rates, -0.2, 0.4)
        self.assertTrue(all(rate < 1 for at, rate in rates if 0.02 < at < 0.08), rates)
        self.assertTrue(all(59 < rate < 61 for at, rate in rates if at < -0.02 or 0.13 < at), rates)

    def test_bins_share_out_what_arrives_between_two_samples(self) -> None:
        rates = dict(binned([(-0.005, 0), (0.0, 0), (0.020, 2000), (0.034, 2000)]))
        self.assertEqual({number: round(rate) for number, rate in rates.items()}, {0: 100_000, 1: 100_000, 2: 0})

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
        for words in (("--cuts", "0"), ("--kinds", "loud"), ("--kinds", ","), ("--seconds", "0"), ("--fast",)):
            with self.subTest(words):
                done = bench(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr)

    def test_programs_that_are_not_built(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            done = bench("--quick", "--build", empty)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "not built: .*/bin/cablewayd, .*; build with: ")

    def test_samples_of_other_programs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "samples.json")
            write_samples(file, samples_of(measured(0.01)))
            done = bench("--quick", "--build", BUILD, "--samples", str(file))
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "measurements of commit aaaa .* this is commit [0-9a-f]{12}")

    def test_quick_run(self) -> None:
        """Runs twice: the second run does not measure again what the first has measured."""
        with tempfile.TemporaryDirectory() as folder:
            out, file = Path(folder, "benchmarks.md"), Path(folder, "samples.json")
            words = ("--cuts", "1", "--build", BUILD, "--out", str(out), "--samples", str(file))
            done = bench(*words)
            self.assertEqual(done.returncode, 0, f"stdout:\n{done.stdout}\nstderr:\n{done.stderr}")
            text, picture = out.read_text(encoding="utf-8"), Path(folder, "failover.svg").read_text(encoding="utf-8")
            self.assertEqual(bench(*words).stdout, done.stdout)
        self.assertRegex(done.stdout.splitlines()[-1], r"^failover: 5 cuts, 0 lost, p50 [\d.]+ ms p99 [\d.]+ ms$")
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
