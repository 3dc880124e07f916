#!/usr/bin/env python3
"""System test of ports that are removed under load together with their interfaces, and come back as new ones: the flow goes
on over the remaining cables, and uses the new port.

Usage: removed_port_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FailoverCase, wait_for_data
from in_lab import in_lab, long, main
from lab_nodes import LabNodes

_PAUSE_S = 3.0
_FAILED_WITHIN_S = 2.0


class RemovedPortTest(FailoverCase):
    def check_removal(self, nodes: LabNodes, **settings: str) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=25, **settings)
        wait_for_data(nodes, "n1", "to-n0")

        def remove_and_return() -> None:
            nodes.lab("unplug", "n0-n1")
            wait_for_data(nodes, "n1", "to-n2")
            nodes.lab("plug", "n0-n1", "--rate", "500mbit")
            wait_for_data(nodes, "n1", "to-n0")
        self.check_pause(nodes, ranks, remove_and_return, _PAUSE_S)

    @in_lab("ring:3", "--rate", "500mbit")
    def test_the_port_of_a_flows_first_path(self, nodes: LabNodes) -> None:
        self.check_removal(nodes)

    @long
    @in_lab("ring:3", "--rate", "500mbit")
    def test_the_port_of_a_flow_with_one_path_at_a_time(self, nodes: LabNodes) -> None:
        self.check_removal(nodes, MULTIPATH="off")

    @in_lab("line:2", "--rate", "500mbit")
    def test_the_only_port(self, nodes: LabNodes) -> None:
        """Both ends of a flow that waits for no other path end, and report the reason."""
        ranks = self.start_endless(nodes, ["n0", "n1"], PATH_WAIT="0", PULSE_MS="0")
        wait_for_data(nodes, "n1", "to-n0")
        since = time.monotonic()
        nodes.lab("unplug", "n0-n1")
        found = self.failures(ranks, ["n0", "n1"], since, _FAILED_WITHIN_S)
        for name, port in (("n0", "to-n1"), ("n1", "to-n0")):
            self.assertRegex(found[name], rf"node {name} port {port} \(cable to .*\): "
                                          r"(the interface is gone|the interface was set down|the port has lost its carrier)")


if __name__ == "__main__":
    main()
