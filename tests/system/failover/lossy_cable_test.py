#!/usr/bin/env python3
"""System test, in namespaces: a cable that loses some of its packets is found by pulses, is used last, and is reported.

Usage: lossy_cable_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FailoverCase, wait_for_data
from in_lab import in_lab, long, main, report_figure
from lab_nodes import LabNodes

_LOSS, _LEAST_PERCENT, _MOST_PERCENT = "5%", 3, 8
_JOB_S = 40


class LossyCableTest(FailoverCase):
    def found(self, nodes: LabNodes, name: str) -> list[int]:
        return [int(event["fields"]["percent"]) for event in nodes.events(name, "CABLE_LOSSY")]

    def lose(self, nodes: LabNodes, cable: str, *ends: str) -> None:
        """Drops packets, and waits until both ends have found the loss."""
        nodes.lab("shape", cable, "--loss", _LOSS)
        began = time.monotonic()
        for name in ends:
            nodes.wait_until(lambda: bool(self.found(nodes, name)), lambda: f"CABLE_LOSSY at {name}")
            self.assertIn(self.found(nodes, name)[0], range(_LEAST_PERCENT, _MOST_PERCENT + 1), name)
        report_figure(f"{_LOSS} of loss found after {time.monotonic() - began:.0f} s,"
                      f" as {self.found(nodes, ends[0])[0]} and {self.found(nodes, ends[1])[0]} %")

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_running_flow_leaves_it(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=_JOB_S, MULTIPATH="off")
        wait_for_data(nodes, "n1", "to-n0")
        self.lose(nodes, "n0-n1", "n0", "n1")
        wait_for_data(nodes, "n1", "to-n2")
        time.sleep(4)  # the old circuit ends
        before = nodes.received_bytes("n1", "to-n0")
        wait_for_data(nodes, "n1", "to-n2")
        self.assertLess(nodes.received_bytes("n1", "to-n0") - before, 200_000, "hellos and pulses only")
        self.assertEqual(nodes.events("n0", "CABLE_SILENT") + nodes.events("n1", "CABLE_SILENT"), [])
        nodes.wait_for_problem("n0", r"CABLE_LOSSY .*loses \d+ % of what node n1 sends")
        self.assertRegex(nodes.run("n3", nodes.build / "bin/cableway", "topology"), r"lossy: no path leads over cable .*n0.*n1")
        ranks.finish()

    @long
    @in_lab("line:3", "--rate", "200mbit")
    def test_it_is_used_where_there_is_no_other(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=_JOB_S)
        wait_for_data(nodes, "n2", "to-n1")
        self.lose(nodes, "n1-n2", "n1", "n2")
        self.assertRegex(nodes.run("n0", nodes.build / "bin/cableway", "topology"), r"lossy: cable .*n1.*n2.* there is no better way")
        ranks.finish()


if __name__ == "__main__":
    main()
