"""Which nodes a lab has and which cables join them: specs such as `ring:4`.

A Topology from a spec or a file may lack interfaces and addresses; address_plan fills them in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lab_error import usage_error

MAX_NODES = 64
MAX_CABLES = 2048  # a mesh of 64 nodes has 2016
SPEC_FORMS = "line:N, ring:N, mesh:N, star:N, switch:N, torus:AxB, twins:N"


@dataclass(frozen=True)
class Node:
    name: str
    relay_port: int | None = None


@dataclass(frozen=True)
class End:
    """One port: a cable's end at a node or a switch. An empty interface is not chosen yet, nor is an empty address,
    unless it is at a switch or the cable has only link-local addresses."""

    node: str
    interface: str = ""
    address: str = ""


@dataclass(frozen=True)
class Cable:
    name: str
    ends: tuple[End, End]
    rate_mbps: int | None = None  # per direction
    latency_us: float | None = None
    routed: bool = False

    def nodes(self) -> tuple[str, str]:
        return self.ends[0].node, self.ends[1].node

    def other_end(self, node: str) -> End:
        return self.ends[1] if self.ends[0].node == node else self.ends[0]

    def end_at(self, node: str) -> End:
        return self.ends[0] if self.ends[0].node == node else self.ends[1]


@dataclass(frozen=True)
class Topology:
    nodes: list[Node]
    cables: list[Cable]
    cluster: str = "lab"
    switches: list[str] = field(default_factory=list)  # Ethernet switches at the ends of cables
    # How `lab show` draws it: line, ring, star, torus, mesh, switch, file, changed.
    shape: str = field(default="file", compare=False)

    def node_names(self) -> list[str]:
        return [node.name for node in self.nodes]

    def cables_of(self, node: str) -> list[Cable]:
        return [cable for cable in self.cables if node in cable.nodes()]


def _build(shape: str, node_count: int, pairs: list[tuple[int, int]]) -> Topology:
    nodes = [Node(f"n{i}") for i in range(node_count)]
    cables = [Cable(f"c{i}", (End(f"n{a}"), End(f"n{b}"))) for i, (a, b) in enumerate(pairs)]
    return Topology(nodes, cables, shape=shape)


def _line(count: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(count - 1)]


def _ring(count: int) -> list[tuple[int, int]]:
    return [(i, (i + 1) % count) for i in range(count)]


def _mesh(count: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(count) for b in range(a + 1, count)]


def _star(count: int) -> list[tuple[int, int]]:
    return [(0, i) for i in range(1, count)]


def _switch(count: int) -> Topology:
    """All nodes on one segment: a cable each, to a switch."""
    cables = [Cable(f"c{i}", (End(f"n{i}"), End("s0"))) for i in range(count)]
    return Topology([Node(f"n{i}") for i in range(count)], cables, switches=["s0"], shape="switch")


def _twins(count: int) -> Topology:
    """A ring of split ports: every wire joins two ports of a node with two of the next, and all four hear each other.
    Two nodes share one wire. A wire is a switch that has no other nodes."""
    wires = [(0, 1)] if count == 2 else _ring(count)
    cables = [Cable(f"c{4 * wire + place}", (End(f"n{node}"), End(f"w{wire}")))
              for wire, pair in enumerate(wires)
              for place, node in enumerate((pair[0], pair[0], pair[1], pair[1]))]
    return Topology([Node(f"n{i}") for i in range(count)], cables,
                    switches=[f"w{wire}" for wire in range(len(wires))], shape="twins")


def _torus(rows: int, columns: int) -> list[tuple[int, int]]:
    """Each node owns the cable to its right and the one below it; a dimension of two has one cable, not two."""
    pairs = []
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            if columns > 2 or column == 0:
                pairs.append((here, row * columns + (column + 1) % columns))
            if rows > 2 or row == 0:
                pairs.append((here, (row + 1) % rows * columns + column))
    return pairs


@dataclass(frozen=True)
class _Kind:
    min_nodes: int
    pairs: Callable[[int], list[tuple[int, int]]]


_KINDS = {"line": _Kind(2, _line), "ring": _Kind(3, _ring), "mesh": _Kind(2, _mesh), "star": _Kind(3, _star)}


def is_spec(text: str) -> bool:
    """Whether `text` means a spec rather than a file: a word, a colon, no slash and no file suffix."""
    return ":" in text and "/" not in text and not text.endswith(".toml")


def parse_spec(text: str) -> Topology:
    """`ring:4` and the like. Raises LabError that names the spec and what was expected."""
    kind, _, size = text.partition(":")
    if kind == "torus":
        return _parse_torus(text, size)
    if kind == "switch":
        return _switch(_parse_count(text, kind, size, min_nodes=2))
    if kind == "twins":
        return _twins(_parse_count(text, kind, size, min_nodes=2))
    if kind not in _KINDS:
        raise usage_error(f"spec '{text}': unknown kind '{kind}'; expected one of {SPEC_FORMS}, or a topology FILE")
    count = _parse_count(text, kind, size, _KINDS[kind].min_nodes)
    return _build(kind, count, _KINDS[kind].pairs(count))


def _parse_count(text: str, kind: str, size: str, min_nodes: int) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", size):
        raise usage_error(f"spec '{text}': expected a number of nodes after '{kind}:', such as {kind}:4")
    count = int(size)
    if not min_nodes <= count <= MAX_NODES:
        raise usage_error(f"spec '{text}': a {kind} has {min_nodes} to {MAX_NODES} nodes, not {count}")
    return count


def _parse_torus(text: str, size: str) -> Topology:
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", size)
    if not match:
        raise usage_error(f"spec '{text}': expected rows and columns, such as torus:2x4")
    rows, columns = int(match[1]), int(match[2])
    if rows < 2 or columns < 2:
        raise usage_error(f"spec '{text}': a torus has at least 2 rows and 2 columns; for one row use ring:N")
    if rows * columns > MAX_NODES:
        raise usage_error(f"spec '{text}': {rows * columns} nodes; a lab has at most {MAX_NODES}")
    return _build("torus", rows * columns, _torus(rows, columns))
