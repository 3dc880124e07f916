#!/usr/bin/env python3
"""Runs in the attacker's node: sends recorded datagrams, or garbage and changed ones, to a neighbour's UDP ports, until
SIGTERM.

send_datagrams.py replay|garbage|pulses PER_SECOND RECORDING OWN,THEIRS [OWN,THEIRS..]: the two addresses of each cable.
"""

from __future__ import annotations

import random
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from pacing import repeat
from recording import CONTROL_PORT, PULSE_PORT, Datagram, read_recording

_GROUP = "224.0.0.177"
_TTL = 255
_MOST_RANDOM_BYTES = 1400


class Sender:
    """Sends from a node's UDP ports even while a node has them: by a raw socket, with UDP headers of its own."""

    def __init__(self, own: str, theirs: str) -> None:
        self._theirs = theirs
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, _TTL)
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, _TTL)
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        self._socket.bind((own, 0))

    def send(self, datagram: Datagram) -> None:
        no_checksum = 0
        header = struct.pack(">HHHH", datagram.port, datagram.port, 8 + len(datagram.body), no_checksum)
        try:
            self._socket.sendto(header + datagram.body, (_GROUP if datagram.to_group else self._theirs, 0))
        except OSError:
            pass  # the cable's queue is full, or the datagram is longer than a packet


def _changed(body: bytes, chance: random.Random) -> bytes:
    """One bit flipped, or cut off, or with bytes at its end."""
    kind = chance.randrange(3)
    place = chance.randrange(len(body))
    if kind == 0:
        return body[:place] + bytes([body[place] ^ 1 << chance.randrange(8)]) + body[place + 1:]
    return body[:place] if kind == 1 else body + chance.randbytes(place + 1)


def _garbage(port: int, recording: list[Datagram]) -> Callable[[int], Datagram]:
    chance = random.Random(1)
    known = [each for each in recording if each.port == port]

    def make(number: int) -> Datagram:
        if number % 2 == 0 or not known:
            return Datagram(port, False, chance.randbytes(chance.randrange(1, _MOST_RANDOM_BYTES)))
        chosen = chance.choice(known)
        return Datagram(port, chosen.to_group, _changed(chosen.body, chance))
    return make


def main() -> None:
    kind, per_second, file, *cables = sys.argv[1:]
    recording = read_recording(Path(file))
    control = [each for each in recording if each.port == CONTROL_PORT]
    senders = [Sender(*cable.split(",")) for cable in cables]
    made = {"replay": lambda number: control[number // len(senders) % len(control)],
            "garbage": _garbage(CONTROL_PORT, recording), "pulses": _garbage(PULSE_PORT, recording)}[kind]
    repeat(int(per_second), lambda number: senders[number % len(senders)].send(made(number)))


if __name__ == "__main__":
    main()
