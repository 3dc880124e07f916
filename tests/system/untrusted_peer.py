"""What an untrusted peer on a cable can do: send arbitrary bytes to a node's TCP and UDP ports, overhear control datagrams,
and replay them unchanged or modified. All of it runs in a node's network namespace."""

from __future__ import annotations

import contextlib
import errno
import random
import select
import socket
import time
from collections.abc import Callable, Iterable

from lab_nodes import in_network

CONTROL_PORT = 7471
RELAY_PORT = 7470
HELLO_GROUP = "224.0.0.177"
_ETH_P_ALL = 3
_ETHERNET_BYTES, _IPV4_BYTES, _IPV6_BYTES, _UDP_BYTES = 14, 20, 40, 8


def _payload_start(frame: bytes) -> int | None:
    """The offset of a frame's control datagram, or None. (A node's packets have no IP options.)"""
    start = {b"\x08\x00": _IPV4_BYTES, b"\x86\xdd": _IPV6_BYTES}.get(frame[12:14])
    if start is None:
        return None
    start += _ETHERNET_BYTES
    is_control = frame[start + 2:start + 4] == CONTROL_PORT.to_bytes(2, "big")
    return start + _UDP_BYTES if is_control and len(frame) > start + _UDP_BYTES else None


def overhear(node: str, interface: str, seconds: float) -> list[bytes]:
    """The frames with control datagrams that pass the node's interface in either direction. Their UDP checksums are not
    valid."""
    frames = []
    with in_network(node), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL)) as port:
        port.bind((interface, _ETH_P_ALL))
        deadline = time.monotonic() + seconds
        # Reads all that has arrived, even if this process was not scheduled before the deadline.
        while select.select([port], [], [], max(0.0, deadline - time.monotonic()))[0]:
            frame = port.recv(65536)
            if _payload_start(frame):
                frames.append(frame)
    return frames


def _sum16(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(int.from_bytes(data[i:i + 2], "big") for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def _with_checksum(frame: bytes) -> bytes:
    """A frame overheard at its sender may lack its UDP checksum, and a modified frame needs a new one."""
    payload = _payload_start(frame)
    assert payload is not None
    udp = payload - _UDP_BYTES
    addresses = frame[udp - 8:udp] if frame[12:14] == b"\x08\x00" else frame[udp - 32:udp]
    segment = frame[udp:udp + 6] + b"\0\0" + frame[payload:]
    pseudo = addresses + len(segment).to_bytes(4, "big") + socket.IPPROTO_UDP.to_bytes(4, "big")
    checksum = (0xffff - _sum16(pseudo + segment)) or 0xffff
    return frame[:udp + 6] + checksum.to_bytes(2, "big") + frame[payload:]


def datagram_of(frame: bytes) -> bytes:
    return frame[_payload_start(frame):]


def changed(frame: bytes, chance: random.Random) -> bytes:
    """Flips one random bit of the datagram."""
    start = _payload_start(frame)
    assert start is not None
    place = chance.randrange(start, len(frame))
    return frame[:place] + bytes([frame[place] ^ 1 << chance.randrange(8)]) + frame[place + 1:]


def send_frames(node: str, interface: str, frames: Iterable[bytes]) -> None:
    """Sends from the interface's own Ethernet address, so that a switch's address table stays correct."""
    with in_network(node), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as port:
        port.bind((interface, 0))
        own = port.getsockname()[4]
        for frame in frames:
            port.send(_with_checksum(frame[:6] + own + frame[12:]))


def send_datagrams(node: str, own: str, to: str, bodies: Iterable[bytes]) -> None:
    """Sends from the control UDP port, as nodes do, so that the datagrams are parsed."""
    with in_network(node), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        s.bind((own, CONTROL_PORT))
        for body in bodies:
            s.sendto(body, (to, CONTROL_PORT))


def connect_and(node: str, own: str, to: str, count: int, use: Callable[[list[socket.socket]], None]) -> None:
    """Opens `count` connections to the relay TCP port, calls `use` with them, and closes them."""
    with contextlib.ExitStack() as stack, in_network(node):
        connections = []
        for _ in range(count):
            s = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            s.settimeout(10)
            s.bind((own, 0))
            s.connect((to, RELAY_PORT))
            connections.append(s)
        use(connections)


def send_and_await_end(connection: socket.socket, body: bytes) -> None:
    """Sends invalid bytes, and reads until the other side closes or resets the connection."""
    with contextlib.suppress(ConnectionError):
        connection.sendall(body)
        try:
            connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno != errno.ENOTCONN:  # it has been reset
                raise
        while connection.recv(65536):
            pass
