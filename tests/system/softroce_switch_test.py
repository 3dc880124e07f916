#!/usr/bin/env python3
"""System test of switches in labs of guests (tools/lab/softroce): forwarding, rates, and cuts of their cables.

Exit status 77 where QEMU or the guests' kernel is missing.
"""

from __future__ import annotations

import re
import tempfile
import time
import unittest
from pathlib import Path

from guest_perftest import PerftestCase, Place
from lab_case import wait_until
from softroce_case import COMMAND_S, GuestLab, main

_RATE_BYTES_PER_S = 5e6
_BURST_BYTES = 128 << 10
_MEASURED_S = 2.0

_MIXED = """
[[node]]
name = "left"
[[node]]
name = "right"
[[switch]]
name = "hub"
[[cable]]
name = "direct"
ends = [{node = "left"}, {node = "right"}]
[[cable]]
name = "l"
ends = [{node = "hub"}, {node = "left", address = "10.9.0.7"}]
rate_mbps = 20
[[cable]]
name = "r"
ends = [{node = "right", interface = "up"}, {node = "hub"}]
"""


class SwitchTest(PerftestCase):
    OPTIONS = ("switch:3", "--rate", "40mbit")
    N0, N1, N2 = (Place(index, "to-s0", f"10.7.0.{index + 1}") for index in range(3))

    def ping(self, node: str, address: str, wait_s: int = 10) -> bool:
        return self.lab.do("exec", node, "--", "ping", "-n", "-c", "1", "-W", str(wait_s), address).returncode == 0

    def echo_requests_received(self, node: str) -> int:
        """The ICMP echo requests that this node has received so far."""
        shown = self.lab.check("exec", node, "--", "cat", "/proc/net/snmp")
        names, values = re.findall(r"^Icmp: (.*)$", shown, re.MULTILINE)
        return int(values.split()[names.split().index("InEchos")])

    def received_bytes(self) -> tuple[int, float, float]:
        """The bytes that n1 has received, and the host's time before and after reading the counter."""
        before = time.monotonic()
        count = int(self.lab.check("exec", "n1", "--", "cat", "/sys/class/net/to-s0/statistics/rx_bytes"))
        return count, before, time.monotonic()

    def test_all_nodes_reach_each_other(self) -> None:
        text = "for host in 1 2 3; do ping -n -q -c 1 -W 10 10.7.0.$host >/dev/null && echo {} to $host; done"
        reached = self.lab.check("each", "--", "sh", "-c", text)
        self.assertEqual(sorted(reached.splitlines()),
                         [f"n{index} | n{index} to {host}" for index in range(3) for host in (1, 2, 3)])

    def test_devices_are_at_nodes(self) -> None:
        shown = self.lab.check("show")
        self.assertIn("RDMA devices: n0 rxe-to-s0, n1 rxe-to-s0, n2 rxe-to-s0\n", shown)
        self.assertRegex(shown, r"(?m)^n2 ═c2═ s0$")
        self.assertRegex(shown, r"(?m)^c1 +n1 to-s0 10\.7\.0\.2 +s0 to-n1 +40mbit +none +none +up$")
        self.assertIn('[[switch]]\nname = "s0"\n', self.lab.check("topology"))

    def test_the_switch_keeps_to_the_rate(self) -> None:
        """n0 and n2 send at the rate of their own cables, both to n1."""
        for number, client in enumerate((self.N0, self.N2)):
            self.addCleanup(self.write_bandwidth(client, self.N1, "-D", "60", number=number).close)
        self.await_progress(self.N1, "bytes from the last client")
        first, first_before, first_after = self.received_bytes()
        time.sleep(_MEASURED_S)
        last, last_before, last_after = self.received_bytes()
        self.assertLess(last - first, 1.05 * _RATE_BYTES_PER_S * (last_after - first_before) + _BURST_BYTES)
        self.assertGreater(last - first, 0.6 * _RATE_BYTES_PER_S * (last_before - first_after))

    def test_cuts(self) -> None:
        self.check_cuts(self.N0, self.N1, "n0-s0")

    def test_one_way_cuts(self) -> None:
        """n0's requests arrive if the direction from the switch to n0 is cut, and do not if n0's own direction is."""
        hardware = self.lab.check("exec", "n2", "--", "cat", "/sys/class/net/to-s0/address").strip()
        self.lab.check("exec", "n0", "--", "ip", "neighbour", "replace", "10.7.0.3", "lladdr", hardware, "dev", "to-s0",
                       "nud", "permanent")  # without an ARP request by n0
        for sender, received in (("s0", 1), ("n0", 0)):
            with self.subTest(sender):
                before = self.echo_requests_received("n2")
                self.lab.check("cut", "n0-s0", "--one-way", sender)
                self.assertIn(f"cut silently (from {sender})", self.lab.check("show"))
                self.assertFalse(self.ping("n0", "10.7.0.3", wait_s=1))
                self.assertEqual(self.echo_requests_received("n2") - before, received)
                self.lab.check("mend", "c0")
                self.assertTrue(self.ping("n0", "10.7.0.3"))


class MixedTest(unittest.TestCase):
    def test_a_file_with_a_switch_beside_a_cable_leaves_nothing_behind(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "mixed.toml")
            path.write_text(_MIXED, encoding="utf-8")
            lab = GuestLab(str(path), "--no-rdma", "right-hub")
        self.addCleanup(lab.close)
        shown = lab.check("show")
        self.assertIn("RDMA devices: left rxe-to-right, right rxe-to-left, left rxe-to-hub\n", shown)
        self.assertRegex(shown, r"(?m)^l +hub to-left +left to-hub 10\.9\.0\.7 +20mbit .* up$")
        right = lab.check("exec", "right", "--", "ip", "-4", "-o", "address", "show", "dev", "up")
        self.assertIn("inet 10.9.0.1/24", right)
        for address in ("10.7.0.2", "10.9.0.1"):
            lab.check("exec", "left", "--", "ping", "-n", "-c", "1", "-W", "10", address)
        # Two guests, two switches, the lab, its first process and its command.
        self.assertGreaterEqual(len(lab.processes()), 7)
        lab.process.kill()
        lab.process.wait(COMMAND_S)
        wait_until(lambda: not lab.processes(), "end of all processes")


if __name__ == "__main__":
    main()
