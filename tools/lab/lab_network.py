"""Builds a lab's nodes, cables and management network in the current (control) network namespace."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import kernel_tools
import shaping
from address_plan import (CONTROL_ADDRESS, IPV4, MANAGEMENT_BITS, MANAGEMENT_INTERFACE, fill_in, management_address,
                          with_prefix)
from cable_control import set_egress, set_ingress
from delay_line import start_delay_line
from kernel_routes import KernelRoute, kernel_routes
from lab_error import usage_error
from lab_state import CableState, LabState, delay_file
from namespaces import create_network, in_network
from shaping import Means, Shape
from topology_spec import Cable, End, Topology

_MANAGEMENT_MTU = 1500
_BRIDGE = "bridge"  # in a switch's namespace


@dataclass
class LabPlan:
    """The request of a `lab run` or `lab up`."""

    spec: str
    topology: Topology
    rate_bps: int | None = None  # None: as the topology says; 0: unshaped
    delay_us: int | None = None  # None: none, and none can be added later on a kernel without netem
    loss_ppm: int = 0
    burst_bytes: int = 0  # 0: the default for the rate
    forwarding: bool = False
    mtu: int = 9000
    addressing: str = IPV4
    sysctls: list[tuple[str, str]] = field(default_factory=list)

    def shape_of(self, cable: Cable) -> Shape:
        rate = (cable.rate_mbps or 0) * 10**6 if self.rate_bps is None else self.rate_bps
        return Shape(rate, self.delay_us or 0, self.loss_ppm, self.burst_bytes)

    def filled_topology(self) -> Topology:
        """The topology as the nodes read it: with addresses, and with the requested rate and delay."""
        cables = []
        for cable in fill_in(self.topology, self.addressing).cables:
            if self.rate_bps:
                cable = replace(cable, rate_mbps=max(1, round(self.rate_bps / 10**6)))
            if self.delay_us:
                cable = replace(cable, latency_us=self.delay_us)
            cables.append(cable)
        if self.forwarding and (self.topology.switches or any(
                "." not in end.address for cable in cables for end in cable.ends)):
            raise usage_error("--forwarding: needs an IPv4 address at every end of every cable, and no switch")
        return replace(self.topology, cables=cables)


def has_ipv6() -> bool:
    return os.path.isdir("/proc/sys/net/ipv6")


def _write_sysctl(key: str, value: str) -> None:
    path = Path("/proc/sys", *key.split("."))
    try:
        path.write_text(value, encoding="utf-8")
    except OSError as error:
        reason = f"{error.strerror}; expected a setting of a network namespace"
        raise usage_error(f"sysctl {key}={value}: {reason}") from None


def _prepare_node(name: str, plan: LabPlan) -> None:
    """Creates the node's empty namespace, with settings that do not depend on the host's."""
    create_network(name)
    with in_network(name):
        for scope in ("all", "default"):
            _write_sysctl(f"net.ipv4.conf.{scope}.rp_filter", "0")
            if has_ipv6():
                _write_sysctl(f"net.ipv6.conf.{scope}.accept_dad", "0")
                _write_sysctl(f"net.ipv6.conf.{scope}.keep_addr_on_down", "1")  # as IPv4 addresses are kept during a cut
        _write_sysctl("net.ipv4.ip_forward", "1" if plan.forwarding else "0")
        for key, value in plan.sysctls:
            _write_sysctl(key, value)


def _prepare_switch(name: str) -> None:
    """Creates a namespace with a bridge that sends nothing by itself."""
    create_network(name)
    with in_network(name):
        if has_ipv6():
            _write_sysctl("net.ipv6.conf.default.disable_ipv6", "1")
        kernel_tools.batch("ip", [f"link add name {_BRIDGE} type bridge mcast_snooping 0", f"link set dev {_BRIDGE} up"])


def _management_port(names: list[str], index: int) -> str:
    name = f"{MANAGEMENT_INTERFACE}-{names[index]}"
    return name if len(name) <= 15 and names[index] != str(index) else f"{MANAGEMENT_INTERFACE}-{index}"


def _link_lines(topology: Topology, mtu: int, lined: bool) -> list[str]:
    """ip's commands for the bridge and all cables, run in the control namespace."""
    bridge = f"dev {MANAGEMENT_INTERFACE}"
    lines = ["link set dev lo up", f"link add name {MANAGEMENT_INTERFACE} mtu {_MANAGEMENT_MTU} type bridge",
             f"link set {bridge} up", f"address add {CONTROL_ADDRESS}/{MANAGEMENT_BITS} {bridge}"]
    names = topology.node_names()
    for index, node in enumerate(names):
        port = _management_port(names, index)
        lines += [f"link add name {port} type veth peer name {MANAGEMENT_INTERFACE} netns {node}",
                  f"link set dev {port} master {MANAGEMENT_INTERFACE} up"]
    for number, cable in enumerate(topology.cables):
        lines += _lined_cable_lines(cable, number, mtu) if lined else [cable_line(cable, mtu)]
    return lines


def cable_line(cable: Cable, mtu: int) -> str:
    """ip's command that makes a cable, run in the control namespace. Both ends are down."""
    first, second = cable.ends
    return (f"link add name {first.interface} mtu {mtu} netns {first.node}"
            f" type veth peer name {second.interface} mtu {mtu} netns {second.node}")


def _lined_cable_lines(cable: Cable, number: int, mtu: int) -> list[str]:
    """The same for a cable with a delay line in it."""
    lines = []
    for end, half in zip(cable.ends, line_interfaces(number)):
        lines += [f"link add name {half} mtu {mtu} type veth peer name {end.interface} mtu {mtu} netns {end.node}",
                  f"link set dev {half} up"]
    return lines


def line_interfaces(cable_number: int) -> tuple[str, str]:
    return f"line{cable_number}-a", f"line{cable_number}-b"


def end_lines(end: End, is_switch: bool) -> list[str]:
    """ip's commands that bring a cable's end up, run in its namespace."""
    if is_switch:
        return [f"link set dev {end.interface} master {_BRIDGE} up"]
    given = [f"address add {with_prefix(end.address)} dev {end.interface}"] if end.address else []
    return [*given, f"link set dev {end.interface} up"]


def _node_lines(topology: Topology, node_index: int, routes: list[KernelRoute]) -> list[str]:
    """ip's commands for one node, run in its namespace."""
    name = topology.nodes[node_index].name
    lines = ["link set dev lo up", f"link set dev {MANAGEMENT_INTERFACE} up",
             f"address add {management_address(node_index)}/{MANAGEMENT_BITS} dev {MANAGEMENT_INTERFACE}"]
    for cable in topology.cables_of(name):
        lines += end_lines(cable.end_at(name), is_switch=False)
    return lines + [route.ip_line() for route in routes]


def _connect_nodes(topology: Topology, forwarding: bool) -> None:
    """Does everything inside the namespaces, once the links exist."""
    routes = kernel_routes(topology) if forwarding else {}
    for index, node in enumerate(topology.nodes):
        with in_network(node.name):
            if has_ipv6():  # no link-local addresses there: they would look like a cable's
                _write_sysctl(f"net.ipv6.conf.{MANAGEMENT_INTERFACE}.disable_ipv6", "1")
            kernel_tools.batch("ip", _node_lines(topology, index, routes.get(node.name, [])))
    for name in topology.switches:
        ends = [cable.end_at(name) for cable in topology.cables_of(name)]
        with in_network(name):
            kernel_tools.batch("ip", [line for end in ends for line in end_lines(end, is_switch=True)])


def _start_delay_lines(state: LabState) -> None:
    for cable in state.topology.cables:
        condition = state.cables[cable.name]
        path = delay_file(cable.name)
        path.write_text(str(condition.shape.delay_us), encoding="ascii")
        condition.delay_line_pid = start_delay_line(line_interfaces(condition.number), path)


def _needed_means(plan: LabPlan) -> Means:
    if plan.delay_us is None and not plan.loss_ppm:
        return Means(netem=False, nft=False)
    means = shaping.probe_means()
    shaping.check_means(Shape(0, plan.delay_us or 0, plan.loss_ppm), means, has_delay_line=True)
    return means


def build(plan: LabPlan, handle: str, own_sysfs: bool) -> LabState:
    """Builds the whole lab. Raises LabError; what was built by then is removed when the caller's process ends."""
    topology = plan.filled_topology()
    conditions = {cable.name: CableState(number, plan.shape_of(cable))
                  for number, cable in enumerate(plan.topology.cables)}
    state = LabState(handle, plan.spec, topology, plan.forwarding, own_sysfs, plan.mtu, plan.addressing, conditions)
    if has_ipv6():
        _write_sysctl("net.ipv6.conf.default.disable_ipv6", "1")  # the control namespace's ports stay silent
    means = _needed_means(plan)
    lined = plan.delay_us is not None and not means.netem
    for node in topology.nodes:
        _prepare_node(node.name, plan)
    for name in topology.switches:
        _prepare_switch(name)
    kernel_tools.batch("ip", _link_lines(topology, plan.mtu, lined))
    _connect_nodes(topology, plan.forwarding)
    for cable in topology.cables:
        condition = conditions[cable.name]
        set_egress(cable, Shape(), condition.shape, means)
        if not means.netem:
            set_ingress(cable, condition.number, 0, condition.shape.loss_ppm)
    if lined:
        _start_delay_lines(state)
    state.save_topology()
    state.save()
    return state
