"""The script in docs/cli.md makes topologies of GraphML graphs that `cableway` reads.

Usage: graph_conversion_test.py DOCS/cli.md CABLEWAY. Without networkx, a stand-in with the same calls reads the graph.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DOCUMENT, CABLEWAY = (str(Path(each).resolve()) for each in sys.argv[1:3])

STAND_IN = """
import types, xml.etree.ElementTree as xml
def read_graphml(path):
    root = xml.parse(path).getroot()
    names = {key.get("id"): key.get("attr.name") for key in root.iter("key")}
    edges = [(edge.get("source"), edge.get("target"), {names[datum.get("key")]: datum.text for datum in edge})
             for edge in root.iter("edge")]
    return types.SimpleNamespace(nodes=[node.get("id") for node in root.iter("node")], edges=lambda data: edges)
"""

GRAPH = """<graphml>
  <key id="d0" for="edge" attr.name="rate_mbps" attr.type="int"/>
  <key id="d1" for="edge" attr.name="from_interface" attr.type="string"/>
  <key id="d2" for="edge" attr.name="latency_us" attr.type="double"/>
  <graph id="lab" edgedefault="undirected">
    <node id="n0"/><node id="n1"/><node id="n2"/>
    <edge source="n0" target="n1"><data key="d0">100000</data><data key="d1">eth7</data></edge>
    <edge source="n1" target="n2"><data key="d2">2.5</data></edge>
  </graph>
</graphml>
"""


class Conversion(unittest.TestCase):
    def test_a_converted_graph_is_a_topology(self):
        text = Path(DOCUMENT).read_text(encoding="utf-8")
        section = text[text.index("**Graphs of other programs**") :]
        script = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "convert.py").write_text(script, encoding="utf-8")
            Path(folder, "lab.graphml").write_text(GRAPH, encoding="utf-8")
            if importlib.util.find_spec("networkx") is None:
                Path(folder, "networkx.py").write_text(STAND_IN, encoding="utf-8")
            command = [sys.executable, "convert.py", "lab.graphml"]
            converted = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=os.environ)
            Path(folder, "lab.json").write_text(converted.stdout, encoding="utf-8")
            read = subprocess.run(
                [CABLEWAY, "topology", "--file", "lab.json", "--json"], cwd=folder, capture_output=True, text=True, check=False
            )
        self.assertEqual(read.returncode, 0, read.stderr)
        topology = json.loads(read.stdout)
        self.assertEqual([node["name"] for node in topology["nodes"]], ["n0", "n1", "n2"])
        first, second = topology["cables"]
        self.assertEqual([first["name"], first["rate_mbps"], first["ends"][0]["interface"]], ["n0-n1", 100000, "eth7"])
        self.assertEqual([second["name"], second["latency_us"]], ["n1-n2", 2.5])
        addresses = [end["address"] for cable in topology["cables"] for end in cable["ends"]]
        self.assertEqual(addresses, ["10.10.0.1", "10.10.0.2", "10.10.0.5", "10.10.0.6"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
