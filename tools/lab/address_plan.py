"""Fills in the interfaces and addresses that a topology does not give; plans the management network's addresses.

Cable i gets the subnet 10.7.i.0/24 (10.8.0.0/24 follows 10.7.255.0/24) or fd00:7:0:i::/64: .1 at its first end, .2 at
its second. All cables of a switch are one subnet; where a node has several cables to one switch, their first
cables are one subnet, their second cables another, and so on. The management network is 10.6.0.0/24: node k has .(k+1), the lab's
control namespace .254.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network

from lab_error import usage_error
from topology_spec import Cable, End, Topology

MANAGEMENT_INTERFACE = "mg0"
MANAGEMENT_BITS = 24
CONTROL_ADDRESS = "10.6.0.254"
IPV4, IPV6, LINK_LOCAL = ADDRESSINGS = ("ipv4", "ipv6", "link-local")
# Every address that the plan may choose, as a prefix in CABLEWAY_PORTS.
CABLE_PREFIXES = {IPV4: "10.7.0.0/16", IPV6: "fd00:7::/48", LINK_LOCAL: "fe80::/10"}
_MANAGEMENT_SUBNET = IPv4Network("10.6.0.0/24")
_FIRST_SUBNETS = {IPV4: IPv4Network("10.7.0.0/24"), IPV6: IPv6Network("fd00:7::/64")}

_Subnet = IPv4Network | IPv6Network
_Place = tuple[int, int]  # the index of a cable, and of one of its ends


def management_address(node_index: int) -> str:
    return str(_MANAGEMENT_SUBNET[node_index + 1])


def with_prefix(address: str) -> str:
    """In the form that `ip address add` accepts."""
    return f"{address}/{64 if ':' in address else 24}"


def _subnet(address: str) -> _Subnet:
    return ipaddress.ip_network(with_prefix(address), strict=False)


def _nth_subnet(addressing: str, number: int) -> _Subnet:
    first = _FIRST_SUBNETS[addressing]
    network = int(first.network_address) + (number << (first.max_prefixlen - first.prefixlen))
    return type(first)((network, first.prefixlen))


def _wires(topology: Topology) -> dict[str, list[_Place]]:
    """The nodes' ends in each subnet, by what joins them: a cable, or the n-th cables of all nodes to a switch."""
    wires: dict[str, list[_Place]] = {}
    cables_to: Counter[tuple[str, str]] = Counter()
    for index, cable in enumerate(topology.cables):
        switch = next((end.node for end in cable.ends if end.node in topology.switches), None)
        name = f"cable {cable.name}" if switch is None else f"switch {switch}"
        if switch is not None:
            node = cable.other_end(switch).node
            cables_to[node, switch] += 1
            name += f", port {cables_to[node, switch]} of each node" if cables_to[node, switch] > 1 else ""
        places = [(index, i) for i, end in enumerate(cable.ends) if end.node not in topology.switches]
        wires.setdefault(name, []).extend(places)
    return wires


def _given(topology: Topology, places: list[_Place]) -> list[str]:
    return [address for cable, end in places if (address := topology.cables[cable].ends[end].address)]


def _given_subnets(topology: Topology) -> set[_Subnet]:
    """Checks the addresses that the topology itself gives: one subnet per segment, one segment per subnet."""
    taken: dict[_Subnet, str] = {}
    for name, places in _wires(topology).items():
        addresses = _given(topology, places)
        if not addresses:
            continue
        subnet = _subnet(addresses[0])
        if len(set(addresses)) != len(addresses) or any(_subnet(address) != subnet for address in addresses):
            count = "two" if len(addresses) == 2 else str(len(addresses))
            raise usage_error(f"{name}: {' and '.join(addresses)}: expected {count} addresses of one"
                              f" /{subnet.prefixlen} subnet")
        if subnet == _MANAGEMENT_SUBNET:
            raise usage_error(f"{name}: {subnet} is the lab's management network; choose another subnet")
        if subnet in taken:
            raise usage_error(f"{taken[subnet]} and {name} are both in {subnet}; each needs its own")
        taken[subnet] = name
    return set(taken)


def _addresses(topology: Topology, addressing: str) -> dict[_Place, str]:
    """The address of every end that gets one."""
    taken = _given_subnets(topology)
    result, number = {}, 0
    for index, places in enumerate(_wires(topology).values()):
        given = _given(topology, places)
        if given:
            subnet = _subnet(given[0])
        elif addressing == LINK_LOCAL:
            continue
        else:
            number = max(number, index)
            while (subnet := _nth_subnet(addressing, number)) in taken:
                number += 1
            number += 1
        free = (str(host) for host in subnet.hosts() if str(host) not in given)
        for cable, end in places:
            result[cable, end] = topology.cables[cable].ends[end].address or next(free)
    return result


def _interface_name(peer: str, cable_index: int, taken: set[str]) -> str:
    """`to-<peer>`, `to-<peer>-2` for a second cable; `cable<i>` where that is longer than Linux's 15 characters."""
    name, number = f"to-{peer}", 2
    while name in taken:
        name, number = f"to-{peer}-{number}", number + 1
    if len(name) <= 15:
        return name
    while f"cable{cable_index}" in taken:
        cable_index += 1
    return f"cable{cable_index}"


def fill_in(topology: Topology, addressing: str = IPV4) -> Topology:
    """The topology with an interface at every end, and an address at every node's end unless the addressing is
    LINK_LOCAL. Raises LabError on addresses or names that clash."""
    taken: dict[str, set[str]] = {name: {"lo", MANAGEMENT_INTERFACE}
                                  for name in topology.node_names() + topology.switches}
    for cable in topology.cables:
        for end in cable.ends:
            if end.interface and end.interface in taken[end.node]:
                raise usage_error(f"cable {cable.name}: interface '{end.interface}' of node {end.node} is taken")
            taken[end.node].add(end.interface)
    addresses = _addresses(topology, addressing)
    cables: list[Cable] = []
    for index, cable in enumerate(topology.cables):
        ends: list[End] = []
        for place, end in enumerate(cable.ends):
            peer = cable.ends[1 - place].node
            interface = end.interface or _interface_name(peer, index, taken[end.node])
            taken[end.node].add(interface)
            ends.append(End(end.node, interface, addresses.get((index, place), "")))
        cables.append(replace(cable, ends=(ends[0], ends[1])))
    return replace(topology, cables=cables)
