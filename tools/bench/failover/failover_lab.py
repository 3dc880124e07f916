"""The ring of four nodes in which failover is measured, and the faults: in this process, without a command's start, so that
the time of a fault is known."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench_error import BenchError
from lab_processes import LabProcess, start_node
from release_build import ROOT

sys.path.insert(0, str(ROOT / "tools/lab"))

import cable_control  # noqa: E402  (the lab's own modules)
from lab_state import load_state  # noqa: E402
from namespaces import in_network  # noqa: E402
from topology_spec import Cable, End  # noqa: E402

NODES = ("n0", "n1", "n2", "n3")
SOURCE, DESTINATION = "n0", "n2"
RELAYS = ("n1", "n3")
# One path at a time: a flow that uses both paths hardly pauses when it loses one.
_ENVIRONMENT = {"CABLEWAY_LOG": "warning", "CABLEWAY_MULTIPATH": "off"}
_ANSWER_S = 10.0
_KNOWN_S = 60.0  # until all nodes know all cables again
_POLL_S = 0.05
_RECEIVED_COLUMN = 1
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_REQUEST = struct.Struct("16sH22x")  # struct ifreq: the name, the flags


class FailoverLab:
    """A cablewayd in each node of the lab that this process is in."""

    def __init__(self, build: Path) -> None:
        self._build, self._state = build, load_state()
        self.daemons: dict[str, LabProcess] = {}
        self._sockets: dict[str, socket.socket] = {}
        for node in NODES:
            with in_network(node):  # a socket stays in the namespace where it was made
                self._sockets[node] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def __enter__(self) -> FailoverLab:
        for node in NODES:
            self.start(node)
        self.wait_for_cables()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.daemons.values():
            process.stop()
        for each in self._sockets.values():
            each.close()

    def start(self, node: str) -> None:
        self.daemons[node] = start_node(node, [str(self._build / "bin/cablewayd")], _ENVIRONMENT, "")

    def start_ranks(self, seconds: float, report: Path, port: int) -> list[LabProcess]:
        """collperf from SOURCE to DESTINATION for that time, every byte checked."""
        address = self._state.node_environment(SOURCE)["LAB_NODE_ADDRESS"]
        command = [str(self._build / "bin/collperf"), "--plugin", str(self._build / "lib/libnccl-net-cableway.so"),
                   "--ranks", "2", "--rendezvous", f"{address}:{port}", "--op", "sendrecv", "--pattern", "pair 0 1",
                   "--sizes", "1M", "--channels", "1", "--warmup", "1", "--iters", "8", "--check-all",
                   "--seconds", f"{seconds:.1f}", "--idle-us", "100", "--timeout", "30", "--json", str(report)]
        return [LabProcess(node, [*command, "--rank", str(rank)], _ENVIRONMENT)
                for rank, node in enumerate((SOURCE, DESTINATION))]

    def received_bytes(self) -> dict[str, int]:
        """By relay: what has arrived at DESTINATION from it."""
        table = Path(f"/proc/{self.daemons[DESTINATION].pid}/net/dev").read_text(encoding="ascii")
        counts = {}
        for line in table.splitlines():
            name, colon, columns = line.strip().partition(":")
            if colon and name.startswith("to-"):
                counts[name.removeprefix("to-")] = int(columns.split()[_RECEIVED_COLUMN - 1])
        return counts

    def cable(self, first: str, second: str) -> Cable:
        return self._state.cable(f"{first}-{second}")

    def set_carrier(self, cable: Cable, is_up: bool) -> None:
        for end in cable.ends:
            self._set_link(end, is_up)

    def silence(self, cable: Cable, sender: str | None) -> None:
        """Packets from `sender` are lost; None: those from both ends. Both carriers stay."""
        cable_control.cut(self._state, cable, silent=True, one_way=sender)

    def mend_silence(self, cable: Cable) -> None:
        cable_control.mend(self._state, cable)

    def signal(self, node: str, number: int) -> None:
        os.kill(self.daemons[node].pid, number)

    def restart(self, node: str) -> None:
        self.daemons[node].stop()
        self.start(node)

    def restart_all(self) -> None:
        for node in NODES:
            self.restart(node)
        self.wait_for_cables()

    def wait_for_cables(self) -> None:
        """Until every node knows all four cables."""
        self._wait(lambda: all(self._count_cables(node) == len(NODES) for node in NODES), "all nodes know all cables")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _KNOWN_S
        while not condition():
            if time.monotonic() > deadline:
                raise BenchError(f"not within {_KNOWN_S:.0f} s: {what}; the nodes' output is: "
                                 + "; ".join(f"{node}: {process.tail()}" for node, process in self.daemons.items()))
            time.sleep(_POLL_S)

    def _count_cables(self, node: str) -> int:
        """0 while the node does not answer."""
        with in_network(node):
            process = subprocess.Popen([self._build / "bin/cableway", "topology", "--json"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env=os.environ | self._state.node_environment(node))
        try:
            text, _ = process.communicate(timeout=_ANSWER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return 0
        return len(json.loads(text)["cables"]) if process.returncode == 0 else 0

    def _set_link(self, end: End, is_up: bool) -> None:
        link, name = self._sockets[end.node], end.interface.encode()
        _, flags = _REQUEST.unpack(fcntl.ioctl(link, _SIOCGIFFLAGS, _REQUEST.pack(name, 0)))
        flags = flags | _IFF_UP if is_up else flags & ~_IFF_UP
        fcntl.ioctl(link, _SIOCSIFFLAGS, _REQUEST.pack(name, flags))
