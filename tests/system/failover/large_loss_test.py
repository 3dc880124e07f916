#!/usr/bin/env python3
"""System test, in namespaces, of flows whose cable begins to drop large packets while small ones pass: they move to another
path, or both ends fail and name the loss. The hosts' kernels go on answering each other meanwhile.

Usage: large_loss_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import ENDLESS, FailoverCase, busy_relay, wait_for_data
from in_lab import in_lab, long, main
from lab_nodes import STEADY, LabNodes, in_network
from large_packets_test import drops_large

# Some 300 ms on an idle host; a host that is late by half a second needs that much longer.
_PAUSE_S = 2.0
_FAIL_WITHIN_S = 2.5
# The time from the death of the other end.
_LEARNS_WITHIN_S = 1.0
# Full-size hellos need twice the hold time of a second.
_HELLOS_PAUSE_S = 4.5


def set_mtu(node: str, interface: str, mtu: int) -> None:
    with in_network(node):
        subprocess.run(["ip", "link", "set", interface, "mtu", str(mtu)], check=True)


class LargeLossTest(FailoverCase):
    def check_reason(self, nodes: LabNodes, name: str, neighbour: str) -> None:
        nodes.wait_until(lambda: bool(nodes.events(name, "CABLE_SILENT")), lambda: f"CABLE_SILENT at {name}")
        for event in nodes.events(name, "CABLE_SILENT"):
            self.assertEqual(event["fields"]["neighbour"], neighbour)
            self.assertRegex(event["fields"]["reason"], "^large packets are lost: none ")

    @in_lab("ring:4", "--rate", "500mbit")
    def test_flows_move_and_return(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=8)
        wait_for_data(nodes, "n1", "to-n0")

        def lose_and_mend() -> None:
            with drops_large(self, "n1", "to-n0"):
                wait_for_data(nodes, "n1", "to-n2")
                for name, neighbour in (("n0", "n1"), ("n1", "n0")):
                    self.check_reason(nodes, name, neighbour)
            wait_for_data(nodes, "n1", "to-n0")
        self.check_pause(nodes, ranks, lose_and_mend, _PAUSE_S)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_of_acknowledgements_alone(self, nodes: LabNodes) -> None:
        """Large packets are lost in the direction in which the flow sends none: the cable is not used, but nothing has to
        fail."""
        ranks = self.start(nodes, ["n0", "n2"], seconds=6)
        relay = busy_relay(nodes, ["n1", "n3"])

        def lose() -> None:
            with drops_large(self, "n0", f"to-{relay}"):
                wait_for_data(nodes, "n2", "to-n3" if relay == "n1" else "to-n1")
                self.check_reason(nodes, relay, "n0")
        self.check_pause(nodes, ranks, lose, _PAUSE_S)

    @in_lab("line:2", "--rate", "500mbit")
    def test_without_another_path_both_ends_fail(self, nodes: LabNodes) -> None:
        ranks = self.start_endless(nodes, ["n0", "n1"], PATH_WAIT="0")
        wait_for_data(nodes, "n1", "to-n0")
        since = time.monotonic()
        with drops_large(self, "n1", "to-n0"):
            reasons = self.failures(ranks, ["n0", "n1"], since, _FAIL_WITHIN_S)
        for reason in reasons.values():
            self.assertRegex(reason, "large packets are lost")

    @in_lab("line:2", "--rate", "500mbit")
    def test_an_mtu_that_is_lowered_at_one_end(self, nodes: LabNodes) -> None:
        ranks = self.start_endless(nodes, ["n0", "n1"], PATH_WAIT="0")
        wait_for_data(nodes, "n1", "to-n0")
        since = time.monotonic()
        set_mtu("n1", "to-n0", 1400)
        reasons = self.failures(ranks, ["n0", "n1"], since, _FAIL_WITHIN_S)
        for reason in reasons.values():
            self.assertRegex(reason, "large packets are lost|has MTU (1400 and .* 9000|9000 and .* 1400)")

    @in_lab("line:2", "--rate", "500mbit")
    def test_ends_that_would_wait_for_different_times(self, nodes: LabNodes) -> None:
        """Both ends wait for the shorter time."""
        for source_waits, destination_waits in (("1", "20"), ("20", "1")):
            nodes.start("n0", **STEADY, PATH_WAIT=source_waits)
            nodes.start("n1", **STEADY, PATH_WAIT=destination_waits)
            nodes.wait_for_cables()
            ranks = nodes.start_ranks(["n0", "n1"], *ENDLESS)
            wait_for_data(nodes, "n1", "to-n0")
            since = time.monotonic()
            with drops_large(self, "n1", "to-n0"):
                self.failures(ranks, ["n0", "n1"], since, 1 + _FAIL_WITHIN_S)
            for name in ("n0", "n1"):
                nodes.kill(name)

    @in_lab("line:3", "--rate", "500mbit")
    def test_an_end_whose_process_dies_meanwhile(self, nodes: LabNodes) -> None:
        """The ends no longer have a circuit, and the topology no longer has the cable, but inquiries are small packets."""
        for dies, lives in (("n0", "n2"), ("n2", "n0")):
            ranks = self.start_endless(nodes, ["n0", "n2"], HOLD_MS="500", PATH_WAIT="20")
            wait_for_data(nodes, "n2", "to-n1")
            with drops_large(self, "n2", "to-n1"):
                nodes.wait_until(lambda: len(nodes.cables("n1")) == 1, lambda: "the cable has left the topology")
                self.assertTrue(ranks.running())
                since = time.monotonic()
                ranks.kill(dies)
                reasons = self.failures(ranks, [lives], since, _LEARNS_WITHIN_S)
            self.assertRegex(reasons[lives], rf"large packets are lost.*; .*{dies}")
            for name in nodes.running():
                nodes.kill(name)

    @long
    @in_lab("line:2", "--rate", "500mbit")
    def test_a_job_waits_for_its_only_cable(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=8)
        wait_for_data(nodes, "n1", "to-n0")

        def lose_and_mend() -> None:
            set_mtu("n1", "to-n0", 1400)
            time.sleep(1)
            set_mtu("n1", "to-n0", 9000)
            wait_for_data(nodes, "n1", "to-n0")
        self.check_pause(nodes, ranks, lose_and_mend, 1 + 2 * _PAUSE_S)

    @long
    @in_lab("line:2", "--rate", "500mbit")
    def test_both_ends_fail_after_their_wait_once_an_mtu_is_lowered(self, nodes: LabNodes) -> None:
        """The cable still carries set-ups, which are small: no end may be left with a circuit that the other end has given up."""
        for pulse, found_within_s in (("10", 0.0), ("0", _HELLOS_PAUSE_S)):
            for lowered, interface in (("n0", "to-n1"), ("n1", "to-n0")):
                ranks = self.start_endless(nodes, ["n0", "n1"], PATH_WAIT="2", PULSE_MS=pulse, HOLD_MS="1000")
                wait_for_data(nodes, "n1", "to-n0")
                since = time.monotonic()
                set_mtu(lowered, interface, 1400)
                self.failures(ranks, ["n0", "n1"], since, 2 + _FAIL_WITHIN_S + found_within_s)
                set_mtu(lowered, interface, 9000)
                for name in nodes.running():
                    nodes.kill(name)

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_without_pulses_hellos_find_it(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=9, PULSE_MS="0", HOLD_MS="1000")
        wait_for_data(nodes, "n1", "to-n0")

        def lose() -> None:
            with drops_large(self, "n1", "to-n0"):
                wait_for_data(nodes, "n1", "to-n2")
                for name in ("n0", "n1"):
                    self.assertRegex(nodes.events(name, "CABLE_LOST")[-1]["fields"]["reason"], "^large packets are lost")
        self.check_pause(nodes, ranks, lose, _HELLOS_PAUSE_S)


if __name__ == "__main__":
    main()
