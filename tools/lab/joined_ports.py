"""The adjacencies that nodes should find in a lab: the pairs of ports that hear each other."""

from __future__ import annotations

from itertools import combinations

from topology_spec import Topology

Port = tuple[str, str]  # node and interface
JoinedPorts = tuple[Port, Port]  # the smaller first


def joined_ports(topology: Topology) -> set[JoinedPorts]:
    """The two ends of every cable; at a switch every pair of ports. A switch between two nodes is a wire: there the
    first ports of both, the second ports of both, and so on."""
    joined: set[JoinedPorts] = set()
    segments: dict[str, list[Port]] = {switch: [] for switch in topology.switches}
    for cable in topology.cables:
        ports = [(end.node, end.interface) for end in cable.ends if end.node not in segments]
        if len(ports) == 2:
            joined.add((min(ports), max(ports)))
        else:
            segments[next(end.node for end in cable.ends if end.node in segments)] += ports
    for ports in segments.values():
        nodes = sorted({node for node, _ in ports})
        if len(nodes) == 2:
            pairs = zip(*([port for port in ports if port[0] == node] for node in nodes))
            joined.update((min(pair), max(pair)) for pair in pairs)
            continue
        joined.update((min(pair), max(pair)) for pair in combinations(ports, 2) if pair[0][0] != pair[1][0])
    return joined
