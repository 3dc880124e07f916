#!/usr/bin/env python3
"""System test of flows that outlive their circuits, in namespaces: relays and cables die under load, and collperf, which
checks every byte, sees a pause. A dead peer is no pause: the other end fails at once.

Usage: failover_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import ENDLESS, FLOW, FLOWING_BYTES, FailoverCase, busy_relay, wait_for_data
from in_lab import in_lab, long, main, report_figure
from lab_nodes import STEADY, LabNodes, Ranks

# Ranks meet after each operation, for a fifth of the time. This many consecutive looks do not all fall into a meeting.
_MEETINGS = 8
_FLAPS_S = 8
# A node that lost a carrier reports it to its processes at once. When a relay is killed, its kernel closes the circuits;
# the node notices the missing hellos.
_PAUSE_S = 3.0
_FAILS_WITHIN_S = 1.0
_CIRCUITS = 4  # the most circuits of a flow


class FailoverTest(FailoverCase):
    def check_shown_flow(self, nodes: LabNodes, name: str) -> None:
        """`cableway flows` shows what the flow carries now: a part of its cable's 500 Mbit/s."""
        shown: dict[str, Any] = {}

        def has_a_rate() -> bool:
            [flow] = nodes.cableway(name, "flows")["flows"]
            shown.update(flow)
            return bool(flow["mbps"])
        nodes.wait_until(has_a_rate, lambda: f"a rate: {shown}")
        self.assertTrue(50 < shown["mbps"] < 600, shown)
        self.assertGreater(shown["bytes"], FLOWING_BYTES)
        [circuit] = shown["circuits"]
        self.assertEqual((circuit["path"], circuit["carries"]), ("n0 -> n1", True))
        self.assertIsNone(shown["waits"])

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_killed_relay(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"])
        relay = busy_relay(nodes, ["n1", "n3"])
        self.check_pause(nodes, ranks, lambda: nodes.kill(relay) and None, _PAUSE_S)

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_cable_beyond_the_relay(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"])
        relay = busy_relay(nodes, ["n1", "n3"])
        self.check_pause(nodes, ranks, lambda: nodes.lab("cut", f"{relay}-n2" if relay == "n1" else "n2-n3"), _PAUSE_S)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_cable_between_neighbours(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], MULTIPATH="off")
        wait_for_data(nodes, "n1", "to-n0")
        for name in ("n0", "n1"):
            self.check_shown_flow(nodes, name)
        self.check_pause(nodes, ranks, lambda: nodes.lab("cut", "n0-n1"), _PAUSE_S)
        self.assertFalse(nodes.events("n0", "FLOW_FAILED") + nodes.events("n1", "FLOW_FAILED"))

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_cable_that_flaps(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=20)
        wait_for_data(nodes, "n1", "to-n0")

        def flap() -> None:
            until = time.monotonic() + _FLAPS_S
            while time.monotonic() < until:
                nodes.lab("cut", "n0-n1")
                time.sleep(0.2)
                nodes.lab("mend", "n0-n1")
                time.sleep(0.4)
        self.check_pause(nodes, ranks, flap, _PAUSE_S)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_mended_cable_is_used_again(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=20, MULTIPATH="off")
        wait_for_data(nodes, "n1", "to-n0")

        def cut_and_mend() -> None:
            nodes.lab("cut", "n0-n1")
            wait_for_data(nodes, "n1", "to-n2")
            nodes.lab("mend", "n0-n1")
            wait_for_data(nodes, "n1", "to-n0")
            # Nothing but hellos takes the long way any more.
            nodes.wait_until(lambda: not nodes.cableway("n3", "status")["circuits"], lambda: "an end of the detour")
        self.check_pause(nodes, ranks, cut_and_mend, _PAUSE_S)
        returned = [event["fields"]["new_path"] for event in nodes.events("n0", "FLOW_RETURNED")]
        self.assertEqual(returned, ["n0 -> n1"])

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_each_path_in_turn(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=12)

        def cut_in_turn() -> None:
            for _ in range(2):
                relay = busy_relay(nodes, ["n1", "n3"])
                cable = "n0-n1" if relay == "n1" else "n0-n3"
                nodes.lab("cut", cable)
                other = "n3" if relay == "n1" else "n1"
                self.assertEqual(busy_relay(nodes, ["n1", "n3"]), other)
                nodes.lab("mend", cable)
                nodes.wait_for_cables()
        self.check_pause(nodes, ranks, cut_in_turn, _PAUSE_S)

    @in_lab("line:3", "--rate", "500mbit")
    def test_the_only_relay_comes_back(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=15)
        busy_relay(nodes, ["n1"])

        def restart() -> None:
            nodes.kill("n1")
            self.check_waiting_flows(nodes, ["n0", "n2"], for_node="n1")
            nodes.start("n1", **STEADY)
            wait_for_data(nodes, "n2", "to-n1")
        self.check_pause(nodes, ranks, restart, 3 * _PAUSE_S)

    def check_waiting_flows(self, nodes: LabNodes, names: list[str], for_node: str) -> None:
        """After a second without a path, `cableway flows` shows the reason, and one event has it. An end that has posted
        nothing does not wait, for example the destination if only the last acknowledgement was lost."""
        waits: dict[str, str] = {}

        def some_wait() -> bool:
            for name in names:
                [flow] = nodes.cableway(name, "flows")["flows"]
                if flow["waits"] is not None:
                    waits[name] = flow["waits"]
            return bool(waits)
        nodes.wait_until(some_wait, lambda: f"a flow of {names} that waits")
        for name, reason in waits.items():
            self.assertIn(for_node, reason)
            self.assertEqual([event["fields"]["reason"] for event in nodes.events(name, "FLOW_WAITING")], [reason])

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_daemon_that_dies_beside_a_direct_flow(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"])
        wait_for_data(nodes, "n1", "to-n0")

        def restart() -> None:
            nodes.kill("n0")
            time.sleep(0.5)
            nodes.start("n0", **STEADY)
        self.check_pause(nodes, ranks, restart, 0.5, reroutes=False)

    # Faults without another path

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_killed_peer_fails_the_other_end_at_once(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        self.check_killed_peer(nodes, ["n0", "n2"], lambda: busy_relay(nodes, ["n1", "n3"]))

    @in_lab("line:2", "--rate", "200mbit")
    def test_a_killed_peer_with_four_circuits_fails_the_other_end_at_once(self, nodes: LabNodes) -> None:
        for _ in range(_CIRCUITS - 1):
            nodes.lab("plug", "n0-n1", "--rate", "200mbit")
        nodes.start(**STEADY, MULTIPATH="bundle")
        nodes.wait_for_cables()

        def flow_has_all() -> None:
            circuits: list[Any] = []

            def all_are_open() -> bool:
                circuits[:] = [circuit for flow in nodes.cableway("n0", "flows")["flows"] for circuit in flow["circuits"]]
                return len(circuits) == _CIRCUITS
            nodes.wait_until(all_are_open, lambda: f"{_CIRCUITS} circuits: {circuits}")
            report_figure(f"{len(circuits)} circuits")
        # Longer operations: the ranks meet after each, and four cables finish an operation in a quarter of the time.
        self.check_killed_peer(nodes, ["n0", "n1"], flow_has_all, ["32M" if word == "1M" else word for word in FLOW])

    def check_killed_peer(self, nodes: LabNodes, ranks_on: list[str], wait_for_load: Callable[[], object],
                          job: Sequence[str] = FLOW) -> None:
        """Kills the destination of a flow, then the source of another flow."""
        first, last = ranks_on
        for victim, witness in ((last, first), (first, last)):
            reasons = (self.reason_of_kill(nodes, victim, witness, ranks_on, wait_for_load, job) for _ in range(_MEETINGS))
            reason = next(reason for reason in reasons if reason)
            self.assertRegex(reason, r"cannot reach node .*(refused|has ended)|no longer")

    def reason_of_kill(self, nodes: LabNodes, victim: str, witness: str, ranks_on: list[str],
                       wait_for_load: Callable[[], object], job: Sequence[str]) -> str:
        """The failure that the witness's flow reports; "" if the ranks met at that moment and collperf itself has
        noticed."""
        ranks = nodes.start_ranks(ranks_on, *job, "--seconds", "30")
        wait_for_load()
        since = time.monotonic()
        ranks.kill(victim)
        nodes.wait_until(lambda: re.search(r" failed: |rank \d is lost: ", ranks.log(witness)) is not None,
                         lambda: f"a failure: {ranks.log(witness)}")
        if re.search(r"rank \d is lost: ", ranks.log(witness)):
            return ""
        return self.failures(ranks, [witness], since, _FAILS_WITHIN_S)[witness]

    @in_lab("line:3", "--rate", "500mbit")
    def test_without_another_path_both_ends_fail_with_the_cause(self, nodes: LabNodes) -> None:
        """The ends' settings have different times: both wait for the shorter one."""
        nodes.start("n1", **STEADY)
        nodes.start("n0", **STEADY, PATH_WAIT="20")
        nodes.start("n2", **STEADY, PATH_WAIT="2")
        nodes.wait_for_cables()
        ranks = nodes.start_ranks(["n0", "n2"], *ENDLESS)
        busy_relay(nodes, ["n1"])
        since = time.monotonic()
        nodes.kill("n1")
        reasons = self.failures(ranks, ["n0", "n2"], since, 2 + 3 * _FAILS_WITHIN_S)
        self.assertGreater(time.monotonic() - since, 1.9)
        for name, other in (("n0", "n2"), ("n2", "n0")):
            self.assertRegex(reasons[name], rf"node {name} port to-n1 \(cable to n1 to-{name}\): .*; "
                                            rf"no other path to node {other} within 2 s")

    @in_lab("ring:4", "--rate", "500mbit")
    def test_without_a_wait_the_flow_fails_at_once(self, nodes: LabNodes) -> None:
        ranks = self.start_endless(nodes, ["n0", "n2"], PATH_WAIT="0", MULTIPATH="off")
        relay = busy_relay(nodes, ["n1", "n3"])
        since = time.monotonic()
        nodes.kill(relay)
        reasons = self.failures(ranks, ["n0", "n2"], since, _FAILS_WITHIN_S)
        for name, reason in reasons.items():
            self.assertIn(f"(cable to {relay} ", reason, name)


if __name__ == "__main__":
    main()
