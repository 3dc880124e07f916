#!/usr/bin/env python3
"""System test of untrusted peers on a cable: garbage, replays of overheard datagrams, and forgeries. The nodes are not
disturbed, and report what an operator could have caused.

Usage: untrusted_peer_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import random
import socket
import time
import unittest

import untrusted_peer
from in_lab import in_lab, main
from lab_nodes import LAB_DIR, STEADY, LabNodes


def garbage(chance: random.Random) -> list[bytes]:
    """Random bytes of every size, oversized ones included, some with the beginning of a control datagram."""
    bodies = []
    for size in (0, 1, 2, 39, 40, 71, 72, 200, 1400, 1472, 1473, 8972, 30000, 65000):
        for start in (b"", b"CW\x01\x01", b"CW\x01\x02", b"CW\x03\x01"):
            bodies += [(start + chance.randbytes(size))[:size] for _ in range(20)]
    return bodies


# The events of a node that loses one of its cables.
DOWN = ("CABLE_LOST", "NEIGHBOUR_LEFT")


class UntrustedPeerTest(unittest.TestCase):
    def check_unharmed(self, nodes: LabNodes, downs: int = 0) -> None:
        """Every cable is up as before, and traffic passes."""
        nodes.wait_for_cables(self.cables, self.names)
        nodes.check_alive()
        for name in self.names:
            self.assertEqual(nodes.count_logged(name, *DOWN), downs, nodes.log(name))
        nodes.check_traffic(self.names)

    def check_dropped(self, nodes: LabNodes, why: str, least: int) -> None:
        """Waits until n0 has dropped at least `least` datagrams for the reason `why`."""
        nodes.wait_until(lambda: nodes.cableway("n0", "ports")["dropped"][why] >= least,
                         lambda: f"{least} {why}: {nodes.cableway('n0', 'ports')}")

    def start_two(self, nodes: LabNodes, **settings: str) -> None:
        """n0 and n1 are nodes, n2 is the untrusted peer on the same wire."""
        self.names = ["n0", "n1"]
        self.cables = {(("n0", "to-s0"), ("n1", "to-s0"))}
        nodes.start(*self.names, **STEADY, **settings)
        nodes.wait_for_cables(self.cables)

    @in_lab("switch:3")
    def test_garbage_on_the_control_port(self, nodes: LabNodes) -> None:
        self.start_two(nodes)
        chance = random.Random(1)
        for to in ("10.7.0.1", "10.7.0.2", untrusted_peer.HELLO_GROUP):
            untrusted_peer.send_datagrams("n2", "10.7.0.3", to, garbage(chance))
        self.check_unharmed(nodes)
        self.assertLess(len(nodes.problems("n0")), 40)
        # A few of the thousands sent: on a busy machine most overflow the socket buffers.
        self.check_dropped(nodes, "garbage", 20)
        self.check_dropped(nodes, "refused", 20)
        # The longest datagrams of a flood are sent last, when the buffers are full.
        def is_oversized_seen() -> bool:
            untrusted_peer.send_datagrams("n2", "10.7.0.3", "10.7.0.1", [bytes(65_000)])
            return sum(port["control"]["oversized"] for port in nodes.cableway("n0", "ports")["ports"]) > 0

        nodes.wait_until(is_oversized_seen, lambda: f"oversized datagrams: {nodes.cableway('n0', 'ports')}")
        hellos = [untrusted_peer.datagram_of(frame) for frame in untrusted_peer.overhear("n2", "to-s0", 0.5)]
        self.assertGreater(len(hellos), 0)
        cut_short = [hello[:length] for hello in hellos for length in range(0, len(hello), 7)]
        untrusted_peer.send_datagrams("n2", "10.7.0.3", untrusted_peer.HELLO_GROUP, cut_short)
        self.check_unharmed(nodes)

    @in_lab("line:3")
    def test_garbage_on_the_relay_port(self, nodes: LabNodes) -> None:
        """Sent to n1, which has to relay afterwards."""
        self.names, chance = nodes.names, random.Random(2)
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        self.cables = nodes.cables("n1")
        for size in (1, 31, 32, 33, 500, 70_000, 1_000_000):
            untrusted_peer.connect_and("n0", "10.7.0.1", "10.7.0.2", 3, lambda connections, size=size: [
                untrusted_peer.send_and_await_end(connection, chance.randbytes(size)) for connection in connections])
        self.assertGreater(nodes.cableway("n1", "status")["relayed"]["setups_refused"], 10)
        self.assertRegex(nodes.log("n1"), r"\[info\] CONNECTION_REFUSED refused a connection from 10.7.0.1")

        def stay_silent(connections: list[socket.socket]) -> None:
            self.assertEqual(len(connections), 200)
            nodes.check_traffic()

        untrusted_peer.connect_and("n0", "10.7.0.1", "10.7.0.2", 200, stay_silent)
        self.check_unharmed(nodes)

    @in_lab("switch:3")
    def test_replays(self, nodes: LabNodes) -> None:
        """Replays hellos and segments of this incarnation and of an earlier one."""
        self.start_two(nodes)
        frames = untrusted_peer.overhear("n1", "to-s0", 1.0)
        nodes.kill("n1")
        nodes.start("n1", **STEADY)
        nodes.wait_for_cables(self.cables)
        downs = nodes.count_logged("n0", *DOWN)
        frames += untrusted_peer.overhear("n1", "to-s0", 1.0)
        self.assertGreater(len(frames), 10)
        for replays in (frames, frames[::-1], frames * 5):
            untrusted_peer.send_frames("n2", "to-s0", replays)
        self.check_dropped(nodes, "replayed", len(frames) // 2)
        time.sleep(0.3)  # long enough for a deceived node to report it
        nodes.wait_for_cables(self.cables)
        self.assertEqual(nodes.count_logged("n0", *DOWN), downs, nodes.log("n0"))
        nodes.check_traffic(self.names)

    @in_lab("ring:3")
    def test_replays_on_another_cable(self, nodes: LabNodes) -> None:
        """n2 sends to n0 what n1 sends on the cable that joins n0 and n1. No new cable comes up."""
        self.names = nodes.names
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        self.cables = nodes.cables("n0")
        for _ in range(3):
            untrusted_peer.send_frames("n2", "to-n0", untrusted_peer.overhear("n1", "to-n0", 0.4))
            self.assertEqual(nodes.cables("n0"), self.cables)
        self.check_unharmed(nodes)

    @in_lab("switch:3")
    def test_forgeries_with_a_key(self, nodes: LabNodes) -> None:
        key = LAB_DIR / "key"
        key.write_text("4c" * 32 + "\n", encoding="ascii")
        key.chmod(0o600)
        self.start_two(nodes, KEY_FILE=str(key))
        chance = random.Random(3)
        frames = untrusted_peer.overhear("n1", "to-s0", 1.0)
        self.assertGreater(len(frames), 10)
        untrusted_peer.send_frames("n2", "to-s0", [untrusted_peer.changed(frame, chance) for frame in frames * 30])
        nodes.wait_for_problem("n0", "KEY_DIFFERS ")
        self.check_dropped(nodes, "refused", len(frames))
        set_up = b"\xcb\x05" + bytes(30)
        untrusted_peer.connect_and("n2", "10.7.0.3", "10.7.0.1", 1, lambda connections: [
            untrusted_peer.send_and_await_end(connection, set_up) for connection in connections])
        self.assertRegex(nodes.log("n0"), 'CONNECTION_REFUSED refused a connection from 10.7.0.3 TCP port [0-9]+: "a set-up without')
        self.check_unharmed(nodes)


if __name__ == "__main__":
    main()
