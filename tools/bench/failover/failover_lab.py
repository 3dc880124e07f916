"""The ring of four nodes in which failover is measured, and the faults. This process causes them itself, without starting a
command, so that the time of a fault is known."""

from __future__ import annotations

import fcntl
import io
import os
import socket
import struct
import sys
import time
from pathlib import Path

from bench_error import BenchError
from lab_processes import LabProcess, start_node
from node_events import NodeEvents
from node_process import NodeProcess, lab_state
from release_build import ROOT
from silent_end import SilentEnd

sys.path.insert(0, str(ROOT / "tools/lab"))

import kernel_tools  # noqa: E402  (the lab's own modules)
import shaping  # noqa: E402
from namespaces import in_network  # noqa: E402
from topology_spec import Cable, End  # noqa: E402

NODES = ("n0", "n1", "n2", "n3")
SOURCE, DESTINATION = "n0", "n2"
RELAYS = ("n1", "n3")
# One path at a time: a flow that uses both paths hardly pauses when it loses one. NodeEvents reads the log of the default
# level.
_NODE_ENVIRONMENT = {"CABLEWAY_LOG": "info", "CABLEWAY_MULTIPATH": "off"}
_RANK_ENVIRONMENT = {"CABLEWAY_LOG": "warning", "CABLEWAY_MULTIPATH": "off"}
_KNOWN_S = 60.0  # until all nodes know all cables again
_POLL_S = 0.02
_RECEIVED_COLUMN = 1
_LOCAL_COLUMN, _STATE_COLUMN, _ESTABLISHED = 1, 3, "01"  # of /proc/net/tcp
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_REQUEST = struct.Struct("16sH22x")  # struct ifreq: the name, the flags


class FailoverLab:
    """A cablewayd in each node of the lab that this process is in."""

    def __init__(self, build: Path) -> None:
        self._build, self._state = build, lab_state()
        self.daemons: dict[str, LabProcess] = {}
        self._events: dict[str, NodeEvents] = {}
        self._sockets: dict[str, socket.socket] = {}
        self._silent_ends: dict[End, SilentEnd] = {}
        self._silenced: dict[str, list[End]] = {}  # by cable
        self._link_changed_at = time.monotonic()
        for node in NODES:
            with in_network(node):  # a socket stays in the namespace where it was made, and so does a table of /proc
                self._sockets[node] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                for cable in self._state.topology.cables_of(node):
                    self._silent_ends[cable.end_at(node)] = SilentEnd(cable.end_at(node).interface)
                if node == DESTINATION:
                    self._received = open("/proc/thread-self/net/dev", "rb", buffering=0)
                    self._connections = open("/proc/thread-self/net/tcp", "rb", buffering=0)

    def __enter__(self) -> FailoverLab:
        for node in NODES:
            self._start(node)
        self.wait_for_cables(0.0)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.daemons.values():
            process.stop()
        for each in (*self._sockets.values(), *self._silent_ends.values(), self._received, self._connections):
            each.close()

    def _start(self, node: str) -> None:
        self.daemons[node] = start_node(node, [str(self._build / "bin/cablewayd")], _NODE_ENVIRONMENT, "", NodeProcess)
        self._events[node] = NodeEvents(self.daemons[node])

    def restart(self, node: str) -> None:
        """Restarts the node. It is then another incarnation, so its neighbours discard what they know of its cables: none is
        distrusted any more, and none has to be good for longer than at first before it is trusted again."""
        self.daemons[node].stop()
        self._start(node)

    def start_ranks(self, seconds: float, report: Path, port: int) -> list[LabProcess]:
        """Starts collperf from SOURCE to DESTINATION for that time, with every byte checked."""
        address = self._state.node_environment(SOURCE)["LAB_NODE_ADDRESS"]
        command = [str(self._build / "bin/collperf"), "--plugin", str(self._build / "lib/libnccl-net-cableway.so"),
                   "--ranks", "2", "--rendezvous", f"{address}:{port}", "--workload", "sendrecv,0-1",
                   "--sizes", "1M", "--channels", "1", "-w", "1", "--iters", "8", "--check-all",
                   "--seconds", f"{seconds:.1f}", "--idle-us", "100", "--timeout", "30", "--json", str(report)]
        return [NodeProcess(node, [*command, "--rank", str(rank)], _RANK_ENVIRONMENT)
                for rank, node in enumerate((SOURCE, DESTINATION))]

    def received_bytes(self) -> dict[str, int]:
        """The bytes that have arrived at DESTINATION, by relay."""
        counts = {}
        for line in _whole(self._received).splitlines():
            name, colon, columns = line.strip().partition(":")
            if colon and name.startswith("to-"):
                counts[name.removeprefix("to-")] = int(columns.split()[_RECEIVED_COLUMN - 1])
        return counts

    def relays_with_circuits(self) -> set[str]:
        """The relays from which DESTINATION has a connection: a flow that is about to move has one from each."""
        connected = set()
        for line in _whole(self._connections).splitlines()[1:]:
            columns = line.split()
            if columns[_STATE_COLUMN] == _ESTABLISHED:
                connected.add(columns[_LOCAL_COLUMN].partition(":")[0])
        return {relay for relay in RELAYS
                if _in_table(self.cable(relay, DESTINATION).end_at(DESTINATION).address) in connected}

    def cable(self, first: str, second: str) -> Cable:
        return self._state.cable(f"{first}-{second}")

    def set_carrier(self, cable: Cable, is_up: bool) -> None:
        for end in cable.ends:
            self._set_link(end, is_up)
        self._link_changed_at = time.monotonic()

    def silence(self, cable: Cable, sender: str | None) -> None:
        """Drops the packets that `sender` sends; None: those of both ends. Both carriers stay."""
        ends = [end for end in cable.ends if sender in (None, end.node)]
        self._silenced[cable.name] = ends
        for end in ends:
            self._silent_ends[end].begin()
        for end in ends:
            self._silent_ends[end].check()

    def mend_silence(self, cable: Cable) -> None:
        shape = self._state.cables[cable.name].shape
        means = shaping.Means(netem=False, nft=False)  # the lab shapes rates only
        for end in self._silenced.pop(cable.name):
            with in_network(end.node):
                kernel_tools.batch("tc", shaping.egress_lines(end.interface, None, shape, means))
        self._link_changed_at = time.monotonic()

    def signal(self, node: str, number: int) -> None:
        os.kill(self.daemons[node].pid, number)

    def quiet_s(self) -> float:
        """The time for which all nodes have known and trusted all cables, and no link has changed; 0 while a node does not."""
        news = [events.read() for events in self._events.values()]
        own = {node: len(self._state.topology.cables_of(node)) for node in NODES}
        if any(each.known != len(NODES) or len(each.up) != own[node] or each.doubted for node, each in zip(NODES, news)):
            return 0.0
        changed_at = max(self._link_changed_at, *(events.changed_at for events in self._events.values()))
        return max(0.0, time.monotonic() - changed_at)

    def wait_for_cables(self, quiet_s: float) -> None:
        """Waits until every node knows all four cables, and nothing has changed for `quiet_s`."""
        deadline = time.monotonic() + _KNOWN_S
        while (quiet := self.quiet_s()) <= quiet_s:
            if time.monotonic() > deadline:
                raise BenchError(f"not within {_KNOWN_S:.0f} s: all nodes know all cables; the nodes' output is: "
                                 + "; ".join(f"{node}: {process.tail()}" for node, process in self.daemons.items()))
            time.sleep(_POLL_S if quiet == 0 else max(0.001, quiet_s - quiet))

    def _set_link(self, end: End, is_up: bool) -> None:
        link, name = self._sockets[end.node], end.interface.encode()
        _, flags = _REQUEST.unpack(fcntl.ioctl(link, _SIOCGIFFLAGS, _REQUEST.pack(name, 0)))
        flags = flags | _IFF_UP if is_up else flags & ~_IFF_UP
        fcntl.ioctl(link, _SIOCSIFFLAGS, _REQUEST.pack(name, flags))


def _whole(table: io.FileIO) -> str:
    """The present text of a file in /proc."""
    table.seek(0)
    return table.read().decode("ascii")


def _in_table(address: str) -> str:
    """An IPv4 address as in /proc/net/tcp."""
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}"
