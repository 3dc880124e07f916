#!/usr/bin/env python3
"""System test of cables that lose their carrier under load, in namespaces: both ends of a flow that does not wait for
another path end at once, with the reason, and no other flow does.

Usage: lost_carrier_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import re
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from in_lab import in_lab, long, main, report_figure
from lab_nodes import PATIENCE_S, LabNodes, Ranks
from lab_nodes import STEADY as LONG_HOLD

# Some milliseconds on an idle machine. The kernel reports a lost carrier up to a second late if another link of any
# namespace has changed in the second before; without the node's report TCP needs four seconds.
_KERNELS_PAUSE_S = 1.0
_WITHIN_S = 1.0 + _KERNELS_PAUSE_S
_FLOWING_BYTES = 20_000_000
# Without pulses, which find the cable first if the kernel is late, and without another circuit, which would outlive it.
STEADY = LONG_HOLD | {"PATH_WAIT": "0", "PULSE_MS": "0", "MULTIPATH": "off"}
_FLOW = ("--workload", "sendrecv,0-1", "--sizes", "1M", "--channels", "1", "-w", "1")
_ENDLESS = (*_FLOW, "--iters", "100000", "--seconds", "60")

# Sets an interface down, which also takes the carrier of the cable's other end down. Prints the time of that: starting a
# program takes longer than the measured time.
_SET_DOWN = """
import fcntl, socket, struct, sys, time
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    name = sys.argv[1].encode()
    flags = struct.unpack("16xH14x", fcntl.ioctl(any_socket, GET_FLAGS, struct.pack("16s16x", name)))[0]
    print(time.monotonic(), flush=True)
    fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", name, flags & ~UP))
"""


def wait_for_data(nodes: LabNodes, name: str, interface: str) -> None:
    before = nodes.sent_bytes(name, interface)
    nodes.wait_until(lambda: nodes.sent_bytes(name, interface) > before + _FLOWING_BYTES,
                     lambda: f"data from {name} through {interface}")


def failures(ranks: Ranks) -> dict[str, tuple[float, str]]:
    """By the node of each rank: when its log reported the failure of its flow, and the reason."""
    found: dict[str, tuple[float, str]] = {}
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < len(ranks.names):
        for name in ranks.names:
            failed = re.search(r" failed: (.*)", ranks.log(name))
            if failed and name not in found:
                found[name] = time.monotonic(), failed[1]
        if time.monotonic() > deadline:
            raise AssertionError(f"only {found} have failed: {[ranks.log(name) for name in ranks.names]}")
        time.sleep(0.0005)
    return found


class LostCarrierTest(unittest.TestCase):
    def reasons_after_cut(self, nodes: LabNodes, ranks: Ranks, name: str, interface: str) -> dict[str, str]:
        """Sets an interface down, and checks how long the ranks take to fail."""
        time.sleep(_KERNELS_PAUSE_S + 0.1)
        began_log = "set-down"
        cut = nodes.popen(name, [sys.executable, "-c", _SET_DOWN, interface], log=began_log)
        found = failures(ranks)
        self.assertEqual(cut.wait(PATIENCE_S), 0, nodes.text(began_log))
        began = float(nodes.text(began_log))
        took = {rank: when - began for rank, (when, _) in found.items()}
        report_figure(", ".join(f"{rank} failed after {1000 * seconds:.1f} ms" for rank, seconds in took.items()))
        self.assertLess(max(took.values()), _WITHIN_S, found)
        return {rank: reason for rank, (_, reason) in found.items()}

    @staticmethod
    def first_event(nodes: LabNodes, name: str, code: str) -> str:
        """The text of the first such event. Events are raised soon after their cause."""
        nodes.wait_until(lambda: bool(nodes.events(name, code)), lambda: f"{code} on {name}")
        return str(nodes.events(name, code)[0]["text"])

    @in_lab("line:2", "--rate", "500mbit")
    def test_both_ends_of_a_direct_flow(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        ranks = nodes.start_ranks(["n0", "n1"], *_ENDLESS)
        wait_for_data(nodes, "n0", "to-n1")
        reasons = self.reasons_after_cut(nodes, ranks, "n0", "to-n1")
        self.assertEqual(reasons["n0"], "node n0 port to-n1 (cable to n1 to-n0): the interface was set down")
        self.assertEqual(reasons["n1"], "node n1 port to-n0 (cable to n0 to-n1): the port has lost its carrier")
        # The operator sees the same reason.
        for name in ("n0", "n1"):
            self.assertIn(reasons[name], self.first_event(nodes, name, "FLOW_FAILED"))

    @in_lab("line:3", "--rate", "500mbit")
    def test_the_sender_learns_of_a_cable_beyond_the_relay(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        ranks = nodes.start_ranks(["n0", "n2"], *_ENDLESS)
        wait_for_data(nodes, "n1", "to-n2")
        reasons = self.reasons_after_cut(nodes, ranks, "n2", "to-n1")
        self.assertEqual(reasons["n0"], "node n1 port to-n2 (cable to n2 to-n1): the port has lost its carrier")
        self.assertEqual(reasons["n2"], "node n2 port to-n1 (cable to n1 to-n2): the interface was set down")
        self.assertIn(reasons["n0"], self.first_event(nodes, "n1", "CIRCUIT_BROKEN"))
        self.assertEqual(len(nodes.events("n1", "CIRCUIT_BROKEN")), 1)

    @long
    @in_lab("line:3", "--rate", "500mbit")
    def test_the_receiver_learns_of_a_cable_before_the_relay(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        ranks = nodes.start_ranks(["n0", "n2"], *_ENDLESS)
        wait_for_data(nodes, "n1", "to-n2")
        reasons = self.reasons_after_cut(nodes, ranks, "n0", "to-n1")
        self.assertEqual(reasons["n0"], "node n0 port to-n1 (cable to n1 to-n0): the interface was set down")
        # Within a chunk the relay cannot send the reason: then the connection only ends.
        self.assertRegex(reasons["n2"], r"node n1 port to-n0 \(cable to n0 to-n1\): the port has lost its carrier"
                                        r"|node n2 port to-n1 \(cable to n1 to-n2\): ")
        self.assertIn("node n1 port to-n0 (cable to n0 to-n1): the port has lost its carrier",
                      self.first_event(nodes, "n1", "CIRCUIT_BROKEN"))

    @long
    @in_lab("ring:3", "--rate", "500mbit")
    def test_no_other_change_and_no_other_port_ends_a_flow(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        over_it = nodes.start_ranks(["n0", "n1"], *_ENDLESS)
        beside = nodes.start_ranks(["n0", "n2"], *_FLOW, "--iters", "3000", "--seconds", "25")
        wait_for_data(nodes, "n0", "to-n1")
        wait_for_data(nodes, "n0", "to-n2")
        for node, port in (("n0", "to-n2"), ("n2", "to-n0")):
            nodes.ip(node, f"link set {port} mtu 9000", f"address add 192.0.2.7/32 dev {port}",
                     f"address del 192.0.2.7/32 dev {port}", f"link set {port} txqueuelen 77")
        for _ in range(3):
            nodes.lab("cut", "n1-n2")
            nodes.lab("mend", "n1-n2")
        wait_for_data(nodes, "n0", "to-n1")
        wait_for_data(nodes, "n0", "to-n2")
        nodes.lab("cut", "n0-n1")
        self.assertRegex(failures(over_it)["n0"][1], r"node n0 port to-n1 \(cable to n1 to-n0\): ")
        self.assertGreater(beside.finish(), 0)
        for name in ("n0", "n1"):
            self.first_event(nodes, name, "FLOW_FAILED")
        failed = {name: [event["fields"]["port"] for event in nodes.events(name, "FLOW_FAILED")] for name in nodes.names}
        self.assertEqual(failed, {"n0": ["to-n1"], "n1": ["to-n0"], "n2": []})


if __name__ == "__main__":
    main()
