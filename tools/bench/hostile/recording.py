"""Records the control datagrams and pulses on a cable, and keeps them in a file."""

from __future__ import annotations

import json
import select
import socket
import time
from dataclasses import dataclass
from pathlib import Path

CONTROL_PORT, PULSE_PORT = 7471, 7472
_ETH_P_ALL = 3
_ETHERNET_BYTES, _IPV4_BYTES, _UDP_BYTES = 14, 20, 8
_IPV4 = b"\x08\x00"


@dataclass(frozen=True)
class Datagram:
    port: int       # UDP
    to_group: bool  # multicast, as hellos are
    body: bytes


def _datagram_of(frame: bytes) -> Datagram | None:
    """A node's packets have no IP options."""
    udp = _ETHERNET_BYTES + _IPV4_BYTES
    if frame[12:14] != _IPV4 or len(frame) <= udp + _UDP_BYTES or frame[_ETHERNET_BYTES + 9] != socket.IPPROTO_UDP:
        return None
    port = int.from_bytes(frame[udp + 2:udp + 4], "big")
    if port not in (CONTROL_PORT, PULSE_PORT):
        return None
    return Datagram(port, frame[_ETHERNET_BYTES + 16] >= 224, frame[udp + _UDP_BYTES:])


def record(interface: str, seconds: float) -> list[Datagram]:
    """Both directions, in the network namespace that the caller is in."""
    found = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL)) as tap:
        tap.bind((interface, _ETH_P_ALL))
        deadline = time.monotonic() + seconds
        while select.select([tap], [], [], max(0.0, deadline - time.monotonic()))[0]:
            datagram = _datagram_of(tap.recv(65536))
            if datagram is not None:
                found.append(datagram)
    return found


def write_recording(path: Path, recording: list[Datagram]) -> None:
    path.write_text(json.dumps([[each.port, each.to_group, each.body.hex()] for each in recording]), encoding="ascii")


def read_recording(path: Path) -> list[Datagram]:
    return [Datagram(port, to_group, bytes.fromhex(body)) for port, to_group, body in json.loads(path.read_text("ascii"))]
