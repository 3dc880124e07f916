#!/usr/bin/env python3
"""System test of discovery: nodes in namespaces find their cables and each other in every shape, and follow
changes. Each node is configured with its interfaces only.

Usage: discovery_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import signal
import time
import unittest

from in_lab import in_lab, main
from lab_nodes import STEADY, LabNodes


class ShapeTest(unittest.TestCase):
    def check(self, nodes: LabNodes) -> None:
        """All nodes have all cables and the shortest paths, and no problems."""
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        nodes.check_routes()
        for name in nodes.names:
            self.assertEqual(nodes.problems(name), [])

    @in_lab("ring:3")
    def test_triangle(self, nodes: LabNodes) -> None:
        self.check(nodes)

    @in_lab("ring:4")
    def test_ring_of_four(self, nodes: LabNodes) -> None:
        self.check(nodes)
        self.assertGreater(nodes.check_traffic(), 0)

    @in_lab("ring:6")
    def test_ring_of_six(self, nodes: LabNodes) -> None:
        self.check(nodes)

    @in_lab("line:5")
    def test_line_of_five(self, nodes: LabNodes) -> None:
        self.check(nodes)
        self.assertGreater(nodes.check_traffic(["n0", "n4"]), 3 * 2**20)  # three relays, each a whole MiB at least

    @in_lab("star:5")
    def test_star(self, nodes: LabNodes) -> None:
        self.check(nodes)

    @in_lab("torus:3x3")
    def test_torus(self, nodes: LabNodes) -> None:
        self.check(nodes)

    @in_lab("ring:4")
    def test_ring_with_a_chord(self, nodes: LabNodes) -> None:
        nodes.lab("plug", "n0-n2")
        self.check(nodes)

    @in_lab("line:3")
    def test_parallel_cables(self, nodes: LabNodes) -> None:
        nodes.lab("plug", "n1-n0")
        nodes.lab("plug", "n0-n1")
        self.check(nodes)
        paths = next(route["paths"] for route in nodes.cableway("n2", "routes")["routes"] if route["destination"] == "n0")
        self.assertEqual(len(paths), 3)
        self.assertGreater(nodes.check_traffic(), 0)

    @in_lab("switch:4")
    def test_switch(self, nodes: LabNodes) -> None:
        self.check(nodes)
        self.assertEqual(nodes.check_traffic(), 0)  # all are neighbours

    @in_lab("switch:3")
    def test_switch_beside_a_cable(self, nodes: LabNodes) -> None:
        nodes.lab("plug", "n0-n1")
        self.check(nodes)

    @in_lab("ring:4", "--addresses", "link-local")
    def test_link_local_addresses_are_enough(self, nodes: LabNodes) -> None:
        self.check(nodes)
        for address in nodes.addresses("n0"):
            self.assertRegex(address, "^fe80::.*%to-n[0-3]$")
        self.assertGreater(nodes.check_traffic(), 0)

    @in_lab("line:3", "--addresses", "ipv6")
    def test_ipv6_addresses(self, nodes: LabNodes) -> None:
        self.check(nodes)
        self.assertEqual(nodes.addresses("n2"),
                         {"fd00:7::1", "fd00:7::2", "fd00:7:0:1::1", "fd00:7:0:1::2"})
        self.assertGreater(nodes.check_traffic(), 0)


class NodeRestartTest(unittest.TestCase):
    @in_lab("ring:4")
    def test_a_killed_node_is_lost_and_comes_back(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        nodes.kill("n1")
        nodes.wait_for_cables(nodes.cables_without("n0-n1", "n1-n2"))
        nodes.start("n1")
        nodes.wait_for_cables()
        nodes.kill("n1")
        nodes.start("n1")  # before a neighbour's hold time has passed
        nodes.wait_for_cables()
        nodes.check_routes()
        self.assertGreater(nodes.check_traffic(["n0", "n2"]), 0)

    @in_lab("line:2", "--rate", "200mbit")
    def test_neighbours_flow_does_not_need_the_daemons(self, nodes: LabNodes) -> None:
        """Neither stopping the daemons nor starting them again affects the flow."""
        nodes.start()
        nodes.wait_for_cables()
        ranks = nodes.start_ranks(["n0", "n1"], "--workload", "sendrecv,0-1", "--sizes", "1M",
                                  "-w", "1", "--iters", "4", "--seconds", "3")
        nodes.wait_until(lambda: nodes.sent_bytes("n0", "to-n1") > 8 << 20, lambda: "data flows")
        for name in nodes.names:
            nodes.kill(name)
        time.sleep(0.5)  # of the flow's three seconds without daemons
        nodes.start()
        self.assertGreater(ranks.finish(), 0)
        nodes.wait_for_cables()
        nodes.check_traffic()

    @in_lab("ring:4")
    def test_paths_avoid_a_stopped_node(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        others = ["n0", "n2", "n3"]
        nodes.signal("n1", signal.SIGSTOP)
        nodes.wait_for_cables(nodes.cables_without("n0-n1", "n1-n2"), others)
        self.assertRegex(nodes.log("n0"), r"\[warning\] CABLE_LOST .*: nothing was heard for")
        nodes.check_traffic(["n0", "n2"], counted=others)
        nodes.signal("n1", signal.SIGCONT)
        nodes.wait_for_cables()
        nodes.check_routes()
        nodes.check_traffic()


class CableChangeTest(unittest.TestCase):
    @in_lab("ring:4")
    def test_cut_and_mended(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        for how in ((), ("--silent",), ("--one-way", "n1")):
            nodes.lab("cut", "n0-n1", *how)
            nodes.wait_for_cables(nodes.cables_without("n0-n1"))
            nodes.check_routes()
            # Far away, too.
            for name in ("n0", "n2"):
                gone = nodes.cableway(name, "topology")["gone"]
                self.assertEqual([{end["node"] for end in cable["ends"]} for cable in gone], [{"n0", "n1"}], name)
            nodes.lab("mend", "n0-n1")
            nodes.wait_for_cables()
            self.assertEqual(nodes.cableway("n2", "topology")["gone"], [])
        lost = [event["fields"] for event in nodes.events("n0", "CABLE_LOST")]
        self.assertIn("the cable was unplugged", {fields["reason"] for fields in lost})
        self.assertEqual({fields["port"] for fields in lost}, {"to-n1"})
        self.assertGreater(nodes.check_traffic(), 0)

    @in_lab("line:3")
    def test_added_and_removed(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        nodes.lab("plug", "n0-n2")
        nodes.wait_for_cables()
        self.assertEqual(len(nodes.cables("n1")), 3)
        nodes.check_routes()
        self.assertEqual(nodes.check_traffic(), 0)
        nodes.lab("unplug", "n0-n1")
        nodes.wait_for_cables()
        nodes.check_routes()
        nodes.lab("plug", "n0-n1")  # an interface of the same name, and another cable
        nodes.wait_for_cables()
        self.assertEqual(nodes.check_traffic(), 0)

    @in_lab("line:3")
    def test_addresses_change(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        nodes.ip("n0", "address add 10.77.0.1/24 dev to-n1", "address delete 10.7.0.1/24 dev to-n1")
        nodes.ip("n1", "address add 10.77.0.2/24 dev to-n0", "address delete 10.7.0.2/24 dev to-n0")
        for name in nodes.names:
            nodes.wait_until(lambda name=name: nodes.addresses(name) == {"10.77.0.1", "10.77.0.2", "10.7.1.1", "10.7.1.2"},
                             lambda name=name: f"the new addresses; {name} has {nodes.addresses(name)}")
        self.assertGreater(nodes.check_traffic(), 0)
        nodes.wait_for_no_problem()


if __name__ == "__main__":
    main()
