#!/usr/bin/env python3
"""System test of a cluster that changes its key while it runs, in namespaces: a flow over a relay goes on during all three
steps, new jobs start at each half-way state, and a bad key file is reported and harmless.

Usage: key_change_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "failover"))

from failover_case import FLOW, busy_relay
from in_lab import in_lab, main, report_figure
from lab_nodes import LAB_DIR, STEADY, LabNodes

OLD, NEW = "4c" * 32, "5d" * 32
FINGERPRINTS = {OLD: "9706f84a", NEW: "161c10a3"}
STEPS = ((OLD, NEW), (NEW, OLD), (NEW,))
# A cable, a circuit or a set-up that did not get through a step.
HARM = ("KEY_DIFFERS", "CABLE_LOST", "NEIGHBOUR_LEFT", "CIRCUIT_BROKEN", "CIRCUIT_LOST", "CIRCUIT_REFUSED",
        "CONNECTION_REFUSED", "FLOW_REROUTED", "FLOW_FAILED", "PATH_MISSING")


def key_file(name: str) -> Path:
    return LAB_DIR / f"key-of-{name}"


def write_keys(name: str, *keys: str) -> None:
    """As an editor does that replaces the file."""
    new = key_file(name).with_suffix(".new")
    new.write_text("".join(f"{key}\n" for key in keys), encoding="ascii")
    new.chmod(0o600)
    new.rename(key_file(name))


def shown_keys(nodes: LabNodes, name: str) -> list[tuple[str, bool]]:
    return [(key["fingerprint"], key["seals"]) for key in nodes.cableway(name, "status")["keys"]]


class KeyChangeTest(unittest.TestCase):
    def start(self, nodes: LabNodes) -> None:
        for name in nodes.names:
            write_keys(name, OLD)
            nodes.start(name, **STEADY, MULTIPATH="off", KEY_FILE=str(key_file(name)))
        nodes.wait_for_cables()

    def change(self, nodes: LabNodes, names: list[str], keys: tuple[str, ...]) -> None:
        for name in names:
            write_keys(name, *keys)
        expected = [(FINGERPRINTS[key], key == keys[0]) for key in keys]
        for name in names:
            nodes.wait_until(lambda name=name: shown_keys(nodes, name) == expected,
                             lambda name=name: f"keys {expected} of {name}: {shown_keys(nodes, name)}")

    def check_unharmed(self, nodes: LabNodes) -> None:
        for name in nodes.names:
            self.assertEqual(nodes.count_logged(name, *HARM), 0, nodes.log(name))
            self.assertEqual(nodes.cableway(name, "ports")["dropped"]["refused"], 0)
            retired = nodes.cableway(name, "status")["own"]["circuits_retired"]
            self.assertEqual((retired["failed"], retired["stuck"]), (0, 0), name)
        nodes.wait_for_no_problem()

    @in_lab("ring:4", "--rate", "200mbit")
    def test_under_load(self, nodes: LabNodes) -> None:
        self.start(nodes)
        ranks = nodes.start_ranks(["n0", "n2"], *FLOW, "--wall-seconds", "50")
        relay = busy_relay(nodes, ["n1", "n3"])
        begun = time.monotonic()
        for step, keys in enumerate(STEPS):
            # Each time other neighbours are half-way: two that are opposite, or two beside each other.
            first = nodes.names[step:step + 2] if step != 1 else ["n0", "n2"]
            self.change(nodes, first, keys)
            nodes.check_traffic()
            self.change(nodes, [name for name in nodes.names if name not in first], keys)
            self.check_unharmed(nodes)
            self.assertTrue(ranks.running(), ranks.log("n0"))
        report_figure(f"changed in {time.monotonic() - begun:.1f} s")
        for name in nodes.names:
            changes = [event["fields"]["keys"] for event in nodes.events(name, "KEYS_CHANGED")]
            self.assertEqual(changes, [", ".join(FINGERPRINTS[key] for key in keys) for keys in STEPS])
            self.assertNotRegex(nodes.log(name), f"{OLD}|{NEW}")
        # The processes were there before the new key: their flow takes another path with it.
        nodes.lab("cut", f"n0-{relay}")
        self.assertNotEqual(busy_relay(nodes, ["n1", "n3"]), relay)
        self.assertTrue(ranks.running(), ranks.log("n0"))
        ranks.finish()
        self.assertEqual(nodes.count_logged("n0", "FLOW_REROUTED"), 1, nodes.log("n0"))

    @in_lab("line:2")
    def test_a_bad_file_and_one_that_missed_a_step(self, nodes: LabNodes) -> None:
        self.start(nodes)
        for lines, fault in (((OLD[:40],), "line 1: the key has 40 hex digits"), ((NEW, NEW), "the same key twice"),
                             ((), "the key file has no key")):
            write_keys("n1", *lines)
            nodes.wait_for_problem("n1", f"KEY_UNREADABLE .*{fault}.*keeps its keys")
        key_file("n1").unlink()
        nodes.wait_for_problem("n1", "KEY_UNREADABLE .*No such file")
        status, findings = nodes.doctor("n1", "--no-speed")
        self.assertEqual([finding["severity"] for finding in findings if finding["code"] == "KEY_UNREADABLE"], ["error"])
        self.assertEqual(status, 2)
        nodes.check_traffic()
        self.assertEqual(shown_keys(nodes, "n1"), [(FINGERPRINTS[OLD], True)])
        write_keys("n1", OLD)
        nodes.wait_for_no_problem()
        self.check_unharmed(nodes)
        # n1 goes on to the end without n0, and comes back with it.
        self.change(nodes, ["n1"], (NEW,))
        for name in nodes.names:
            nodes.wait_for_problem(name, "KEY_DIFFERS ")
        self.change(nodes, ["n0"], (NEW,))
        nodes.wait_for_cables()
        nodes.wait_for_no_problem()
        nodes.check_traffic()


if __name__ == "__main__":
    main()
