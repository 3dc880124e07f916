#!/usr/bin/env python3
"""System test of cables that change data, in namespaces: with checksums of chunks collperf, which checks every byte, sees a
pause, and an event names the cable.

Usage: changed_data_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FailoverCase, busy_relay, wait_for_data
from in_lab import in_lab, main, report_figure
from lab_nodes import LabNodes

_EVERY = 200
# Overwrites two bytes of every n-th large packet that arrives there. Data is random, so hardly any packet stays unchanged.
_CHANGE = """
table netdev changing {{
  chain arriving {{
    type filter hook ingress device "{interface}" priority 0;
    meta l4proto tcp meta length > 1200 numgen inc mod {every} == 0 @th,1600,16 set 0xdead
  }}
}}
"""


def change_data(nodes: LabNodes, node: str, interface: str) -> None:
    nodes.run(node, "nft", _CHANGE.format(interface=interface, every=_EVERY))


class ChangedDataTest(FailoverCase):
    """A cable changes data, and TCP does not notice: nftables overwrites bytes of packets and corrects the checksum. collperf,
    which checks every byte, finds no wrong byte, and an event names the cable."""

    @staticmethod
    def corruptions(nodes: LabNodes, node: str) -> list[str]:
        return [event["text"] for event in nodes.events(node, "CHUNK_CORRUPTED")]

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_cable_between_neighbours(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=5, CHECKSUM="on")
        wait_for_data(nodes, "n1", "to-n0")
        change_data(nodes, "n1", "to-n0")
        wait_for_data(nodes, "n1", "to-n2")
        verified = ranks.finish()
        found = self.corruptions(nodes, "n1")
        report_figure(f"{len(found)} circuits ended, {verified / 1e6:.0f} MB verified, 0 bytes wrong")
        self.assertTrue(found)
        for each in found:
            self.assertIn("node n1 port to-n0 (cable to n0 to-n1): ", each)
            self.assertRegex(each, "(chunk|frame) corrupted: ")
        self.assertFalse(nodes.events("n0", "FLOW_FAILED") + nodes.events("n1", "FLOW_FAILED"))

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_cable_before_a_relay(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=5, CHECKSUM="on")
        relay = busy_relay(nodes, ["n1", "n3"])
        change_data(nodes, relay, "to-n0")
        wait_for_data(nodes, "n2", "to-n3" if relay == "n1" else "to-n1")
        verified = ranks.finish()
        # The relay passes payloads on without reading them; it reads headers.
        found = self.corruptions(nodes, "n2") + self.corruptions(nodes, relay)
        report_figure(f"{len(found)} circuits ended, {verified / 1e6:.0f} MB verified, 0 bytes wrong")
        self.assertTrue(found)
        for each in found:
            self.assertIn(relay, each)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_without_checksums_bytes_are_wrong(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=3, CHECKSUM="off")
        wait_for_data(nodes, "n1", "to-n0")
        change_data(nodes, "n1", "to-n0")
        with self.assertRaisesRegex(AssertionError, "'wrong': [1-9]"):
            ranks.finish()


if __name__ == "__main__":
    main()
