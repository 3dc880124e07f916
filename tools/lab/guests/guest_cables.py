"""Cuts and mends cables of a running lab of guests, from outside the guests, while traffic runs."""

from __future__ import annotations

from guests import guest_monitor
from guests.guest_machine import Port, port_at
from lab_state import LabState
from topology_spec import Cable


def _set_carrier(state: LabState, cable: Cable, up: bool) -> None:
    """Only guests see a carrier; while a guest's is down, nothing passes to or from the switch either."""
    number = state.cables[cable.name].number
    for node in cable.nodes():
        if node not in state.topology.switches:
            guest_monitor.set_carrier(node, port_at(cable, number, node), up)


def _drop_point(state: LabState, cable: Cable, sender: str) -> tuple[str, Port, str]:
    """Where `sender`'s packets are dropped: a guest's as they leave it, a switch's as they arrive at the guest."""
    is_switch = sender in state.topology.switches
    node = cable.other_end(sender).node if is_switch else sender
    direction = guest_monitor.TO_GUEST if is_switch else guest_monitor.FROM_GUEST
    return node, port_at(cable, state.cables[cable.name].number, node), direction


def cut(state: LabState, cable: Cable, silent: bool, one_way: str | None) -> None:
    """Takes both ends' carrier down; if silent, drops packets: those that `one_way` sends, or those of both ends."""
    mend(state, cable)
    condition = state.cables[cable.name]
    if not silent and one_way is None:
        _set_carrier(state, cable, up=False)
        condition.cut = "carrier"
        return
    condition.cut = "silent"
    for sender in [one_way] if one_way else cable.nodes():
        guest_monitor.drop(*_drop_point(state, cable, sender))
        condition.silent_from.append(sender)


def mend(state: LabState, cable: Cable) -> None:
    """Undoes a cut of any kind; does nothing to a whole cable."""
    condition = state.cables[cable.name]
    if condition.cut == "carrier":
        _set_carrier(state, cable, up=True)
    for sender in condition.silent_from:
        guest_monitor.end_drop(*_drop_point(state, cable, sender))
    condition.cut, condition.silent_from = "no", []
