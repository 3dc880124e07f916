#!/usr/bin/env python3
"""System test of `cableway plan addresses` in namespaces: its `ip` commands, run on hosts whose interfaces have no address,
make cables that nodes find, and its expected topology names what is then plugged wrong.

Usage: address_plan_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import atexit
import configparser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from in_lab import in_lab, main
from lab_case import wait_until
from lab_nodes import STEADY, LabNodes
from other_programs import other_program

_PLAN = "TEST_ADDRESS_PLAN"
_BUILD = Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
_HOSTS = ("spark-0", "spark-1", "spark-2")
# Of plugs p0 and p1, function by function.
_TWINS = (("enp1s0f0np0", "enp1s0f1np1"), ("enP2p1s0f0np0", "enP2p1s0f1np1"))
_OFFLINE = """#!/bin/sh
set -eu
case "$1 $2 $3" in
  "-g connection.id connection") test -e "FOLDER/$5.nmconnection" ;;
  "connection add type") NMCLI --offline "$@" >"FOLDER/$6.nmconnection" ;;
  "connection modify "*)
    file=FOLDER/$3.nmconnection
    shift 3
    NMCLI --offline connection modify "$@" <"$file" >"$file.new"
    mv "$file.new" "$file"
    ;;
  "connection up "*) exit 10 ;;
  *) echo "unexpected call: $*" >&2 && exit 2 ;;
esac
"""


def _make_plan(form: str, folder: str) -> None:
    subprocess.run([_BUILD / "bin/cableway", "plan", "addresses", "--topology", "ring:3", "--hosts", ",".join(_HOSTS),
                    "--format", form, "--output", folder], check=True, stdout=subprocess.DEVNULL)


def _expected() -> str:
    """The planned topology, of which the lab is built. The plan is made once, before the lab."""
    if _PLAN not in os.environ and len(sys.argv) > 2:
        folder = tempfile.mkdtemp(prefix="address_plan.")
        atexit.register(shutil.rmtree, folder)
        os.environ[_PLAN] = folder
        _make_plan("ip", folder)
    return f"{os.environ.get(_PLAN)}/expected.toml"


class FormatTest(unittest.TestCase):
    """What the other formats write, read by netplan and by nmcli without their daemons, and as YAML and as calls where
    these programs are not there."""

    def plan(self, form: str, folder: str) -> Path:
        _make_plan(form, folder)
        return Path(folder)

    def test_netplan_is_yaml_of_its_form(self) -> None:
        try:
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("no python3-yaml; the unit tests compare the text")
        with tempfile.TemporaryDirectory() as folder:
            text = (self.plan("netplan", folder) / "spark-1.yaml").read_text(encoding="ascii")
        document = yaml.safe_load(text)
        self.assertEqual(set(document), {"network"})
        self.assertEqual(document["network"]["version"], 2)
        interfaces = document["network"]["ethernets"]
        self.assertEqual(set(interfaces), {interface for plug in _TWINS for interface in plug})
        self.assertEqual(interfaces["enp1s0f1np1"],
                         {"dhcp4": False, "dhcp6": False, "link-local": ["ipv6"], "optional": True, "mtu": 9000,
                          "addresses": ["10.10.0.2/24"]})

    def test_nmcli_is_called_for_each_interface(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = self.plan("nmcli", folder) / "spark-1.sh"
            calls = Path(folder) / "calls"
            nmcli = Path(folder) / "nmcli"
            # No connection exists, and none comes up.
            nmcli.write_text(f'#!/bin/sh\necho "$@" >> {calls}\ncase "$*" in *show*|*" up "*) exit 10;; esac\n')
            nmcli.chmod(0o755)
            done = subprocess.run(["sh", script], env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}, check=True,
                                  capture_output=True, text=True)
            lines = calls.read_text().splitlines()
        self.assertIn("connection add type ethernet con-name cableway-enp1s0f1np1 ifname enp1s0f1np1", lines)
        modified = [line for line in lines if line.startswith("connection modify cableway-enP2p1s0f0np0 ")]
        self.assertEqual(len(modified), 1)
        self.assertIn(" 802-3-ethernet.mtu 9000 ipv4.method manual ipv4.addresses 10.10.3.1/24 ", modified[0])
        self.assertEqual(done.stderr.count("comes up with its cable"), 4)

    def test_netplan_reads_it(self) -> None:
        generate = other_program(self, "netplan-generate")
        with tempfile.TemporaryDirectory() as folder:
            text = (self.plan("netplan", folder) / "spark-1.yaml").read_text(encoding="ascii")
            root = Path(folder, "root")
            file = root / "etc/netplan/90-cableway.yaml"
            file.parent.mkdir(parents=True)

            def generated(content: str) -> subprocess.CompletedProcess[str]:
                file.write_text(content, encoding="ascii")
                file.chmod(0o600)
                return subprocess.run([generate, "--root-dir", root], capture_output=True, text=True, timeout=60, check=False)
            done = generated(text)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            units = root / "run/systemd/network"
            for plug in _TWINS:
                for interface in plug:
                    self.assertIn("MTUBytes=9000\n", (units / f"10-netplan-{interface}.link").read_text())
            network = (units / "10-netplan-enp1s0f1np1.network").read_text()
            self.assertIn("\nAddress=10.10.0.2/24\n", network)
            self.assertIn("\nLinkLocalAddressing=ipv6\n", network)
            self.assertNotIn("DHCP=", network)
            for good, bad in (("10.10.0.2/24", "10.10.0.2"), ("mtu: 9000", "mtu: much"), ("addresses:", "adresses:")):
                self.assertIn(good, text)
                done = generated(text.replace(good, bad))
                self.assertEqual(done.returncode, 1, bad)
                self.assertIn("90-cableway.yaml", done.stderr)

    def test_nmcli_takes_its_calls(self) -> None:
        nmcli = other_program(self, "nmcli")
        with tempfile.TemporaryDirectory() as folder:
            script = self.plan("nmcli", folder) / "spark-1.sh"
            # Connections are files of the folder, as nmcli works on them without NetworkManager; none comes up.
            wrapper = Path(folder) / "nmcli"
            wrapper.write_text(_OFFLINE.replace("NMCLI", nmcli).replace("FOLDER", folder))
            wrapper.chmod(0o755)

            def run_script() -> subprocess.CompletedProcess[str]:
                return subprocess.run(["sh", script], env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}, check=False,
                                      capture_output=True, text=True, timeout=60)
            for _ in range(2):  # the second time they exist
                done = run_script()
                self.assertEqual(done.returncode, 0, done.stderr)
            for plug in _TWINS:
                for interface in plug:
                    self.assertTrue((Path(folder) / f"cableway-{interface}.nmconnection").exists())
            profile = configparser.ConfigParser()
            profile.read(Path(folder) / "cableway-enp1s0f1np1.nmconnection")
            self.assertEqual(profile["connection"]["interface-name"], "enp1s0f1np1")
            self.assertEqual(profile["ethernet"]["mtu"], "9000")
            self.assertEqual(profile["ipv4"], {"address1": "10.10.0.2/24", "method": "manual", "never-default": "true"})
            self.assertEqual(profile["ipv6"]["method"], "link-local")
            text = script.read_text()
            for good, bad in (("10.10.0.2/24", "10.10.0.256/24"), ("802-3-ethernet.mtu", "802-3-ethernet.mtus")):
                self.assertIn(good, text)
                script.write_text(text.replace(good, bad))
                self.assertNotEqual(run_script().returncode, 0, bad)


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
