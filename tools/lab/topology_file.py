"""The topology file (TOML) that the lab reads, and that it keeps in LAB_DIR. The format of `cableway topology --file`,
and switches as well: `[[switch]] name = ".."`, which a cable's end may name like a node. Plugs and PCIe roots are not
built: they are accepted and left out."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from lab_error import LabError, usage_error
from topology_spec import MAX_CABLES, MAX_NODES, Cable, End, Node, Topology, is_spec, parse_spec

_NAME = re.compile(r"[A-Za-z0-9._-]{1,63}")
_INTERFACE = re.compile(r"[A-Za-z0-9._-]{1,15}")
# Those of cableway topology, too: NODE.INTERFACE-NODE.INTERFACE or NODE:INTERFACE:NODE:INTERFACE.
_END = f"{_NAME.pattern}:{_INTERFACE.pattern}"
_CABLE_NAME = re.compile(rf"[A-Za-z0-9._-]{{1,160}}|{_END}:{_END}")
_MAX_LATENCY_US = 1_000_000
_KEYS = {
    "file": {"cluster", "node", "switch", "cable"},
    "node": {"name", "relay_port", "plugs", "roots"},
    "switch": {"name"},
    "cable": {"name", "ends", "rate_mbps", "latency_us", "routed"},
    "end": {"node", "interface", "address", "plug", "root"},
}


class _Reader:
    """Turns parsed TOML into a Topology; every error names the file and the line of its entry."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()

    def error(self, line: int, message: str) -> LabError:
        return usage_error(f"{self.path}:{line}: {message}")

    def entry_line(self, table: str, index: int) -> int:
        """The line of the index-th [[table]] header; tomllib keeps no positions, so the headers are counted."""
        header = re.compile(rf"\s*\[\[\s*{table}\s*\]\]")
        found = [number for number, line in enumerate(self.lines, 1) if header.match(line)]
        return found[index] if index < len(found) else 1

    def table(self, line: int, kind: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(line, f"{kind}: expected a table, found {value!r}")
        for key in value:
            if key not in _KEYS[kind]:
                raise self.error(line, f"unknown key '{key}'; a {kind} has {', '.join(sorted(_KEYS[kind]))}")
        return value

    def text(self, line: int, table: dict[str, Any], key: str, pattern: re.Pattern[str], default: str | None) -> str:
        value = table.get(key, default)
        if value is None:
            raise self.error(line, f"'{key}' is missing")
        if value == default:
            return value
        if not isinstance(value, str) or not pattern.fullmatch(value) or value in (".", ".."):
            raise self.error(line, f"{key} = {value!r}: expected text that matches {pattern.pattern}")
        return value

    def latency(self, line: int, table: dict[str, Any]) -> float | None:
        value = table.get("latency_us")
        if value is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= _MAX_LATENCY_US:
            raise self.error(line, f"latency_us = {value!r}: expected a number from 0 to {_MAX_LATENCY_US}")
        return value

    def number(self, line: int, table: dict[str, Any], key: str, low: int, high: int) -> int | None:
        value = table.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(line, f"{key} = {value!r}: expected a whole number from {low} to {high}")
        return value

    def node(self, line: int, value: Any) -> Node:
        table = self.table(line, "node", value)
        name = self.text(line, table, "name", _NAME, None)
        return Node(name, self.number(line, table, "relay_port", 1, 65535))

    def end(self, line: int, value: Any, nodes: set[str]) -> End:
        table = self.table(line, "end", value)
        node = self.text(line, table, "node", _NAME, None)
        if node not in nodes:
            raise self.error(line, f"cable end at unknown node '{node}'; expected one of {', '.join(sorted(nodes))}")
        address = table.get("address", "")
        if address != "":
            try:
                address = _parse_address(address)
            except ValueError:
                raise self.error(line, f"address = {address!r}: expected one such as 10.7.0.1 or fd00:7::1; link-local"
                                       " ones are there by themselves") from None
        return End(node, self.text(line, table, "interface", _INTERFACE, ""), address)

    def cable(self, line: int, value: Any, nodes: set[str], switches: set[str], taken: set[str]) -> Cable:
        table = self.table(line, "cable", value)
        ends = table.get("ends")
        if not isinstance(ends, list) or len(ends) != 2:
            raise self.error(line, "expected ends = [{node = ..}, {node = ..}]: two ends")
        first, second = (self.end(line, end, nodes | switches) for end in ends)
        if first.node == second.node:
            raise self.error(line, f"both ends are at node '{first.node}'; a cable joins two nodes")
        at_switch = [end for end in (first, second) if end.node in switches]
        if len(at_switch) == 2 or any(end.address for end in at_switch):
            raise self.error(line, "at a switch: the cable's other end is a node's, and only that has an address")
        if not at_switch and bool(first.address) != bool(second.address):
            raise self.error(line, "one end has an address and the other none; give both or neither")
        if table.get("routed", False) is not False:
            raise self.error(line, "a routed cable is no cable: a lab cannot build it (see lab topology --routed)")
        name = self.text(line, table, "name", _CABLE_NAME, "") or _default_name(first.node, second.node, taken)
        if name in taken:
            raise self.error(line, f"a second cable with the name '{name}'")
        return Cable(name, (first, second), self.number(line, table, "rate_mbps", 1, 10_000_000),
                     self.latency(line, table))

    def switches(self, document: dict[str, Any], nodes: set[str]) -> list[str]:
        names: list[str] = []
        for line, entry in self.entries(document, "switch", MAX_NODES) if "switch" in document else []:
            name = self.text(line, self.table(line, "switch", entry), "name", _NAME, None)
            if name in nodes or name in names:
                raise self.error(line, f"a second node or switch with the name '{name}'")
            names.append(name)
        return names

    def entries(self, document: dict[str, Any], kind: str, max_entries: int) -> list[tuple[int, Any]]:
        value = document.get(kind, [])
        if not isinstance(value, list):
            raise self.error(1, f"'{kind}' is not a list of tables; write [[{kind}]]")
        if not 1 <= len(value) <= max_entries:
            raise self.error(1, f"{len(value)} [[{kind}]] entries; a lab has 1 to {max_entries}")
        return [(self.entry_line(kind, index), entry) for index, entry in enumerate(value)]


def _parse_address(text: Any) -> str:
    """Raises ValueError for text that is not an address, or an address that is not allowed here."""
    address = ipaddress.ip_address(text) if isinstance(text, str) else None
    if address is None or address.is_link_local or "%" in str(address):
        raise ValueError(text)
    return str(address)


def _default_name(first: str, second: str, taken: set[str]) -> str:
    name, number = f"{first}-{second}", 2
    while name in taken:
        name, number = f"{first}-{second}-{number}", number + 1
    return name


def parse_topology(path: str, text: str) -> Topology:
    """Raises LabError `PATH:LINE: what was found, what was expected`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(position[1]) if position else max(1, len(text.splitlines()))
        raise usage_error(f"{path}:{line}: not TOML: {error}") from None
    reader = _Reader(path, text)
    reader.table(1, "file", document)
    cluster = reader.text(1, document, "cluster", _NAME, "lab")
    nodes: dict[str, Node] = {}
    for line, entry in reader.entries(document, "node", MAX_NODES):
        node = reader.node(line, entry)
        if node.name in nodes:
            raise reader.error(line, f"a second node with the name '{node.name}'")
        nodes[node.name] = node
    switches = reader.switches(document, set(nodes))
    cables: dict[str, Cable] = {}
    for line, entry in reader.entries(document, "cable", MAX_CABLES):
        cable = reader.cable(line, entry, set(nodes), set(switches), set(cables))
        cables[cable.name] = cable
    return Topology(list(nodes.values()), list(cables.values()), cluster, switches)


def read_topology(path: str) -> Topology:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise usage_error(f"topology file '{path}': no such file (a spec has the form ring:4)") from None
    except (OSError, UnicodeDecodeError) as error:
        raise usage_error(f"topology file '{path}': cannot read it: {error}") from None
    return parse_topology(path, text)


def load_topology(text: str) -> Topology:
    """The topology that SPEC or FILE describes."""
    if is_spec(text) or (text.isalpha() and not os.path.exists(text)):
        return parse_spec(text)
    return read_topology(text)


def _end_text(end: End) -> str:
    return f'{{node = "{end.node}", interface = "{end.interface}", address = "{end.address}"}}'


def topology_text(topology: Topology) -> str:
    """The file's text; parse_topology() inverts it."""
    lines = [f'cluster = "{topology.cluster}"']
    for node in topology.nodes:
        lines += ["", "[[node]]", f'name = "{node.name}"']
        if node.relay_port is not None:
            lines.append(f"relay_port = {node.relay_port}")
    for switch in topology.switches:
        lines += ["", "[[switch]]", f'name = "{switch}"']
    for cable in topology.cables:
        lines += ["", "[[cable]]", f'name = "{cable.name}"',
                  f"ends = [{_end_text(cable.ends[0])}, {_end_text(cable.ends[1])}]"]
        for key, value in (("rate_mbps", cable.rate_mbps), ("latency_us", cable.latency_us)):
            if value is not None:
                lines.append(f"{key} = {value}")
        if cable.routed:
            lines.append("routed = true")
    return "\n".join(lines) + "\n"
