"""Cuts, mends and shapes cables of a running lab."""

from __future__ import annotations

import os
import signal

import kernel_tools
import shaping
from kernel_routes import kernel_routes
from lab_error import usage_error
from lab_state import LabState, delay_file
from namespaces import in_network
from shaping import Means, Shape
from topology_spec import Cable


def set_egress(cable: Cable, before: Shape | None, after: Shape, means: Means) -> None:
    """Changes the queueing disciplines of both ends."""
    for end in cable.ends:
        lines = shaping.egress_lines(end.interface, before, after, means)
        if lines:
            with in_network(end.node):
                kernel_tools.batch("tc", lines)


def set_ingress(cable: Cable, cable_number: int, loss_before: int, loss_after: int) -> None:
    """Changes the random drops of both ends, on a kernel without netem."""
    if loss_before == loss_after:
        return
    for end in cable.ends:
        with in_network(end.node):
            kernel_tools.nft(shaping.ingress_ruleset(end.interface, cable_number, loss_after))


def means_for(*shapes: Shape) -> Means:
    if any(shape.delay_us or shape.loss_ppm for shape in shapes):
        return shaping.probe_means()
    return Means(netem=False, nft=False)


def _set_links(cable: Cable, to: str) -> None:
    for end in cable.ends:
        with in_network(end.node):
            kernel_tools.batch("ip", [f"link set dev {end.interface} {to}"])


def _restore_routes(state: LabState, cable: Cable) -> None:
    """The kernel deletes static routes over a link that goes down."""
    routes = kernel_routes(state.topology)
    for end in cable.ends:
        lines = [route.ip_line() for route in routes[end.node] if route.interface == end.interface]
        with in_network(end.node):
            kernel_tools.batch("ip", lines)


def cut(state: LabState, cable: Cable, silent: bool, one_way: str | None) -> None:
    """Takes both ends' carrier down; if silent, drops packets: those that `one_way` sends, or those of both nodes."""
    mend(state, cable)
    condition = state.cables[cable.name]
    if not silent and one_way is None:
        _set_links(cable, "down")
        condition.cut = "carrier"
        return
    condition.cut = "silent"
    condition.silent_from = [one_way] if one_way else list(cable.nodes())
    _drop_at_once(cable, condition.silent_from)


def _drop_at_once(cable: Cable, senders: list[str]) -> None:
    """Drops what these nodes send. If the two ends became silent one after the other, the first could still report the
    other's silence."""
    tools = []
    for node in senders:
        with in_network(node):
            tools.append((kernel_tools.WaitingTool("tc"), shaping.silent_cut_line(cable.end_at(node).interface)))
    for tool, line in tools:
        tool.give(line)
    for tool, _ in tools:
        tool.finish()


def mend(state: LabState, cable: Cable) -> None:
    """Undoes a cut of any kind; does nothing to a whole cable."""
    condition = state.cables[cable.name]
    if condition.cut == "carrier":
        _set_links(cable, "up")
        if state.forwarding:
            _restore_routes(state, cable)
    for node in condition.silent_from:
        end = cable.end_at(node)
        with in_network(node):
            kernel_tools.batch(
                "tc", shaping.egress_lines(end.interface, None, condition.shape, means_for(condition.shape)))
    condition.cut, condition.silent_from = "no", []


def shape(state: LabState, cable: Cable, after: Shape) -> None:
    """Changes rate, delay and loss of both directions while packets flow."""
    condition = state.cables[cable.name]
    if condition.silent_from:
        raise usage_error(f"cable {cable.name} is cut; mend it first")
    before = condition.shape
    means = means_for(before, after)
    shaping.check_means(after, means, condition.delay_line_pid != 0)
    set_egress(cable, before, after, means)
    if not means.netem:
        set_ingress(cable, condition.number, before.loss_ppm, after.loss_ppm)
    if condition.delay_line_pid:
        delay_file(cable.name).write_text(str(after.delay_us), encoding="ascii")
        os.kill(condition.delay_line_pid, signal.SIGHUP)
    condition.shape = after
