"""A topology whose pairs of nodes are joined by the kernel's forwarding instead of cables, to compare the two."""

from __future__ import annotations

from dataclasses import replace

from kernel_routes import next_cables
from lab_error import usage_error
from lab_state import LabState
from topology_spec import Cable, Topology


def _parse_pair(state: LabState, text: str) -> tuple[str, str]:
    names = state.topology.node_names()
    for first in names:
        second = text.removeprefix(f"{first}-")
        if second != text and second in names and second != first:
            return first, second
    raise usage_error(f"--routed '{text}': expected two nodes A-B of {', '.join(names)}")


def routed_topology(state: LabState, pairs: list[str]) -> Topology:
    """Only the nodes of the pairs, each pair joined by one routed cable."""
    if not state.forwarding:
        raise usage_error("--routed: this lab does not forward; build it with --forwarding")
    topology, cables = state.topology, []
    for number, text in enumerate(pairs):
        first, second = _parse_pair(state, text)
        there, back = next_cables(topology, second).get(first), next_cables(topology, first).get(second)
        if there is None or back is None:
            raise usage_error(f"--routed {text}: no path joins these nodes")
        ends = (there.end_at(first), back.end_at(second))
        cables.append(Cable(f"r{number}", ends, there.rate_mbps, routed=True))
    named = {node for cable in cables for node in cable.nodes()}
    return replace(topology, nodes=[node for node in topology.nodes if node.name in named], cables=cables)
