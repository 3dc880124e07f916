"""The adjacencies that nodes should find in a lab: the pairs of ports that hear each other."""

from __future__ import annotations

from itertools import combinations

from topology_spec import Topology

Port = tuple[str, str]  # node and interface
JoinedPorts = tuple[Port, Port]  # the smaller first


def joined_ports(topology: Topology) -> set[JoinedPorts]:
    """The two ends of every cable; every pair of ports at a switch."""
    joined: set[JoinedPorts] = set()
    segments: dict[str, list[Port]] = {switch: [] for switch in topology.switches}
    for cable in topology.cables:
        ports = [(end.node, end.interface) for end in cable.ends if end.node not in segments]
        if len(ports) == 2:
            joined.add((min(ports), max(ports)))
        else:
            segments[next(end.node for end in cable.ends if end.node in segments)] += ports
    for ports in segments.values():
        joined.update((min(pair), max(pair)) for pair in combinations(ports, 2) if pair[0][0] != pair[1][0])
    return joined
