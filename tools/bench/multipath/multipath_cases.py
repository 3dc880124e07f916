"""The cases of the multipath benchmark: a topology, who sends to whom, and the goals."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

RATE_MBPS = 500
_SLOW_MBPS = 200  # where more flows are relayed than two cores can copy at the full rate
_UNLIMITED_MBPS = 40_000  # more than the processors can copy


@dataclass(frozen=True)
class Topology:
    """Nodes n0, n1, .. in the order of their ranks, and cables with their rates."""

    name: str
    cables: tuple[tuple[int, int, int], ...]  # nodes, Mbit/s in each direction
    # The lab's own name for the topology, if a file of these cables would describe another one: split ports with these
    # interfaces.
    spec: str | None = None
    functions: tuple[str, ...] = ()

    @property
    def nodes(self) -> list[str]:
        return [f"n{node}" for node in sorted({node for a, b, _ in self.cables for node in (a, b)})]

    @property
    def rate_mbps(self) -> int:
        """The rate of the fastest cable."""
        return max(rate for _, _, rate in self.cables)

    def text(self) -> str:
        """The topology as a topology file."""
        lines = [f'[[node]]\nname = "{node}"' for node in self.nodes]
        for place, (a, b, rate) in enumerate(self.cables):
            lines.append(f'[[cable]]\nname = "c{place}"\nrate_mbps = {rate}\n'
                         f'ends = [{{ node = "n{a}" }}, {{ node = "n{b}" }}]')
        return "\n".join(lines) + "\n"

    def most_mbps(self, source: int, destination: int) -> int:
        """The maximum flow (J. Edmonds, R. Karp, 1972) between two nodes."""
        left: dict[tuple[int, int], int] = {}
        for a, b, rate in self.cables:
            left[a, b] = left.get((a, b), 0) + rate
            left[b, a] = left.get((b, a), 0) + rate
        total = 0
        while path := _shortest_with_room(left, source, destination):
            room = min(left[hop] for hop in path)
            for a, b in path:
                left[a, b] -= room
                left[b, a] += room
            total += room
        return total


def _shortest_with_room(left: dict[tuple[int, int], int], source: int, destination: int) -> list[tuple[int, int]]:
    came_from = {source: source}
    waiting = deque([source])
    while waiting and destination not in came_from:
        node = waiting.popleft()
        for (a, b), room in left.items():
            if a == node and room > 0 and b not in came_from:
                came_from[b] = a
                waiting.append(b)
    if destination not in came_from:
        return []
    path = []
    while destination != source:
        path.append((came_from[destination], destination))
        destination = came_from[destination]
    return path


def _ring(nodes: int, rate: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((node, (node + 1) % nodes, rate) for node in range(nodes))


RING_4 = Topology("ring of 4", _ring(4, RATE_MBPS))
RING_6 = Topology("ring of 6", _ring(6, _SLOW_MBPS))
UNLIMITED = Topology("ring of 4 that is faster than its hosts", _ring(4, _UNLIMITED_MBPS))
PARALLEL = Topology("two cables", ((0, 1, RATE_MBPS), (0, 1, RATE_MBPS)))
UNEQUAL = Topology("two cables, 4:1", ((0, 1, 800), (0, 1, 200)))
RELAYED = Topology("two cables, a relay, two cables", ((0, 1, 300), (0, 1, 300), (1, 2, 300), (1, 2, 300)))
# Two functions at each end of one wire; neither can fill it.
TWINS = Topology("two split ports, one wire", ((0, 1, RATE_MBPS), (0, 1, RATE_MBPS)), "twins:2", ("to-w0", "to-w0-2"))
CHORD = Topology("ring of 6 with a chord", (*_ring(6, _SLOW_MBPS), (0, 3, _SLOW_MBPS)))
TORUS = Topology("torus of 3x3", tuple(
    (3 * row + column, other, _SLOW_MBPS) for row in range(3) for column in range(3)
    for other in (3 * row + (column + 1) % 3, 3 * ((row + 1) % 3) + column)))
BRIDGED = Topology("two rings of 4 and a bridge", (
    *_ring(4, _SLOW_MBPS), *((a + 4, b + 4, rate) for a, b, rate in _ring(4, _SLOW_MBPS)), (0, 4, _SLOW_MBPS)))


@dataclass(frozen=True)
class Case:
    topology: Topology
    name: str
    arguments: tuple[str, ...]
    channels: int = 2
    least_cables: float | None = None     # the goal as a share of the fastest cable's rate, with all paths
    least_of_off: float | None = None     # the goal as a share of the rate with one path
    pair: tuple[int, int] | None = None   # to be compared with the maximum flow between them
    least_of_most: float | None = None
    counts: str = "algbw_GBps"            # the field of collperf's results
    size: str = field(default="32M")
    alone: bool = False                   # measured without other cases, because processors or latencies are the limit
    modes: tuple[str, ...] = ("off", "all")
    seconds: float = 2.0
    often: int = 1                        # how many times in a round


def _pair(topology: Topology, source: int, destination: int, least_of_most: float) -> Case:
    return Case(topology, f"n{source} to n{destination}", ("--workload", f"sendrecv,{source}-{destination}"),
                channels=1, pair=(source, destination), least_of_most=least_of_most)


CASES = (
    Case(RING_4, "neighbours, one way round", ("--workload", "sendrecv,neighbour"), least_cables=1.27),
    Case(RING_4, "one opposite pair", ("--workload", "sendrecv,0-2"), channels=1, least_cables=1.90),
    Case(RING_4, "four opposite at once", ("--workload", "sendrecv,opposite"), least_of_off=0.98),
    Case(RING_4, "all_to_all, busbw", ("--workload", "all_to_all"), counts="busbw_GBps", least_cables=1.42, least_of_off=0.98),
    Case(RING_4, "all_reduce, busbw", ("--workload", "all_reduce"), counts="busbw_GBps", least_of_off=0.98),
    Case(RING_6, "neighbours, one way round", ("--workload", "sendrecv,neighbour"), least_cables=1.14),
    _pair(PARALLEL, 0, 1, 0.95),
    _pair(UNEQUAL, 0, 1, 0.95),
    _pair(TWINS, 0, 1, 0.95),
    _pair(RELAYED, 0, 2, 0.95),
    _pair(TORUS, 0, 4, 0.90),
    _pair(TORUS, 0, 1, 0.90),
    _pair(CHORD, 1, 4, 0.90),
    _pair(CHORD, 0, 3, 0.90),
    _pair(BRIDGED, 1, 3, 0.90),
    _pair(BRIDGED, 2, 6, 0.90),
    # No gain is possible there, and the loss has to be small; measurements vary by a tenth.
    Case(UNLIMITED, "neighbours, one way round", ("--workload", "sendrecv,neighbour"), least_of_off=0.85, alone=True),
    Case(UNLIMITED, "all_to_all, busbw", ("--workload", "all_to_all"), counts="busbw_GBps", least_of_off=0.85, alone=True),
    Case(UNLIMITED, "all_reduce, busbw", ("--workload", "all_reduce"), counts="busbw_GBps", least_of_off=0.85, alone=True),
)
QUICK_CASES = (CASES[1],)

# Small messages of a flow that has its further circuits: it has carried 16 MiB. Latency varies from run to run, whatever the
# paths, so there are many runs, and a control: one path, measured again. A flow is compared with itself, too: it carries
# messages of 8 bytes before the large ones, over its only circuit.
BEFORE = "8, before"
AGAIN = "off, again"
SMALL_SIZES = ("8", "4K", "64K")
SMALL = Case(RING_4, "small messages between neighbours", ("--workload", "pingpong,0-1"),
             channels=1, size=",".join((SMALL_SIZES[0], "1M", *SMALL_SIZES)), alone=True, modes=("off", "all", AGAIN),
             seconds=0.1, often=20)
