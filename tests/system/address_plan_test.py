#!/usr/bin/env python3
"""System test of `cableway plan addresses` in namespaces: its `ip` commands, run on hosts whose interfaces have no address,
make cables that nodes find, and its expected topology names what is then plugged wrong.

Usage: address_plan_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from in_lab import in_lab, main
from lab_case import wait_until
from lab_nodes import STEADY, LabNodes

_PLAN = "TEST_ADDRESS_PLAN"
_HOSTS = ("spark-0", "spark-1", "spark-2")
# Of plugs p0 and p1, function by function.
_TWINS = (("enp1s0f0np0", "enp1s0f1np1"), ("enP2p1s0f0np0", "enP2p1s0f1np1"))


def _expected() -> str:
    """The planned topology, of which the lab is built. The plan is made once, before the lab."""
    if _PLAN not in os.environ and len(sys.argv) > 2:
        cableway = Path(sys.argv[2]).resolve() / "bin/cableway"
        folder = tempfile.mkdtemp(prefix="address_plan.")
        atexit.register(shutil.rmtree, folder)
        os.environ[_PLAN] = folder
        subprocess.run([cableway, "plan", "addresses", "--topology", "ring:3", "--hosts", ",".join(_HOSTS), "--format", "ip",
                        "--output", folder], check=True, stdout=subprocess.DEVNULL)
    return f"{os.environ.get(_PLAN)}/expected.toml"


class AddressPlanTest(unittest.TestCase):
    def apply(self, nodes: LabNodes, name: str) -> None:
        nodes.run(name, "sh", f"{os.environ[_PLAN]}/{name}.sh")

    def expectation(self, nodes: LabNodes, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(nodes.run(name, nodes.build / "bin/cableway", "topology", "--json", "--expect",
                                                     _expected()))["expected"]
        return found

    def wait_for(self, nodes: LabNodes, kinds: list[str]) -> list[dict[str, Any]]:
        """Waits until every node finds differences of these kinds only; returns those that the last one finds."""
        differences: list[dict[str, Any]] = []

        def all_find_them() -> bool:
            nonlocal differences
            for name in _HOSTS:
                found = self.expectation(nodes, name)
                self.assertEqual(found["by"], "interface")
                differences = found["differences"]
                if [each["kind"] for each in differences] != kinds:
                    return False
            return True
        wait_until(all_find_them, f"differences {kinds}", 20)
        return differences

    def exchange_plugs(self, nodes: LabNodes, name: str) -> None:
        """As if both cables of a host were plugged into each other's plug: names and addresses stay with the plugs."""
        for first, second in _TWINS:
            nodes.ip(name, f"link set {first} down", f"link set {second} down", f"address flush dev {first}",
                     f"address flush dev {second}", f"link set {first} name other", f"link set {second} name {first}",
                     f"link set other name {second}")
        self.apply(nodes, name)

    @in_lab(_expected())
    def test_planned_addresses_make_the_expected_topology(self, nodes: LabNodes) -> None:
        for name in _HOSTS:
            for plug in _TWINS:
                nodes.ip(name, *(f"-4 address flush dev {interface}" for interface in plug))
            for _ in range(2):  # it may run again
                self.apply(nodes, name)
            self.assertEqual(nodes.run(name, "sysctl", "-n", "net.ipv4.conf.enp1s0f0np0.arp_ignore").strip(), "1")
        nodes.start(**STEADY)
        self.wait_for(nodes, [])
        self.assertIn("10.10.0.1", nodes.addresses("spark-0"))
        self.assertEqual(nodes.problems("spark-0"), [])

        self.exchange_plugs(nodes, "spark-1")
        swap, = self.wait_for(nodes, ["cables_swapped"])
        self.assertRegex(swap["advice"], "^swap these two at spark-1: plug p[01] .* and plug p[01] ")
        status, findings = nodes.doctor("spark-0", "--no-speed", "--expect", _expected())
        self.assertNotEqual(status, 0)
        self.assertEqual([each["advice"] for each in findings if each["code"] == "CABLES_SWAPPED"], [swap["advice"]])

        self.exchange_plugs(nodes, "spark-1")
        self.wait_for(nodes, [])
        nodes.ip("spark-2", *(f"link set {plug[0]} down" for plug in _TWINS))
        missing, = self.wait_for(nodes, ["cable_missing"])
        self.assertEqual(missing["nodes"], ["spark-0", "spark-2"])


if __name__ == "__main__":
    main()
