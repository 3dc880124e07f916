"""Cuts and mends cables of a running lab of guests, from outside the guests, while traffic runs."""

from __future__ import annotations

import guest_monitor
from guest_machine import port_at
from lab_error import usage_error
from lab_state import LabState
from topology_spec import Cable


def _set_carrier(state: LabState, cable: Cable, up: bool) -> None:
    number = state.cables[cable.name].number
    for node in cable.nodes():
        guest_monitor.set_carrier(node, port_at(cable, number, node), up)


def cut(state: LabState, cable: Cable, silent: bool, one_way: str | None) -> None:
    """Loss of carrier at both ends; or, silent, packets vanish: those that `one_way` sends, or those of both nodes."""
    if one_way is not None and one_way not in cable.nodes():
        raise usage_error(f"--one-way {one_way}: cable {cable.name} joins {' and '.join(cable.nodes())}; name one")
    mend(state, cable)
    condition = state.cables[cable.name]
    if not silent and one_way is None:
        _set_carrier(state, cable, up=False)
        condition.cut = "carrier"
        return
    condition.cut = "silent"
    for node in [one_way] if one_way else cable.nodes():
        guest_monitor.silence(node, port_at(cable, condition.number, node))
        condition.silent_from.append(node)


def mend(state: LabState, cable: Cable) -> None:
    """Undoes a cut of any kind; does nothing to a whole cable."""
    condition = state.cables[cable.name]
    if condition.cut == "carrier":
        _set_carrier(state, cable, up=True)
    for node in condition.silent_from:
        guest_monitor.end_silence(node, port_at(cable, condition.number, node))
    condition.cut, condition.silent_from = "no", []
