"""One port of a switch: a socket on which each message is an Ethernet frame, and the frames that wait to leave by it.

A frame waits while the port's rate or the receiver's full socket holds it back. The queue is bounded as that of an
interface's token bucket; frames that arrive when it is full are dropped.
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
        """Uses the shape's rate and burst only. `peer` is the Unix socket that frames are sent to, which need not exist
        yet; empty if the port's own socket needs no destination."""
        self._socket = own
        self._socket.setblocking(False)
        self._peer = peer  # empty once the socket is connected
        self._bucket = TokenBucket(shape.rate_bps, burst_of(shape)) if shape.rate_bps else None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self.blocked = False  # the first waiting frame can leave once the socket is writable

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def receive_into(self, buffer: memoryview) -> int:
        """Returns the size of the received frame; 0 if there is none."""
        try:
            return self._socket.recv_into(buffer)
        except OSError:  # nothing to receive
            return 0

    def offer(self, frame: memoryview, now: float) -> None:
        """Sends the frame at once, queues a copy, or drops it."""
        if not self._waiting and self._leaves(frame, now):
            return
        if self._waiting_bytes + len(frame) <= QUEUE_BYTES:
            self._waiting.append(bytes(frame))
            self._waiting_bytes += len(frame)

    def deliver(self, now: float) -> None:
        """Sends the waiting frames that may leave now."""
        while self._waiting and self._leaves(self._waiting[0], now):
            self._waiting_bytes -= len(self._waiting.popleft())

    def wait_s(self, now: float) -> float:
        """After deliver(): how long until the rate lets more leave; infinite if no frame waits for the rate."""
        if self._bucket is None or self.blocked or not self._waiting:
            return math.inf
        return self._bucket.wait_s(len(self._waiting[0]), now)

    def _leaves(self, frame: bytes | memoryview, now: float) -> bool:
        """Sends the frame; returns False if it has to wait."""
        self.blocked = False
        if self._bucket is not None and self._bucket.wait_s(len(frame), now) > 0.0:
            return False
        try:
            self._connect()
            self._socket.send(frame)
        except BlockingIOError:
            self.blocked = True
            return False
        except OSError:  # the peer does not exist yet or any more: lost, as on a cable with one end unplugged
            return True
        if self._bucket is not None:
            self._bucket.spend(len(frame))
        return True

    def _connect(self) -> None:
        """poll() reports a connected socket writable when the peer has room; an unconnected one always."""
        if self._peer:
            self._socket.connect(self._peer)
            self._peer = ""


def wire_port(own: Path | str, peer: Path | str, shape: Shape = Shape()) -> SwitchPort:
    """A port that receives frames on a Unix datagram socket at `own`, and sends them to the one at `peer`."""
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    wire.bind(str(own))
    return SwitchPort(wire, shape, str(peer))
