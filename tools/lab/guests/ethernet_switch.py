"""A learning Ethernet switch (IEEE 802.1D, without spanning trees): a process between sockets, for thousands of frames a
second.

It learns by which port an address is reached from the frames that come from it. A frame to an address that it has not
heard from, or to a group, leaves by every port but the one it came by. It knows nothing of loops: whoever plugs it in has
to see that there are none.
"""

from __future__ import annotations

import math
import select
import struct
import time
from typing import Generic, TypeVar

from namespaces import fork_server
from guests.switch_port import SwitchPort

_MOST_ADDRESSES = 4096
_LARGEST_FRAME_BYTES = 64 << 10
_FRAMES_PER_TURN = 64
_HEADER = struct.Struct("!6s6sH")  # to, from, type
_GROUP = 1  # in the first byte of an address: it is one of many receivers'

_Port = TypeVar("_Port")


class AddressTable(Generic[_Port]):
    """By which port each hardware address was heard from last. When it is full, the address that was learnt first makes
    room: what is sent there is heard by all until it speaks again."""

    def __init__(self, most: int = _MOST_ADDRESSES) -> None:
        self._most = most
        self._ports: dict[bytes, _Port] = {}

    def learn(self, address: bytes, port: _Port) -> None:
        known = self._ports.get(address)
        if known is port:
            return
        if known is not None:  # it has moved, and counts as learnt now
            del self._ports[address]
        elif len(self._ports) == self._most:
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
                self._take(self._ports[fd])

    def _take(self, port: SwitchPort) -> None:
        """Some of what has come by this port: others get their turn."""
        now = time.monotonic()
        for _ in range(_FRAMES_PER_TURN):
            size = port.receive_into(self._buffer)
            if size == 0:
                return
            if size >= _HEADER.size:
                self._pass_on(port, self._buffer[:size], now)

    def _pass_on(self, source: SwitchPort, frame: memoryview, now: float) -> None:
        to_address, from_address, _ = _HEADER.unpack_from(frame)
        if from_address[0] & _GROUP:  # no sender is a group: broken, or meant to mislead
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
    """Forks the process that joins these ports, and returns its pid. It dies with its parent, which has the ports no
    more."""
    pid = fork_server(_Switch(ports).serve)
    for port in ports:
        port.close()
    return pid
