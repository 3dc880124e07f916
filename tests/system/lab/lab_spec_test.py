#!/usr/bin/env python3
"""Test of how tools/lab/lab parses specs, files and options, and of what it refuses. Builds no lab."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab_case import lab

import address_plan  # lab_case adds the lab's modules to sys.path
import kernel_routes
import shaping
import topology_file
import topology_spec
from lab_error import LabError


class SpecTest(unittest.TestCase):
    def pairs(self, spec: str) -> list[tuple[str, str]]:
        return [cable.nodes() for cable in topology_spec.parse_spec(spec).cables]

    def test_shapes(self) -> None:
        self.assertEqual(self.pairs("line:3"), [("n0", "n1"), ("n1", "n2")])
        self.assertEqual(self.pairs("ring:4"), [("n0", "n1"), ("n1", "n2"), ("n2", "n3"), ("n3", "n0")])
        self.assertEqual(self.pairs("star:4"), [("n0", "n1"), ("n0", "n2"), ("n0", "n3")])
        self.assertEqual(len(self.pairs("mesh:5")), 10)
        self.assertEqual(self.pairs("switch:3"), [("n0", "s0"), ("n1", "s0"), ("n2", "s0")])
        self.assertEqual(topology_spec.parse_spec("switch:3").node_names(), ["n0", "n1", "n2"])
        self.assertEqual(self.pairs("twins:2"), [("n0", "w0"), ("n0", "w0"), ("n1", "w0"), ("n1", "w0")])
        self.assertEqual(len(self.pairs("twins:4")), 16)
        self.assertEqual(len(self.pairs("torus:4x4")), 32)
        self.assertEqual(len(self.pairs("torus:2x4")), 12)
        self.assertEqual(sorted(self.pairs("torus:2x2")), [("n0", "n1"), ("n0", "n2"), ("n1", "n3"), ("n2", "n3")])
        degree = {name: 0 for name in topology_spec.parse_spec("torus:3x5").node_names()}
        for pair in self.pairs("torus:3x5"):
            for name in pair:
                degree[name] += 1
        self.assertEqual(set(degree.values()), {4})

    def test_addresses(self) -> None:
        for spec in ("mesh:64", "ring:64", "torus:2x32"):
            filled = address_plan.fill_in(topology_spec.parse_spec(spec))
            addresses = [end.address for cable in filled.cables for end in cable.ends]
            self.assertEqual(len(set(addresses)), len(addresses))
            names = {(end.node, end.interface) for cable in filled.cables for end in cable.ends}
            self.assertEqual(len(names), 2 * len(filled.cables))
            self.assertLessEqual(max(len(name) for _, name in names), 15)
        first = filled.cables[0]
        self.assertEqual(first.ends[0], topology_spec.End("n0", "to-n1", "10.7.0.1"))
        self.assertEqual(first.ends[1], topology_spec.End("n1", "to-n0", "10.7.0.2"))

    def test_ipv6_addresses(self) -> None:
        ring = topology_spec.parse_spec("ring:4")
        filled = address_plan.fill_in(ring, address_plan.IPV6)
        self.assertEqual([end.address for end in filled.cables[2].ends], ["fd00:7:0:2::1", "fd00:7:0:2::2"])
        filled = address_plan.fill_in(ring, address_plan.LINK_LOCAL)
        self.assertEqual({end.address for cable in filled.cables for end in cable.ends}, {""})

    def test_a_switch_is_one_subnet_and_has_no_address(self) -> None:
        filled = address_plan.fill_in(topology_spec.parse_spec("switch:3"))
        self.assertEqual([cable.ends for cable in filled.cables], [
            (topology_spec.End(f"n{i}", "to-s0", f"10.7.0.{i + 1}"), topology_spec.End("s0", f"to-n{i}", ""))
            for i in range(3)])

    def test_split_ports_have_a_subnet_for_each_function(self) -> None:
        filled = address_plan.fill_in(topology_spec.parse_spec("twins:3"))
        self.assertEqual([(cable.ends[0].interface, cable.ends[0].address) for cable in filled.cables[:4]],
                         [("to-w0", "10.7.0.1"), ("to-w0-2", "10.7.1.1"), ("to-w0", "10.7.0.2"), ("to-w0-2", "10.7.1.2")])
        subnets = {cable.ends[0].address.rsplit(".", 1)[0] for cable in filled.cables}
        self.assertEqual(len(subnets), 6)

    def test_file_survives_a_round_trip(self) -> None:
        for spec in ("torus:3x3", "switch:5", "twins:3"):
            for addressing in address_plan.ADDRESSINGS:
                filled = address_plan.fill_in(topology_spec.parse_spec(spec), addressing)
                self.assertEqual(topology_file.parse_topology("x", topology_file.topology_text(filled)), filled)

    def test_cables_have_the_names_that_nodes_give_them(self) -> None:
        ends = '[{node = "a.x", address = "10.9.0.1"}, {node = "b", address = "10.9.0.2"}]'
        text = f'[[node]]\nname = "a.x"\n[[node]]\nname = "b"\n[[cable]]\nname = "NAME"\nends = {ends}\n'
        for name in ("a.x:to-b:b:to-a", "n0.eth0-n1.eth0"):
            topology = topology_file.parse_topology("x", text.replace("NAME", name))
            self.assertEqual([cable.name for cable in topology.cables], [name])
        for name in ("a:b", "a:b:c:d:e", "a/b"):
            with self.assertRaisesRegex(LabError, "name = '.*': expected text"):
                topology_file.parse_topology("x", text.replace("NAME", name))

    def test_routes_are_shortest_and_clockwise(self) -> None:
        ring = address_plan.fill_in(topology_spec.parse_spec("ring:4"))
        gateways = {route.destination: route.interface for route in kernel_routes.kernel_routes(ring)["n0"]}
        self.assertEqual(gateways, {"10.7.1.1": "to-n1", "10.7.1.2": "to-n1", "10.7.2.1": "to-n1", "10.7.2.2": "to-n3"})
        gateways = {route.destination: route.interface for route in kernel_routes.kernel_routes(ring)["n3"]}
        self.assertEqual(gateways["10.7.1.1"], "to-n0")

    def test_quantities(self) -> None:
        self.assertEqual(shaping.parse_rate("1.5gbit"), 1_500_000_000)
        self.assertEqual(shaping.parse_delay("0.5ms"), 500)
        self.assertEqual(shaping.parse_loss("0.1%"), 1000)
        self.assertEqual(shaping.parse_burst("32KiB"), 32768)
        for parse, bad in ((shaping.parse_rate, "1gb"), (shaping.parse_rate, "0gbit"), (shaping.parse_rate, "9tbit"),
                           (shaping.parse_delay, "5"), (shaping.parse_delay, "11s"), (shaping.parse_loss, "1"),
                           (shaping.parse_loss, "101%"), (shaping.parse_burst, "32768"),
                           (shaping.parse_burst, "1KiB"), (shaping.parse_burst, "17MiB")):
            with self.assertRaisesRegex(LabError, f"'{re.escape(bad)}': expected"):
                parse(bad)

    def test_burst(self) -> None:
        for shape, burst in ((shaping.Shape(rate_bps=200_000_000), 131_072),
                             (shaping.Shape(rate_bps=4_000_000_000), 500_000),
                             (shaping.Shape(rate_bps=200_000_000, burst_bytes=32_768), 32_768)):
            lines = shaping.egress_lines("to-n1", shaping.Shape(), shape, shaping.Means(netem=False, nft=False))
            self.assertIn(f" burst {burst} ", lines[-1])


class RefusalTest(unittest.TestCase):
    """Bad input is refused, by name, with exit status 2, before anything is built."""

    def refused(self, spec: str, expected: str, *options: str) -> None:
        done = lab("run", spec, *options, "--", "true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, expected)
        self.assertNotIn("Traceback", done.stderr)

    def test_specs(self) -> None:
        for spec, expected in (
                ("ring:2", "'ring:2': a ring has 3 to 64 nodes, not 2"), ("mesh:1", "'mesh:1': a mesh has 2 to 64"),
                ("line:1", "'line:1'.*2 to 64"), ("switch:1", "'switch:1'.*2 to 64"), ("star:2", "'star:2'.*3 to 64"), ("ring:65", "'ring:65'.*not 65"),
                ("torus:1x5", "'torus:1x5'.*at least 2 rows"), ("torus:9x9", "'torus:9x9': 81 nodes"),
                ("torus:4", "'torus:4': expected rows and columns"), ("ring:", "'ring:': expected a number"),
                ("ring:x", "'ring:x': expected a number"), ("cube:3", "unknown kind 'cube'.*line:N, ring:N"),
                ("ring", "'ring': expected a number"), ("absent.toml", "'absent.toml': no such file")):
            with self.subTest(spec):
                self.refused(spec, expected)

    def test_options(self) -> None:
        self.refused("ring:3", "rate 'fast': expected", "--rate", "fast")
        self.refused("ring:3", "burst '8KiB': a packet of the MTU, 9000 bytes", "--burst", "8KiB")
        self.refused("ring:3", "delay '1': expected", "--delay", "1")
        self.refused("ring:3", "loss '5': expected", "--loss", "5")
        self.refused("ring:3", "sysctl 'kernel.x=1': expected", "--sysctl", "kernel.x=1")
        self.refused("ring:3", "mtu '100': expected", "--mtu", "100")
        self.refused("ring:3", "invalid choice: 'ipx'", "--addresses", "ipx")
        self.refused("ring:3", "--forwarding: needs an IPv4 address", "--addresses", "ipv6", "--forwarding")
        self.refused("switch:3", "--forwarding: needs .* no switch", "--forwarding")
        done = lab("run", "ring:3")
        self.assertEqual((done.returncode, done.stderr), (2, "lab: lab run: expected -- COMMAND at the end\n"))

    def test_files(self) -> None:
        nodes = '[[node]]\nname = "a"\n[[node]]\nname = "b"\n'
        cable = '[[cable]]\nends = [{node = "a", address = "10.9.0.1"}, {node = "b", address = "10.9.0.2"}]\n'
        for text, expected in (
                ('[[node]\nname = "a"\n', r"bad\.toml:1: not TOML"),
                (nodes + '[[cable]]\nends = [{node = "a"}, {node = "z"}]\n', r"bad\.toml:5: .*unknown node 'z'"),
                (nodes + '[[cable]]\nends = [{node = "a"}]\n', r"bad\.toml:5: .*two ends"),
                (nodes + '[[cable]]\nends = [{node = "a"}, {node = "a"}]\n', r"bad\.toml:5: both ends"),
                (nodes + '[[node]]\nname = "a"\n' + cable, r"bad\.toml:5: a second node with the name 'a'"),
                (nodes + cable.replace("10.9.0.2", "10.9.0"), r"bad\.toml:5: address = '10\.9\.0': expected one such as"),
                (nodes + cable.replace("10.9.0.2", "10.8.0.2"), "10.9.0.1 and 10.8.0.2: expected two addresses of one"),
                (nodes + cable.replace("10.9.0.2", "fe80::2"), "address = 'fe80::2': .*link-local ones are there"),
                (nodes + '[[switch]]\nname = "a"\n' + cable, r"bad\.toml:5: a second node or switch .* 'a'"),
                (nodes.replace('[[node]]\nname = "b"', '[[switch]]\nname = "b"') + cable, "at a switch: .*address"),
                (nodes + '[[switch]]\nname = "s"\n[[switch]]\nname = "t"\n[[cable]]\nends = [{node = "s"}, {node = "t"}]\n',
                 r"bad\.toml:9: at a switch: the cable's other end is a node's"),
                (nodes + cable + cable, "cable a-b and cable a-b-2 are both in 10.9.0.0/24"),
                (nodes + cable + "rate_mbps = 0\n", r"bad\.toml:5: rate_mbps = 0: expected a whole number"),
                (nodes + cable + "latency_us = -1.5\n", r"bad\.toml:5: latency_us = -1\.5: expected a number from 0"),
                (nodes + cable + "speed = 1\n", r"bad\.toml:5: unknown key 'speed'; a cable has ends"),
                (nodes + cable + "routed = true\n", r"bad\.toml:5: a routed cable"),
                (nodes.replace('"b"', '"b c"') + cable, r"bad\.toml:3: name = 'b c': expected text"),
                (nodes, "0 .*cable.* entries"), (cable, "0 .*node.* entries"), ("node = 3\n", "'node' is not a list")):
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "bad.toml")
                path.write_text(text, encoding="utf-8")
                self.refused(str(path), expected)

    def test_outside_a_lab(self) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "LAB"}
        done = lab("show", env=environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("which lab?", done.stderr)
        done = lab("show", "--lab", "never-up")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'never-up': no such lab is up", done.stderr)
        done = lab("show", "--lab", "1:1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is gone", done.stderr)

    def test_every_verb_has_help(self) -> None:
        for verb in ("run", "up", "down", "list", "enter", "exec", "each", "show", "topology", "cut", "mend", "plug", "unplug",
                     "shape"):
            done = lab(verb, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("usage: lab", done.stdout)
            self.assertIn(verb, lab("--help").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
