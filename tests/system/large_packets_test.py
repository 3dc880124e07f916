#!/usr/bin/env python3
"""System test of cables that drop large packets, while small ones pass: both ends take the cable down, report the
reason, and use it again when it carries them.

Usage: large_packets_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import shutil
import subprocess
import unittest
from collections.abc import Iterator
from contextlib import contextmanager

from in_lab import in_lab, main
from lab_nodes import LabNodes, in_network


@contextmanager
def drops_large(case: unittest.TestCase, node: str, interface: str) -> Iterator[None]:
    """The node's kernel drops packets of more than 1000 bytes that arrive there."""
    with in_network(node):
        if not shutil.which("nft") or subprocess.run(["nft", "add table inet large"], check=False).returncode:
            case.skipTest("needs nft (nftables), and a kernel that has it")
        subprocess.run(["nft", "add chain inet large arrivals { type filter hook input priority 0; };"
                               f' add rule inet large arrivals iifname "{interface}" meta length > 1000 drop'], check=True)
    yield
    with in_network(node):
        subprocess.run(["nft", "delete", "table", "inet", "large"], check=True)


class LargePacketsTest(unittest.TestCase):
    def check_lost(self, nodes: LabNodes, name: str, interface: str, directions: str, text: str) -> None:
        """Everything that shows the loss at one end. It may be seen one way first."""
        nodes.wait_for_problem(name, f"LARGE_PACKETS_LOST large packets are lost: hellos of 9000 bytes {text}")
        port = next(each for each in nodes.cableway(name, "ports")["ports"] if each["interface"] == interface)
        self.assertEqual([(each["state"], each["large_lost"]) for each in port["neighbours"]], [("heard", directions)])
        self.assertRegex(nodes.run(name, nodes.build / "bin/cableway", "ports"), "heard, but large packets .* are lost")
        status, findings = nodes.doctor(name, "--no-speed")
        self.assertEqual(status, 1, findings)
        found = {each["code"]: each for each in findings}
        self.assertRegex(found["LARGE_PACKETS_LOST"]["what"], text)
        self.assertNotIn("CABLE_ONE_WAY", found)

    @in_lab("line:3")
    def test_one_way(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        with drops_large(self, "n2", "to-n1"):
            nodes.wait_for_cables(nodes.cables_without("n1-n2"), ["n0", "n1"])
            self.check_lost(nodes, "n1", "to-n2", "to", "from port to-n2 do not arrive on port to-n1 of node n2")
            self.check_lost(nodes, "n2", "to-n1", "from", "from port to-n2 of node n1 do not arrive on port to-n1")
            for name in ("n1", "n2"):
                lost = nodes.events(name, "CABLE_LOST")
                self.assertRegex(lost[-1]["fields"]["reason"], "^large packets are lost")
            nodes.check_traffic(["n0", "n1"])
            self.assertEqual(nodes.problems("n0"), [])
        nodes.wait_for_cables()
        nodes.wait_for_no_problem()
        self.assertGreater(nodes.check_traffic(), 0)

    @in_lab("line:2", "--addresses", "link-local")
    def test_from_the_start_with_link_local_addresses(self, nodes: LabNodes) -> None:
        with drops_large(self, "n0", "to-n1"):
            nodes.start()
            self.check_lost(nodes, "n0", "to-n1", "from", "from port to-n0 of node n1 do not arrive on port to-n1")
            self.check_lost(nodes, "n1", "to-n0", "to", "from port to-n0 do not arrive on port to-n1 of node n0")
            self.assertEqual(nodes.events("n0", "CABLE_UP", "CABLE_LOST"), [])
        nodes.wait_for_cables()
        nodes.wait_for_no_problem()
        nodes.check_traffic()

    @in_lab("switch:3")
    def test_a_switch_port_without_jumbo_frames(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        self.set_switch_mtu("to-n2", 1500)
        nodes.wait_for_cables({(("n0", "to-s0"), ("n1", "to-s0"))}, ["n0", "n1"])
        for name in nodes.names:  # each end may see one direction first
            nodes.wait_until(lambda name=name: all("arrive at neither end" in text for text in nodes.problems(name)),
                             lambda name=name: f"{name} has {nodes.problems(name)}")
            self.assertRegex(nodes.problems(name)[0], "^LARGE_PACKETS_LOST .*between port to-s0 and port to-s0 of node n[0-2]")
        nodes.check_traffic(["n0", "n1"])
        self.set_switch_mtu("to-n2", 9000)
        nodes.wait_for_cables()
        nodes.wait_for_no_problem()
        nodes.check_traffic()

    @staticmethod
    def set_switch_mtu(interface: str, mtu: int) -> None:
        with in_network("s0"):
            subprocess.run(["ip", "link", "set", interface, "mtu", str(mtu)], check=True)


if __name__ == "__main__":
    main()
