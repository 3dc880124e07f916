#!/usr/bin/env python3
"""System test of changes under load, in namespaces: cables and relays drain, and a cable is plugged in. Running flows
follow, and their data never pauses.

Usage: drain_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover_case import FailoverCase, busy_relay, wait_for_data
from in_lab import in_lab, long, main
from lab_nodes import PATIENCE_S, STEADY, LabNodes

# A flow moves while both of its circuits are alive. The rest is the machine's delay.
_PAUSE_S = 0.3
_LOSES_PATHS = 6
# More than the hellos and pulses of a second.
_IDLE_BYTES = 600_000
_NOBODY = "65534"


class DrainTest(FailoverCase):
    def command(self, nodes: LabNodes, name: str, *words: str, status: int = 0) -> Any:
        """Runs a `cableway` command on the node, which has to end with that status. Returns its JSON."""
        process = nodes.popen(name, [nodes.build / "bin/cableway", *words, "--json"])
        out, errors = process.communicate(timeout=2 * PATIENCE_S)
        self.assertEqual(process.returncode, status, f"{words}: {out!r} {errors!r}")
        return json.loads(out) if out else {}

    def refusal(self, nodes: LabNodes, name: str, *words: str, prefix: tuple[str, ...] = ()) -> str:
        process = nodes.popen(name, [*prefix, nodes.build / "bin/cableway", *words])
        _, errors = process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0, errors)
        return errors.decode()

    def check_idle(self, nodes: LabNodes, name: str, interface: str) -> None:
        before = nodes.received_bytes(name, interface)
        time.sleep(1)
        self.assertLess(nodes.received_bytes(name, interface) - before, _IDLE_BYTES)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_cable(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n1"], seconds=25)
        wait_for_data(nodes, "n1", "to-n0")

        def drain_and_undrain() -> None:
            self.command(nodes, "n0", "drain", "to-n1")
            self.check_idle(nodes, "n1", "to-n0")
            wait_for_data(nodes, "n1", "to-n2")
            [cable] = nodes.cableway("n0", "status")["draining_cables"]
            # The cable is unplugged, moved, and plugged in again: nothing uses it before it is undrained.
            nodes.lab("cut", "n0-n1")
            nodes.lab("mend", "n0-n1")
            nodes.wait_for_cables()
            self.check_idle(nodes, "n1", "to-n0")
            self.command(nodes, "n0", "undrain", cable)
            wait_for_data(nodes, "n1", "to-n0")
        self.check_pause(nodes, ranks, drain_and_undrain, _PAUSE_S, reroutes=False)
        moves = [event["fields"]["new_path"] for event in nodes.events("n0", "FLOW_RETURNED")]
        self.assertEqual(moves, ["n0 -> n3 -> n2 -> n1", "n0 -> n1"])

    @long
    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_relay_that_is_then_stopped(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=20)
        relay = busy_relay(nodes, ["n1", "n3"])

        def drain_and_stop() -> None:
            self.command(nodes, relay, "drain", relay)
            self.assertEqual(nodes.relay_memory(relay)["circuits"], 0)
            busy_relay(nodes, [name for name in ("n1", "n3") if name != relay])
            self.assertEqual(nodes.kill(relay, signal.SIGTERM), 0)
        self.check_pause(nodes, ranks, drain_and_stop, _PAUSE_S, reroutes=False)

    @in_lab("ring:4", "--rate", "500mbit")
    def test_a_cable_that_is_plugged_in(self, nodes: LabNodes) -> None:
        """One path at a time: otherwise the flow keeps a circuit through a relay in reserve."""
        ranks = self.start(nodes, ["n0", "n2"], seconds=14, MULTIPATH="off")
        relay = busy_relay(nodes, ["n1", "n3"])

        def plug() -> None:
            nodes.lab("plug", "n0-n2", "--rate", "500mbit")
            wait_for_data(nodes, "n2", "to-n0")
            nodes.wait_until(lambda: nodes.relay_memory(relay)["circuits"] == 0, lambda: f"an end of circuits at {relay}")
        self.check_pause(nodes, ranks, plug, _PAUSE_S, reroutes=False)
        for name in ("n0", "n2"):
            self.check_left(nodes, name)

    def check_left(self, nodes: LabNodes, name: str) -> None:
        """The flow's end there tells that it has left a circuit, and of none that it has lost."""
        nodes.wait_until(lambda: bool(nodes.events(name, "CIRCUIT_LEFT")), lambda: f"CIRCUIT_LEFT at {name}")
        self.assertEqual(nodes.events(name, "CIRCUIT_RETIRED"), [])

    @long
    @in_lab("line:3", "--rate", "500mbit")
    def test_what_would_be_lost(self, nodes: LabNodes) -> None:
        ranks = self.start(nodes, ["n0", "n2"], seconds=15)
        busy_relay(nodes, ["n1"])
        self.assertEqual(self.command(nodes, "n1", "drain", "n1", "--check", status=_LOSES_PATHS)["lost"],
                         [["n0", "n2"]])
        self.assertIn("--force", self.refusal(nodes, "n1", "drain", "n1"))
        self.assertFalse(nodes.cableway("n1", "status")["draining"])
        # A flow without another path stays, and `cableway drain` reports it to the operator.
        self.assertIn("1 circuit", self.refusal(nodes, "n1", "drain", "n1", "--force", "--timeout", "2"))
        self.assertTrue(nodes.cableway("n1", "status")["draining"])
        busy_relay(nodes, ["n1"])
        self.command(nodes, "n1", "undrain", "n1")
        ranks.finish()

    @in_lab("line:2")
    def test_who_may_and_where(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY, SESSION_GROUP="*")
        nodes.wait_for_cables()
        nobody = ("setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups")
        self.assertIn("only root and the user of the node", self.refusal(nodes, "n0", "drain", "n0", prefix=nobody))
        self.assertIn("on n1", self.refusal(nodes, "n0", "drain", "n1"))
        self.assertIn("to-n2", self.refusal(nodes, "n0", "drain", "to-n2"))
        self.assertFalse(nodes.cableway("n0", "status")["draining"])


if __name__ == "__main__":
    main()
