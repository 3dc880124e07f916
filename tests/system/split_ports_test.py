#!/usr/bin/env python3
"""System test of split ports in namespaces: two interfaces of a node on one wire, a bridge, as both functions of a DGX
Spark's plug. Nodes know nothing of plugs but what they hear.

Usage: split_ports_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import unittest

from in_lab import in_lab, main, report_figure
from lab_nodes import STEADY, LabNodes

_FUNCTIONS = ("to-w0", "to-w0-2")
# Otherwise either function answers ARP for the addresses of both, and receives the other's bytes.
_OWN_ADDRESS_ONLY = ("--sysctl", "net.ipv4.conf.all.arp_ignore=1", "--sysctl", "net.ipv4.conf.all.arp_announce=2")
_SIZES = ("--workload", "all_reduce", "--sizes", "16M", "--channels", "2", "-w", "0", "--iters", "4", "--check", "1")


class SplitPortsTest(unittest.TestCase):
    def check_found(self, nodes: LabNodes, *expected: str) -> None:
        """`expected`: codes of warnings that the lab causes by itself."""
        nodes.wait_for_cables()
        for name in nodes.names:
            self.assertEqual(nodes.problems(name), [])
            self.assertEqual(nodes.events(name, "CABLE_REFUSED", "LINK_LOCAL_USED", "CABLE_TO_SELF"), [])
            self.assertEqual(self.faults(nodes, name, *expected), [])
            topology = nodes.cableway(name, "topology")
            plugs = {end["plug"] for cable in topology["cables"] for end in cable["ends"]}
            self.assertNotIn("", plugs)

    @staticmethod
    def faults(nodes: LabNodes, name: str, *expected: str) -> list[str]:
        """The warnings of doctor, except for these, and for ARP, which not every lab configures."""
        return [f"{each['about']}: {each['what']}" for each in nodes.doctor(name, "--no-speed")[1]
                if each["severity"] in ("warning", "error") and each["code"] not in ("ARP_ANSWERED_FOR_TWIN", *expected)]

    def check_shares(self, nodes: LabNodes) -> None:
        """Checks that a job of two channels sends and receives equally through both functions of both nodes."""
        before = {(node, port): (nodes.sent_bytes(node, port), nodes.received_bytes(node, port))
                  for node in ("n0", "n1") for port in _FUNCTIONS}
        nodes.start_ranks(["n0", "n1"], *_SIZES).finish()
        moved = {place: (nodes.sent_bytes(*place) - sent, nodes.received_bytes(*place) - received)
                 for place, (sent, received) in before.items()}
        for node in ("n0", "n1"):
            for direction in (0, 1):
                first, second = (moved[node, port][direction] for port in _FUNCTIONS)
                self.assertGreater(first, 16 * 2**20, moved)
                self.assertLess(abs(first - second), 0.1 * max(first, second), moved)
        shares = [round(100 * moved[node, _FUNCTIONS[0]][way] / sum(moved[node, port][way] for port in _FUNCTIONS), 1)
                  for node in ("n0", "n1") for way in (0, 1)]
        report_figure(f"share of the first function's bytes, sent and received by n0 and n1: {shares} %")

    @in_lab("twins:2", *_OWN_ADDRESS_ONLY)
    def test_two_cables_share_one_wire(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        self.check_found(nodes)
        self.check_shares(nodes)

    @in_lab("twins:2", "--addresses", "link-local")
    def test_link_local_addresses_are_enough(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        self.check_found(nodes)
        self.check_shares(nodes)

    @in_lab("twins:3")
    def test_ring_of_split_ports(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        self.check_found(nodes)
        nodes.check_routes()
        nodes.check_traffic()

    @in_lab("twins:2", "--loss", "20%", *_OWN_ADDRESS_ONLY)
    def test_lost_hellos_and_an_unplugged_function(self, nodes: LabNodes) -> None:
        # Both ports of a path lose a fifth in each direction: pulses find such a cable silent now and then.
        # For the same reason a connection, or the data of a cable test, may need longer than doctor waits for it.
        nodes.start(HOLD_MS="8000", PULSE_MS="0")
        self.check_found(nodes, "CABLE_UNREACHABLE", "CABLE_SLOW")
        nodes.lab("cut", "c0")
        nodes.wait_for_cables({(("n0", "to-w0-2"), ("n1", "to-w0-2"))})

        def others() -> list[str]:
            return [text for text in nodes.problems("n0") + nodes.problems("n1") if "to-w0 is down" not in text]

        # A hello that is lost may leave one for a moment.
        nodes.wait_until(lambda: not others(), lambda: f"no other problem: {others()}")
        # The other end's carrier stays: the hold time ends the cable there.
        nodes.wait_until(lambda: "PORT_UNPAIRED" in {each["code"] for each in nodes.doctor("n1", "--no-speed")[1]},
                         lambda: "doctor on n1 reports a function without a counterpart")
        nodes.lab("mend", "c0")
        self.check_found(nodes, "CABLE_UNREACHABLE", "CABLE_SLOW")
        lost = [event for name in nodes.names for event in nodes.events(name, "CABLE_LOST")]
        self.assertEqual(len(lost), 2, lost)
        for cable in ("c0", "c1", "c2", "c3"):
            nodes.lab("shape", cable, "--loss", "0%")
        self.check_shares(nodes)

    @in_lab("line:2")
    def test_a_cable_between_two_ports_of_one_node(self, nodes: LabNodes) -> None:
        nodes.ip("n0", "link add loop0 type veth peer name loop1")
        for end, interface in enumerate(("loop0", "loop1")):
            nodes.ip("n0", f"addr add 10.8.0.{end + 1}/30 dev {interface}")
            nodes.ip("n0", f"link set {interface} up")
        # A loop is reported after the hold time.
        nodes.start("n0", PORTS="to-n1,loop0,loop1", HOLD_MS="2000")
        nodes.start("n1", HOLD_MS="2000")
        nodes.wait_for_cables()
        nodes.wait_until(lambda: len(nodes.events("n0", "CABLE_TO_SELF")) == 2,
                         lambda: f"n0 reports both ends of the loop; its events are {nodes.events('n0', 'CABLE_TO_SELF')}")
        self.assertEqual(nodes.events("n1", "CABLE_TO_SELF"), [])


if __name__ == "__main__":
    main()
