#!/usr/bin/env python3
"""The shapes that both `cableway` and `tools/lab` support have the same nodes, cables, interfaces and addresses.

    lab_shapes_test.py CABLEWAY
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/lab"))
import address_plan  # noqa: E402
import topology_spec  # noqa: E402

SPECS = ["line:2", "line:5", "ring:3", "ring:8", "mesh:2", "mesh:6", "mesh:24", "star:3", "star:7",
         "torus:2x2", "torus:2x4", "torus:3x2", "torus:4x5"]
CABLEWAY = ""


def generated(spec):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CABLEWAY_")}
    printed = subprocess.run([CABLEWAY, "topology", "--json", "--file", spec], check=True, stdout=subprocess.PIPE,
                             env=environment)
    return json.loads(printed.stdout)


def ports_of_cables(topology):
    return {cable["name"]: sorted((end["node"], end["interface"], end["address"]) for end in cable["ends"])
            for cable in topology["cables"]}


class LabShapes(unittest.TestCase):
    def test_shapes_are_the_labs(self):
        for spec in SPECS:
            with self.subTest(spec):
                lab = address_plan.fill_in(topology_spec.parse_spec(spec))
                generated_topology = generated(spec)
                self.assertEqual([node["name"] for node in generated_topology["nodes"]], lab.node_names())
                expected = {cable.name: sorted((end.node, end.interface, end.address) for end in cable.ends)
                            for cable in lab.cables}
                self.assertEqual(ports_of_cables(generated_topology), expected)

    def test_switched_ports_are_the_labs(self):
        lab = address_plan.fill_in(topology_spec.parse_spec("switch:5"))
        expected = {(cable.ends[0].node, cable.ends[0].interface, cable.ends[0].address) for cable in lab.cables}
        found = {end for ends in ports_of_cables(generated("switch:5")).values() for end in ends}
        self.assertEqual(found, expected)

    def test_twins_join_the_labs_nodes(self):
        for spec in ("twins:2", "twins:3", "twins:5"):
            with self.subTest(spec):
                lab = topology_spec.parse_spec(spec)
                # A cable of the lab joins one port to its wire; one of cableway joins two ports of a wire.
                expected = [sorted(cable.ends[0].node for cable in lab.cables if cable.ends[1].node == wire)
                            for wire in lab.switches]
                nodes = {cable["name"]: [end["node"] for end in cable["ends"]] for cable in generated(spec)["cables"]}
                self.assertEqual(len(nodes), 2 * len(expected))
                found = [sorted(nodes[f"c{2 * wire}"] + nodes[f"c{2 * wire + 1}"]) for wire in range(len(expected))]
                self.assertEqual(found, expected)


if __name__ == "__main__":
    CABLEWAY = sys.argv.pop(1)
    unittest.main()
