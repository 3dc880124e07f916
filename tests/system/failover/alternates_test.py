#!/usr/bin/env python3
"""System test of alternates, in namespaces: a flow uses both ways around a ring, and leaves one to any flow that needs it.

Usage: alternates_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FLOW, FLOWING_BYTES, FailoverCase, cable_shares, lose_and_return, wait_for_data
from in_lab import in_lab, main, report_figure
from lab_nodes import LabNodes

_RATE_BYTES = 200e6 / 8
_SECONDS = 3
_LEAST_SHARE = 0.85  # of a cable: the rest is headers, hellos, and the machine's overhead
_MOST_BESIDE = 0.05  # of a cable that another flow needs
_PAUSE_S = 0.5


class AlternatesTest(FailoverCase):
    @in_lab("ring:4", "--rate", "200mbit")
    def test_both_ways_around(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], 18, MULTIPATH="all")
        for relay in ("n1", "n3"):
            wait_for_data(nodes, "n2", f"to-{relay}")
        first, second = cable_shares(nodes, "n2", ("to-n1", "to-n3"), _RATE_BYTES, _SECONDS)
        report_figure(f"{first:.2f} and {second:.2f} of a cable")
        self.assertGreater(first, _LEAST_SHARE)
        self.assertGreater(second, _LEAST_SHARE)
        [flow] = nodes.cableway("n0", "flows")["flows"]
        self.assertEqual(len(flow["circuits"]), 2, flow)
        self.check_pause(nodes, ranks, lambda: lose_and_return(nodes, "n0", "to-n1", "n2", "to-n3", "to-n1"), _PAUSE_S)

    @in_lab("ring:4", "--rate", "200mbit")
    def test_it_steps_aside(self, nodes: LabNodes) -> None:
        both_ways = self.start(nodes, ["n0", "n2"], 20, MULTIPATH="all")
        for relay in ("n1", "n3"):
            wait_for_data(nodes, "n2", f"to-{relay}")
        [flow] = nodes.cableway("n0", "flows")["flows"]
        own = flow["path"].split(" -> ")[1]
        [other] = {"n1", "n3"} - {own}
        neighbours = nodes.start_ranks([other, "n2"], *FLOW, "--seconds", "7")
        direct = nodes.received_bytes("n2", f"to-{other}")
        nodes.wait_until(lambda: nodes.received_bytes("n2", f"to-{other}") > direct + 4 * FLOWING_BYTES,
                         lambda: f"data from {other}")
        relayed = nodes.relayed_bytes([other])
        through_own, through_other = cable_shares(nodes, "n2", (f"to-{own}", f"to-{other}"), _RATE_BYTES, _SECONDS)
        beside = (nodes.relayed_bytes([other]) - relayed) / _SECONDS / _RATE_BYTES
        report_figure(f"{through_own:.2f} and {through_other:.2f} of a cable, {beside:.3f} beside the flow that needs it")
        self.assertGreater(through_own, _LEAST_SHARE)
        self.assertGreater(through_other - beside, _LEAST_SHARE)
        self.assertLess(beside, _MOST_BESIDE)
        neighbours.finish()
        relayed = nodes.relayed_bytes([other])
        nodes.wait_until(lambda: nodes.relayed_bytes([other]) > relayed + FLOWING_BYTES, lambda: f"data through {other} again")
        both_ways.finish()


if __name__ == "__main__":
    main()
