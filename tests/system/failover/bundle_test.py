#!/usr/bin/env python3
"""System test of bundles, in namespaces: one flow uses two parallel cables at once, and goes on over one of them.

Usage: bundle_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FLOWING_BYTES, FailoverCase, cable_shares, lose_and_return, wait_for_data
from in_lab import in_lab, long, main, report_figure
from lab_nodes import STEADY, LabNodes, Ranks

_RATE_BYTES = 200e6 / 8
_SECONDS = 3
# The least share of both cables' rates together: the rest is headers, hellos, and the machine's overhead.
_LEAST_SHARE = 0.85
_PAUSE_S = 0.5


class BundleTest(FailoverCase):
    def start_striped(self, nodes: LabNodes, ranks_on: list[str], seconds: int) -> Ranks:
        """Two cables of 200 Mbit/s between neighbours, and a flow that uses both."""
        for a, b in zip(nodes.names, nodes.names[1:]):
            nodes.lab("plug", f"{a}-{b}", "--rate", "200mbit")
        ranks = self.start(nodes, ranks_on, seconds, MULTIPATH="bundle")
        before = nodes.names[-2]
        for interface in (f"to-{before}", f"to-{before}-2"):
            wait_for_data(nodes, nodes.names[-1], interface)
        return ranks

    def check_both_used(self, nodes: LabNodes, name: str, interface: str) -> None:
        """The interface and its twin together receive what both cables can carry."""
        interfaces = (interface, f"{interface}-2")
        first, second = cable_shares(nodes, name, interfaces, _RATE_BYTES, _SECONDS)
        report_figure(f"{first:.2f} and {second:.2f} of a cable")
        self.assertGreater(first + second, 2 * _LEAST_SHARE)
        self.assertGreater(min(first, second), _LEAST_SHARE / 2)

    @in_lab("line:2", "--rate", "200mbit")
    def test_two_cables(self, nodes: LabNodes) -> None:
        ranks = self.start_striped(nodes, ["n0", "n1"], 20)
        self.check_both_used(nodes, "n1", "to-n0")
        [flow] = nodes.cableway("n0", "flows")["flows"]
        self.assertEqual(len(flow["circuits"]), 2, flow)
        self.check_pause(nodes, ranks, lambda: lose_and_return(nodes, "n0", "to-n1-2", "n1", "to-n0", "to-n0-2"), _PAUSE_S)

    @in_lab("line:3", "--rate", "200mbit")
    def test_over_a_relay(self, nodes: LabNodes) -> None:
        ranks = self.start_striped(nodes, ["n0", "n2"], 12)
        self.check_both_used(nodes, "n2", "to-n1")
        self.assertEqual(nodes.relay_memory("n1")["circuits"], 2)
        ranks.finish()

    @long
    @in_lab("line:2", "--rate", "200mbit")
    def test_a_cable_that_drains(self, nodes: LabNodes) -> None:
        ranks = self.start_striped(nodes, ["n0", "n1"], 25)

        def drain_and_undrain() -> None:
            nodes.run("n0", nodes.build / "bin/cableway", "drain", "to-n1-2")
            idle = nodes.received_bytes("n1", "to-n0-2")
            wait_for_data(nodes, "n1", "to-n0")
            self.assertLess(nodes.received_bytes("n1", "to-n0-2") - idle, FLOWING_BYTES / 10)
            [cable] = nodes.cableway("n0", "status")["draining_cables"]
            nodes.run("n0", nodes.build / "bin/cableway", "undrain", cable)
            wait_for_data(nodes, "n1", "to-n0-2")
        self.check_pause(nodes, ranks, drain_and_undrain, _PAUSE_S, reroutes=False)


if __name__ == "__main__":
    main()
