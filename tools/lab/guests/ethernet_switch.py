"""A learning Ethernet switch (IEEE 802.1D, without spanning trees): a process between sockets, for thousands of frames a
second.

It learns the port of an address from the frames that the address sends. A frame to an unknown address or to a group is
flooded to every port except its ingress port. It does not detect loops: the caller must connect it without any.
"""

from __future__ import annotations

import math
import select
import struct
import time
from typing import Generic, TypeVar

from namespaces import fork_server
from guests.switch_port import SwitchPort

_MAX_ADDRESSES = 4096
_LARGEST_FRAME_BYTES = 64 << 10
_FRAMES_PER_TURN = 64
_HEADER = struct.Struct("!6s6sH")  # to, from, type
_GROUP = 1  # bit in the first byte of an address: multicast or broadcast

_Port = TypeVar("_Port")


class AddressTable(Generic[_Port]):
    """The port on which each hardware address last sent. When the table is full, the address learnt first is evicted:
    frames to it are flooded until it sends again."""

    def __init__(self, max_addresses: int = _MAX_ADDRESSES) -> None:
        self._max_addresses = max_addresses
        self._ports: dict[bytes, _Port] = {}

    def learn(self, address: bytes, port: _Port) -> None:
        known = self._ports.get(address)
        if known is port:
            return
        if known is not None:  # it has moved, and counts as learnt now
            del self._ports[address]
        elif len(self._ports) == self._max_addresses:
            del self._ports[next(iter(self._ports))]
        self._ports[address] = port

    def find(self, address: bytes) -> _Port | None:
        return self._ports.get(address)


class _Switch:
    def __init__(self, ports: list[SwitchPort]) -> None:
        self._ports = {port.fileno(): port for port in ports}
        self._addresses: AddressTable[SwitchPort] = AddressTable()
        self._buffer = memoryview(bytearray(_LARGEST_FRAME_BYTES))

    def serve(self) -> None:
        poll = select.poll()
        while True:
            now = time.monotonic()
            for fd, port in self._ports.items():
                port.deliver(now)
                poll.register(fd, select.POLLIN | select.POLLOUT if port.blocked else select.POLLIN)
            wait_s = min(port.wait_s(now) for port in self._ports.values())
            for fd, _ in poll.poll(None if wait_s == math.inf else wait_s * 1e3):
                self._receive(self._ports[fd])

    def _receive(self, port: SwitchPort) -> None:
        """Forwards a bounded number of this port's frames, so that the other ports get their turn."""
        now = time.monotonic()
        for _ in range(_FRAMES_PER_TURN):
            size = port.receive_into(self._buffer)
            if size == 0:
                return
            if size >= _HEADER.size:
                self._forward(port, self._buffer[:size], now)

    def _forward(self, source: SwitchPort, frame: memoryview, now: float) -> None:
        to_address, from_address, _ = _HEADER.unpack_from(frame)
        if from_address[0] & _GROUP:  # a group address is never a valid sender
            return
        self._addresses.learn(from_address, source)
        target = self._addresses.find(to_address)
        if target is None:
            for port in self._ports.values():
                if port is not source:
                    port.offer(frame, now)
        elif target is not source:
            target.offer(frame, now)


def start_switch(ports: list[SwitchPort]) -> int:
    """Forks the process that joins these ports, and returns its pid. It is killed when its parent dies. The ports
    are closed in the parent."""
    pid = fork_server(_Switch(ports).serve)
    for port in ports:
        port.close()
    return pid
