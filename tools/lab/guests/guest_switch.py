"""A switch of a lab of guests: a process that takes the place of a guest's QEMU at one end of each of its cables.

A guest shapes what it sends by itself; the switch shapes what it sends over each cable, to the same rate. No cable joins
two switches, so there are no loops.
"""

from __future__ import annotations

from guests.ethernet_switch import start_switch
from guests.guest_machine import port_at
from lab_state import LabState
from guests.switch_port import SwitchPort, wire_port
from topology_spec import Cable


def _port(state: LabState, cable: Cable, switch: str) -> SwitchPort:
    condition = state.cables[cable.name]
    end = port_at(cable, condition.number, switch)
    return wire_port(end.socket(), end.other().socket(), condition.shape)


def start_guest_switches(state: LabState) -> None:
    """Forks a process for each switch of the lab."""
    for switch in state.topology.switches:
        cables = state.topology.cables_of(switch)
        if cables:
            start_switch([_port(state, cable, switch) for cable in cables])
