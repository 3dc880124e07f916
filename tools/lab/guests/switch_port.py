"""One port of a switch: a socket on which each message is an Ethernet frame, and the frames that wait to leave by it.

A frame waits where the port's rate or who reads at the far end does not let it go yet. What waits is bounded, by as much
as an interface's token bucket holds; what comes when that is full is lost.
"""

from __future__ import annotations

import math
import socket
from collections import deque
from pathlib import Path

from shaping import QUEUE_BYTES, Shape, burst_of
from guests.token_bucket import TokenBucket


class SwitchPort:
    def __init__(self, own: socket.socket, shape: Shape = Shape(), peer: str = "") -> None:
        """Of the shape, the rate and its burst count. `peer` is the Unix socket that frames leave for, which need not be
        there yet; empty where the port's own socket leads to somewhere by itself."""
        self._socket = own
        self._socket.setblocking(False)
        self._peer = peer  # empty once the socket is connected
        self._bucket = TokenBucket(shape.rate_bps, burst_of(shape)) if shape.rate_bps else None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self.blocked = False  # the first of those that wait goes as soon as the socket is writable

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def receive_into(self, buffer: memoryview) -> int:
        """The size of the frame that came; 0 where there is none."""
        try:
            return self._socket.recv_into(buffer)
        except OSError:  # nothing has come
            return 0

    def offer(self, frame: memoryview, now: float) -> None:
        """The frame leaves at once, waits (it is copied), or is lost."""
        if not self._waiting and self._leaves(frame, now):
            return
        if self._waiting_bytes + len(frame) <= QUEUE_BYTES:
            self._waiting.append(bytes(frame))
            self._waiting_bytes += len(frame)

    def deliver(self, now: float) -> None:
        """What waits leaves as far as it may."""
        while self._waiting and self._leaves(self._waiting[0], now):
            self._waiting_bytes -= len(self._waiting.popleft())

    def wait_s(self, now: float) -> float:
        """After deliver(): how long until the rate lets more leave; infinite where that is not what is waited for."""
        if self._bucket is None or self.blocked or not self._waiting:
            return math.inf
        return self._bucket.wait_s(len(self._waiting[0]), now)

    def _leaves(self, frame: bytes | memoryview, now: float) -> bool:
        """Whether the frame is gone; otherwise it has to wait."""
        self.blocked = False
        if self._bucket is not None and self._bucket.wait_s(len(frame), now) > 0.0:
            return False
        try:
            self._connect()
            self._socket.send(frame)
        except BlockingIOError:
            self.blocked = True
            return False
        except OSError:  # nobody is there, not yet or not any more: lost, as on a cable that is plugged in at one end
            return True
        if self._bucket is not None:
            self._bucket.spend(len(frame))
        return True

    def _connect(self) -> None:
        """A socket that is connected is writable when there is room at the far end; any other always."""
        if self._peer:
            self._socket.connect(self._peer)
            self._peer = ""


def wire_port(own: Path | str, peer: Path | str, shape: Shape = Shape()) -> SwitchPort:
    """A port that takes frames from a Unix datagram socket at `own`, and sends them to the one at `peer`."""
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    wire.bind(str(own))
    return SwitchPort(wire, shape, str(peer))
