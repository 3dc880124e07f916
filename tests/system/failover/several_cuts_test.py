#!/usr/bin/env python3
"""System test, in namespaces, of cables that are cut together, or while a job begins or ends: the flow goes on over any
remaining path.

Usage: several_cuts_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FLOW, FailoverCase, wait_for_data
from in_lab import in_lab, long, main, report_figure
from lab_nodes import STEADY, LabNodes

_PAUSE_S = 3.0
_SHORT_JOB = (*FLOW, "--wall-seconds", "2")
# From the start of the ranks: before they have a flow, while it is set up, and after.
_INTO_THE_START_S = (0.0, 0.1, 0.2, 0.3, 0.4)
# The time before the end of the ranks in a run without a cut: while messages are sent and checked, and flows close. The
# command that cuts a cable takes a quarter of a second itself.
_BEFORE_THE_END_S = (0.60, 0.45, 0.40, 0.35, 0.30, 0.25, 0.20, 0.15)
# From the start of the ranks to their end: 2.2 s, with or without a cut. A flow that waited for TCP would stall for 4 s, and
# a process that waited for its connections over the cut cable would end 2 s later.
_MOST_S = 4.0


def cut_at_once(nodes: LabNodes, *cables: str) -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda cable: nodes.lab("cut", cable), cables))


class SeveralCutsTest(FailoverCase):
    def check_last_way(self, nodes: LabNodes, **settings: str) -> None:
        """Two of the three paths from n0 to n1 end together."""
        ranks = self.start(nodes, ["n0", "n1"], seconds=6, **settings)
        wait_for_data(nodes, "n1", "to-n0")

        def cut() -> None:
            cut_at_once(nodes, "n0-n1", "n0-n2")
            wait_for_data(nodes, "n1", "to-n3")
        self.check_pause(nodes, ranks, cut, _PAUSE_S)

    @in_lab("mesh:4", "--rate", "500mbit")
    def test_two_at_once(self, nodes: LabNodes) -> None:
        self.check_last_way(nodes)

    @long
    @in_lab("mesh:4", "--rate", "500mbit")
    def test_two_at_once_under_a_flow_with_one_path_at_a_time(self, nodes: LabNodes) -> None:
        self.check_last_way(nodes, MULTIPATH="off")

    @in_lab("mesh:4", "--rate", "500mbit")
    def test_a_cable_and_a_relay_of_the_way_around_it(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=6)
        wait_for_data(nodes, "n1", "to-n0")

        def end_both() -> None:
            nodes.kill("n2")
            cut_at_once(nodes, "n0-n1")
            wait_for_data(nodes, "n1", "to-n3")
        self.check_pause(nodes, ranks, end_both, _PAUSE_S)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_while_a_job_begins(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        for delay in _INTO_THE_START_S:
            self.check_cut_after(nodes, delay)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_while_a_job_ends(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        whole_s = min(self.time_of_short_job(nodes) for _ in range(2))
        run_on = [self.check_cut_after(nodes, whole_s - before) for before in _BEFORE_THE_END_S]
        self.assertTrue(any(run_on), "all cuts came after the end")

    def time_of_short_job(self, nodes: LabNodes) -> float:
        began = time.monotonic()
        nodes.start_ranks(["n0", "n1"], *_SHORT_JOB).finish()
        return time.monotonic() - began

    def check_cut_after(self, nodes: LabNodes, delay_s: float) -> bool:
        """Cuts a cable after `delay_s` of a short job, which has to succeed. Returns whether the job ran on after the cut."""
        began = time.monotonic()
        ranks = nodes.start_ranks(["n0", "n1"], *_SHORT_JOB)
        time.sleep(delay_s)
        nodes.lab("cut", "n0-n1")
        run_on = ranks.running()
        what = f"cut {delay_s:.2f} s after the start, {'and the ranks ran on' if run_on else 'when the ranks had ended'}"
        self.assertGreater(ranks.finish(), 0, what)
        took = time.monotonic() - began
        report_figure(f"{what}: all took {took:.1f} s")
        self.assertLess(took, _MOST_S, what)
        nodes.lab("mend", "n0-n1")
        nodes.wait_for_cables()
        return run_on


if __name__ == "__main__":
    main()
