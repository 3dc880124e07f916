#!/usr/bin/env python3
"""System test of pulses, in namespaces: a cable that carries nothing although its ends have a carrier, and a node that stands
still, end only the circuits that they would stall. On a busy host no cable is found silent.

Usage: silent_cable_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FLOW, FailoverCase, busy_relay, wait_for_data
from in_lab import in_lab, long, main, report_figure
from lab_nodes import STEADY, LabNodes

# Some 50 ms on an idle host; a host that is late by half a second needs that much longer.
_SILENT_PAUSE_S = 1.5
# 300 ms on an idle host, or four times the longest gap between pulses.
_STOPPED_PAUSE_S = 2.5
# What TCP needs to find a silent neighbour, and the set-up of another circuit.
_TCPS_PAUSE_S = 15.0
_BUSY_S = 6
_PR_CAPBSET_DROP, _CAP_SYS_NICE = 24, 23


def drop_right_to_priority() -> None:
    """Programs started from here cannot get real-time priority, as for a node that a user's job starts."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_CAPBSET_DROP, _CAP_SYS_NICE, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot drop CAP_SYS_NICE")


class SilentCableTest(FailoverCase):
    def check_event(self, nodes: LabNodes, name: str, code: str, neighbour: str) -> None:
        """There is an event with this code, and all events with this code name this neighbour."""
        nodes.wait_until(lambda: bool(nodes.events(name, code)), lambda: f"{code} at {name}")
        self.assertEqual({event["fields"]["neighbour"] for event in nodes.events(name, code)}, {neighbour})

    @in_lab("ring:4", "--rate", "500mbit")
    def test_between_neighbours(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"])
        wait_for_data(nodes, "n1", "to-n0")

        def silence() -> None:
            nodes.lab("cut", "n0-n1", "--silent")
            wait_for_data(nodes, "n1", "to-n2")
        self.check_pause(nodes, ranks, silence, _SILENT_PAUSE_S)
        self.check_event(nodes, "n0", "CABLE_SILENT", "n1")
        self.check_event(nodes, "n1", "CABLE_SILENT", "n0")
        nodes.lab("mend", "n0-n1")
        self.check_event(nodes, "n0", "CABLE_HEARD_AGAIN", "n1")

    @in_lab("ring:4", "--rate", "500mbit")
    def test_beyond_a_relay(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"])
        relay = busy_relay(nodes, ["n1", "n3"])
        self.check_pause(nodes, ranks, lambda: nodes.lab("cut", "n1-n2" if relay == "n1" else "n2-n3", "--silent"),
                         _SILENT_PAUSE_S)
        self.check_event(nodes, relay, "CABLE_SILENT", "n2")

    @in_lab("ring:4", "--rate", "500mbit")
    def test_in_one_direction(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"])
        wait_for_data(nodes, "n1", "to-n0")
        self.check_pause(nodes, ranks, lambda: nodes.lab("cut", "n0-n1", "--one-way", "n0"), _SILENT_PAUSE_S)
        self.check_event(nodes, "n0", "CABLE_SILENT", "n1")
        self.check_event(nodes, "n1", "CABLE_SILENT", "n0")

    @in_lab("line:3", "--rate", "500mbit")
    def test_without_another_path(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=10)
        busy_relay(nodes, ["n1"])

        def silence() -> None:
            nodes.lab("cut", "n1-n2", "--silent")
            time.sleep(1)
            nodes.lab("mend", "n1-n2")
            wait_for_data(nodes, "n2", "to-n1")
        self.check_pause(nodes, ranks, silence, 2 * _STOPPED_PAUSE_S)

    @long
    @in_lab("line:3", "--rate", "500mbit")
    def test_a_job_begins_while_its_only_path_is_silent(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        nodes.lab("cut", "n1-n2", "--silent")
        self.check_event(nodes, "n1", "CABLE_SILENT", "n2")
        ranks = nodes.start_ranks(["n0", "n2"], *FLOW, "--seconds", "1")
        # Its first attempt fails at the relay.
        nodes.wait_until(lambda: bool(nodes.events("n1", "CIRCUIT_REFUSED")), lambda: f"a refused circuit: {nodes.log('n1')}")
        nodes.lab("mend", "n1-n2")
        self.assertGreater(ranks.finish(), 0)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_stopped_relay(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=8)
        relay = busy_relay(nodes, ["n1", "n3"])
        self.check_pause(nodes, ranks, lambda: nodes.signal(relay, signal.SIGSTOP), _STOPPED_PAUSE_S)
        for name in ("n0", "n2"):
            self.check_event(nodes, name, "RELAY_SILENT", relay)
            self.assertEqual(nodes.events(name, "CABLE_SILENT"), [])
        nodes.wait_for_problem("n0", f"RELAY_SILENT .*node {relay} stands still")
        nodes.signal(relay, signal.SIGCONT)
        self.check_event(nodes, "n0", "CABLE_HEARD_AGAIN", relay)
        self.assertEqual(nodes.events(relay, "CABLE_SILENT", "RELAY_SILENT"), [], "it was itself that stood still")

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_stopped_node_beside_a_direct_flow(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=8)
        wait_for_data(nodes, "n1", "to-n0")

        def stop() -> None:
            nodes.signal("n1", signal.SIGSTOP)
            self.check_event(nodes, "n0", "RELAY_SILENT", "n1")
        self.check_pause(nodes, ranks, stop, 0.5, reroutes=False)
        nodes.signal("n1", signal.SIGCONT)

    @long
    @in_lab("line:2", "--rate", "500mbit")
    def test_a_node_that_stood_still_for_longer_than_the_hold_time(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        ranks = nodes.start_ranks(["n0", "n1"], *FLOW, "--seconds", "9")
        wait_for_data(nodes, "n1", "to-n0")

        def stop_and_continue() -> None:
            nodes.signal("n1", signal.SIGSTOP)
            nodes.wait_until(lambda: bool(nodes.events("n0", "CABLE_LOST")), lambda: "the cable to be lost")
            time.sleep(1)
            nodes.signal("n1", signal.SIGCONT)
            nodes.wait_for_cables()
        self.check_pause(nodes, ranks, stop_and_continue, 0.5, reroutes=False)
        self.assertEqual(nodes.events("n0", "CABLE_SILENT"), [])

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_without_pulses_tcp_finds_it(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=14, PULSE_MS="0")
        wait_for_data(nodes, "n1", "to-n0")

        def silence() -> None:
            nodes.lab("cut", "n0-n1", "--silent")
            wait_for_data(nodes, "n1", "to-n2")
        self.check_pause(nodes, ranks, silence, _TCPS_PAUSE_S)

    @in_lab("switch:3")
    def test_at_a_switch(self, nodes: LabNodes) -> None:
        """The packets that the third node sends are no sign of life of the silent node."""
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        time.sleep(1)
        nodes.lab("cut", "n1-s0", "--silent")
        for name in ("n0", "n2"):
            self.check_event(nodes, name, "CABLE_SILENT", "n1")
        self.assertEqual(nodes.events("n0", "RELAY_SILENT") + nodes.events("n2", "RELAY_SILENT"), [])

    @in_lab("ring:4", "--rate", "500mbit")
    def test_on_a_busy_host_no_cable_is_silent(self, nodes: LabNodes) -> None:
        self.assertEqual(self.check_busy_host(nodes), [])

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_on_a_busy_host_without_priority_no_cable_is_silent(self, nodes: LabNodes) -> None:
        drop_right_to_priority()
        self.check_busy_host(nodes)

    def check_busy_host(self, nodes: LabNodes) -> list[str]:
        """Returns the nodes that were found to stand still: without priority that may happen."""
        nodes.start()
        nodes.wait_for_cables()
        loads = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
        try:
            ranks = nodes.start_ranks(["n0", "n1", "n2", "n3"], *FLOW, "--seconds", str(_BUSY_S))
            ranks.finish()
        finally:
            for load in loads:
                load.kill()
                load.wait()
        events = {code: [event["text"] for name in ("n0", "n1", "n2", "n3") for event in nodes.events(name, code)]
                  for code in ("CABLE_SILENT", "RELAY_SILENT")}
        report_figure(f"{_BUSY_S} s of load, nodes found to stand still {len(events['RELAY_SILENT'])} times")
        self.assertEqual(events["CABLE_SILENT"], [])
        return events["RELAY_SILENT"]


if __name__ == "__main__":
    main()
