"""What `lab show` prints: the lab drawn, its nodes' addresses, its cables and their state."""

from __future__ import annotations

import shaping
from address_plan import CONTROL_ADDRESS, MANAGEMENT_INTERFACE, management_address
from lab_state import CableState, LabState
from topology_spec import Cable, Topology


def _chain(topology: Topology, cut: set[str]) -> list[str]:
    """A line, or a ring with its first node shown again at the end."""
    text = topology.nodes[0].name
    for index, cable in enumerate(topology.cables):
        peer = cable.ends[1].node
        wraps = index > 0 and peer == topology.nodes[0].name
        text += f" ═{cable.name}{'✂' if cable.name in cut else ''}═ {f'({peer})' if wraps else peer}"
    return [text]


def _neighbours(topology: Topology, cut: set[str]) -> list[str]:
    lines = []
    for name in topology.node_names():
        joined = [f"═{cable.name}{'✂' if cable.name in cut else ''}═ {cable.other_end(name).node}"
                  for cable in topology.cables_of(name)]
        lines.append(f"{name} " + ("  ".join(joined) or "(no cable)"))
    return lines


def drawing(topology: Topology, cut: set[str]) -> list[str]:
    """Lines of text; cables in `cut` carry a pair of scissors."""
    if topology.shape in ("line", "ring"):
        return _chain(topology, cut)
    return _neighbours(topology, cut)


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _condition(state: CableState) -> str:
    if state.cut == "carrier":
        return "cut (no carrier)"
    if state.cut == "silent":
        return f"cut silently (from {', '.join(state.silent_from)})"
    return "up"


def _cable_row(cable: Cable, state: CableState) -> list[str]:
    first, second = (f"{end.node} {end.interface} {end.address}".rstrip() for end in cable.ends)
    shape = state.shape
    return [cable.name, first, second, shaping.rate_text(shape.rate_bps), shaping.delay_text(shape.delay_us),
            shaping.loss_text(shape.loss_ppm), _condition(state)]


def show(state: LabState) -> str:
    topology = state.topology
    cut = {name for name, cable in state.cables.items() if cable.cut != "no"}
    forwarding = "kernel forwarding with static routes" if state.forwarding else "no kernel forwarding"
    head = f"lab {state.handle}: {state.spec}, {len(topology.nodes)} nodes, {len(topology.cables)} cables, {forwarding}"
    nodes = [["node", f"management ({MANAGEMENT_INTERFACE})"]]
    nodes += [[node.name, management_address(index)] for index, node in enumerate(topology.nodes)]
    nodes.append(["(control)", CONTROL_ADDRESS])
    cables = [["cable", "end", "end", "rate", "delay", "loss", "state"]]
    cables += [_cable_row(cable, state.cables[cable.name]) for cable in topology.cables]
    sections = [[head], drawing(topology, cut), _columns(nodes), _columns(cables)]
    return "\n\n".join("\n".join(section) for section in sections)
