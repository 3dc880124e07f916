"""Static kernel routes along shortest paths, as an administrator would configure for kernel forwarding.

Breadth-first search from every node (Moore 1959). Of several next hops on shortest paths, a node uses the cable of
which it is the first end, then the one with the lowest number: clockwise on a ring, rightwards and downwards on a
torus. Every hop is one nearer to the node that owns the address, so the routes have no loops.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from topology_spec import Cable, Topology


@dataclass(frozen=True)
class KernelRoute:
    destination: str  # one address, not a subnet: both ends of a cable may lie on different shortest paths
    gateway: str
    interface: str

    def ip_line(self) -> str:
        """ip's command that sets this route."""
        return f"route replace {self.destination} via {self.gateway} dev {self.interface}"


def _distances(topology: Topology, target: str) -> dict[str, int]:
    neighbours: dict[str, list[str]] = {name: [] for name in topology.node_names()}
    for cable in topology.cables:
        first, second = cable.nodes()
        neighbours[first].append(second)
        neighbours[second].append(first)
    distance, queue = {target: 0}, deque([target])
    while queue:
        node = queue.popleft()
        for neighbour in neighbours[node]:
            if neighbour not in distance:
                distance[neighbour] = distance[node] + 1
                queue.append(neighbour)
    return distance


def next_cables(topology: Topology, target: str) -> dict[str, Cable]:
    """For every node from which `target` can be reached: the cable to send on."""
    distance = _distances(topology, target)
    choice: dict[str, tuple[bool, int]] = {}
    for index, cable in enumerate(topology.cables):
        for node in cable.nodes():
            peer = cable.other_end(node).node
            if node not in distance or distance[peer] != distance[node] - 1:
                continue
            rank = (cable.ends[0].node != node, index)
            choice[node] = min(rank, choice.get(node, rank))
    return {node: topology.cables[index] for node, (_, index) in choice.items()}


def kernel_routes(topology: Topology) -> dict[str, list[KernelRoute]]:
    """For each node, its routes to every address that is not at a cable of its own."""
    routes: dict[str, list[KernelRoute]] = {name: [] for name in topology.node_names()}
    for target in topology.node_names():
        own = [(cable, cable.end_at(target).address) for cable in topology.cables_of(target)]
        for node, via in next_cables(topology, target).items():
            for cable, address in own:
                if node not in cable.nodes():
                    routes[node].append(KernelRoute(address, via.other_end(node).address, via.end_at(node).interface))
    return routes
