"""Interfaces and addresses for what a topology leaves open, and the management network's addresses.

Cable i gets the subnet 10.7.i.0/24 (10.8.0.0/24 follows 10.7.255.0/24): .1 at its first end, .2 at its second.
The management network is 10.6.0.0/24: node k has .(k+1), the lab's control namespace .254.
"""

from __future__ import annotations

import ipaddress
from dataclasses import replace

from lab_error import usage_error
from topology_spec import Cable, End, Topology

PREFIX_BITS = 24
MANAGEMENT_INTERFACE = "mg0"
CONTROL_ADDRESS = "10.6.0.254"
_MANAGEMENT_SUBNET = ipaddress.IPv4Network("10.6.0.0/24")
_FIRST_CABLE_SUBNET = int(ipaddress.IPv4Address("10.7.0.0"))


def management_address(node_index: int) -> str:
    return str(_MANAGEMENT_SUBNET[node_index + 1])


def _subnet(address: str) -> ipaddress.IPv4Network:
    return ipaddress.IPv4Network(f"{address}/{PREFIX_BITS}", strict=False)


def _given_subnets(topology: Topology) -> set[ipaddress.IPv4Network]:
    """Checks the addresses that the topology itself gives: one subnet a cable, no two cables in one."""
    taken: dict[ipaddress.IPv4Network, str] = {}
    for cable in topology.cables:
        first, second = (end.address for end in cable.ends)
        if not first:
            continue
        subnet = _subnet(first)
        if first == second or subnet != _subnet(second):
            raise usage_error(f"cable {cable.name}: {first} and {second}: expected two addresses of one /24 subnet")
        if subnet == _MANAGEMENT_SUBNET:
            raise usage_error(f"cable {cable.name}: {subnet} is the lab's management network; choose another subnet")
        if subnet in taken:
            raise usage_error(f"cables {taken[subnet]} and {cable.name} are both in {subnet}; each needs its own")
        taken[subnet] = cable.name
    return set(taken)


def _address_pairs(topology: Topology) -> list[tuple[str, str]]:
    given = _given_subnets(topology)
    pairs, number = [], 0
    for index, cable in enumerate(topology.cables):
        first, second = (end.address for end in cable.ends)
        if not first:
            number = max(number, index)
            while (subnet := ipaddress.IPv4Network((_FIRST_CABLE_SUBNET + number * 256, PREFIX_BITS))) in given:
                number += 1
            first, second = str(subnet[1]), str(subnet[2])
            number += 1
        pairs.append((first, second))
    return pairs


def _interface_name(peer: str, cable_index: int, taken: set[str]) -> str:
    """`to-<peer>`, `to-<peer>-2` for a second cable; `cable<i>` where that is longer than Linux's 15 characters."""
    name, number = f"to-{peer}", 2
    while name in taken:
        name, number = f"to-{peer}-{number}", number + 1
    return name if len(name) <= 15 else f"cable{cable_index}"


def fill_in(topology: Topology) -> Topology:
    """The topology with an interface and an address at every end. Raises LabError on addresses or names that clash."""
    taken: dict[str, set[str]] = {name: {"lo", MANAGEMENT_INTERFACE} for name in topology.node_names()}
    for cable in topology.cables:
        for end in cable.ends:
            if end.interface and end.interface in taken[end.node]:
                raise usage_error(f"cable {cable.name}: interface '{end.interface}' of node {end.node} is taken")
            taken[end.node].add(end.interface)
    cables: list[Cable] = []
    for index, (cable, addresses) in enumerate(zip(topology.cables, _address_pairs(topology))):
        ends: list[End] = []
        for end, address in zip(cable.ends, addresses):
            peer = cable.other_end(end.node).node
            interface = end.interface or _interface_name(peer, index, taken[end.node])
            taken[end.node].add(interface)
            ends.append(End(end.node, interface, address))
        cables.append(replace(cable, ends=(ends[0], ends[1])))
    return replace(topology, cables=cables)
