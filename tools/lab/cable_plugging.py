"""Plugs cables into a running lab, and pulls them out."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import kernel_tools
from address_plan import fill_in
from cable_control import means_for, set_egress
from lab_error import usage_error
from lab_network import cable_line, end_lines
from lab_state import CableState, LabState
from namespaces import in_network
from shaping import Shape
from topology_spec import MAX_CABLES, Cable, End


def _parse_pair(state: LabState, text: str) -> tuple[str, str]:
    names = state.topology.node_names() + state.topology.switches
    for first in names:
        second = text.removeprefix(f"{first}-")
        if second != text and second in names and second != first and {first, second} - set(state.topology.switches):
            return first, second
    raise usage_error(f"cable '{text}': expected A-B, two of {', '.join(names)}")


def _free_name(state: LabState) -> str:
    number = len(state.cables)
    while f"c{number}" in state.cables:
        number += 1
    return f"c{number}"


def plug(state: LabState, pair: str, rate_bps: int) -> None:
    """Adds a cable between two nodes, or a node and a switch, under a free name such as `c4`. A rate of 0: unshaped."""
    first, second = _parse_pair(state, pair)
    if len(state.topology.cables) == MAX_CABLES:
        raise usage_error(f"cable '{pair}': the lab has {MAX_CABLES} cables already, the maximum")
    if state.forwarding:
        raise usage_error("lab plug: not supported in a lab with --forwarding, whose static routes would change")
    rate_mbps = max(1, round(rate_bps / 10**6)) if rate_bps else None
    cable = Cable(_free_name(state), (End(first), End(second)), rate_mbps)
    state.topology = fill_in(replace(state.topology, cables=[*state.topology.cables, cable], shape="changed"),
                             state.addressing)
    cable = state.topology.cables[-1]
    kernel_tools.batch("ip", [cable_line(cable, state.mtu)])
    shape = Shape(rate_bps)
    set_egress(cable, Shape(), shape, means_for(shape))
    for end in cable.ends:
        with in_network(end.node):
            kernel_tools.batch("ip", end_lines(end, end.node in state.topology.switches))
    number = max((condition.number for condition in state.cables.values()), default=-1) + 1
    state.cables[cable.name] = CableState(number, shape)
    state.save_topology()


def unplug(state: LabState, cable: Cable) -> None:
    """Removes the cable and its interfaces."""
    condition = state.cables.pop(cable.name)
    ends = cable.ends[:1]  # deleting one end of a veth pair deletes the other
    if condition.delay_line_pid:
        os.kill(condition.delay_line_pid, signal.SIGKILL)
        ends = cable.ends
    for end in ends:
        with in_network(end.node):
            kernel_tools.batch("ip", [f"link delete dev {end.interface}"])
    rest = [each for each in state.topology.cables if each.name != cable.name]
    state.topology = replace(state.topology, cables=rest, shape="changed")
    state.save_topology()
