"""A cable with a delay where the kernel has no netem: a process between the two halves of the cable.

Each end of such a cable is joined to an interface in the lab's control namespace; this process receives every frame
from one and sends it on the other when it is due, counted from its arrival as the kernel reports it, less the shortest
time that a send has taken. Frames keep their segmentation-offload header (PACKET_VNET_HDR), so one frame may stand for
64 KiB of TCP. The queue is bounded; further frames are dropped.
Fit for delays of 100 us and more, and for a few Gbit/s.
"""

from __future__ import annotations

import math
import select
import signal
import socket
import struct
import time
from collections import deque
from pathlib import Path

from namespaces import fork_server, wake_punctually
from shaping import QUEUE_BYTES

_ETH_P_ALL = 3
_SOL_PACKET, _PACKET_VNET_HDR, _PACKET_IGNORE_OUTGOING = 263, 15, 23
_SO_RCVBUFFORCE, _SO_SNDBUFFORCE = 33, 32
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@ll")
_ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size)
_LONGEST_WAIT_S = 1.0
_RETRY_S = 0.001
_WAKES_EARLY_S = 80e-6  # waking takes some tens of us; the rest is spent in a busy loop
_SOCKET_BUFFER_BYTES = 8 << 20
_LARGEST_FRAME_BYTES = 256 << 10
_FRAMES_PER_TURN = 64


def _open(interface: str) -> socket.socket:
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    port.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    port.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    for force, plain in ((_SO_RCVBUFFORCE, socket.SO_RCVBUF), (_SO_SNDBUFFORCE, socket.SO_SNDBUF)):
        try:
            port.setsockopt(socket.SOL_SOCKET, force, _SOCKET_BUFFER_BYTES)
        except PermissionError:  # in a user namespace the system's limit applies
            port.setsockopt(socket.SOL_SOCKET, plain, _SOCKET_BUFFER_BYTES)
    port.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    port.bind((interface, _ETH_P_ALL))
    port.setblocking(False)
    return port


def _waited_s(ancillary: list[tuple[int, int, bytes]]) -> float:
    """How long ago the kernel received a frame; 0 if it does not report that, or the wall clock was set in between."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, nanoseconds = _TIMESPEC.unpack(data)
            waited_s = (time.time_ns() - seconds * 10**9 - nanoseconds) / 1e9
            return waited_s if 0 < waited_s < _LONGEST_WAIT_S else 0.0
    return 0.0


class _Direction:
    """Frames in flight from one interface to the other."""

    def __init__(self, source: socket.socket, sink: socket.socket) -> None:
        self.source, self.sink = source, sink
        self.waiting: deque[tuple[float, bytes]] = deque()
        self.bytes_waiting = 0
        self.blocked_until = 0.0  # the sink's buffer is full
        self.shortest_send_s = math.inf  # the frame arrives at the far interface during the send

    def receive(self, delay_s: float) -> None:
        """Reads what has arrived; each frame is due `delay_s` after it arrived."""
        for _ in range(_FRAMES_PER_TURN):
            try:
                frame, ancillary, _, _ = self.source.recvmsg(_LARGEST_FRAME_BYTES, _ANCILLARY_BYTES)
            except BlockingIOError:
                return
            except OSError:  # the interface went down: nothing arrives
                return
            if self.bytes_waiting + len(frame) <= QUEUE_BYTES:
                # Read before the clock below: a pause in between can only delay the frame.
                waited_s = _waited_s(ancillary)
                wait_s = delay_s - self.shortest_send_s if self.shortest_send_s < delay_s else delay_s
                self.waiting.append((time.monotonic() - waited_s + wait_s, frame))
                self.bytes_waiting += len(frame)

    def due(self) -> float:
        """When its next frame is due; infinity where none waits."""
        return max(self.waiting[0][0], self.blocked_until) if self.waiting else math.inf

    def send_first(self) -> None:
        _, frame = self.waiting[0]
        began_s = time.monotonic()
        try:
            self.sink.send(frame)
            self.shortest_send_s = min(self.shortest_send_s, time.monotonic() - began_s)
        except BlockingIOError:
            self.blocked_until = time.monotonic() + _RETRY_S
            return
        except OSError:  # the far interface is down or the frame does not fit: lost, as on a cable
            pass
        self.waiting.popleft()
        self.bytes_waiting -= len(frame)


def _deliver(directions: list[_Direction]) -> float | None:
    """Sends the frames that are due, of both directions in order of time. Returns the seconds until the next call, None
    if no frame waits."""
    for _ in range(_FRAMES_PER_TURN):
        first = min(directions, key=_Direction.due)
        if first.due() == math.inf:
            return None
        left = first.due() - time.monotonic()
        if left > _WAKES_EARLY_S:
            return left - _WAKES_EARLY_S
        while time.monotonic() < first.due():
            pass
        first.send_first()
    return 0.0


def _serve(ports: list[socket.socket], delay_path: Path) -> None:
    wake_punctually()
    directions = [_Direction(ports[0], ports[1]), _Direction(ports[1], ports[0])]
    delay_s = 0.0

    def read_delay(*_: object) -> None:
        nonlocal delay_s
        delay_s = int(delay_path.read_text(encoding="ascii")) / 1e6

    signal.signal(signal.SIGHUP, read_delay)
    read_delay()
    while True:
        readable, _, _ = select.select(ports, [], [], _deliver(directions))
        for direction in directions:
            if direction.source in readable:
                direction.receive(delay_s)


def start_delay_line(interfaces: tuple[str, str], delay_path: Path) -> int:
    """Forks the process between two interfaces of the current network namespace and returns its pid. It is killed when
    its parent dies. SIGHUP makes it read the delay again."""
    ports = [_open(interface) for interface in interfaces]
    pid = fork_server(lambda: _serve(ports, delay_path))
    for port in ports:
        port.close()
    return pid
