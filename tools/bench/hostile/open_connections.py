#!/usr/bin/env python3
"""Runs in the attacker's node: opens connections to a relay's TCP port, until SIGTERM.

open_connections.py idle PER_SECOND OWN,THEIRS: connections that send nothing.
open_connections.py garbage PER_SECOND OWN,THEIRS: connections that send what is no set-up, and go on sending.
open_connections.py untold PER_SECOND OWN,THEIRS KEY_FILE PATH: set-ups to TCP ports at which no process accepts circuits.
open_connections.py hang COUNT OWN,THEIRS KEY_FILE PATH PORT: so many set-ups at a time to that port, begun again as they end.

PATH: a PlayedPath as JSON.
"""

from __future__ import annotations

import contextlib
import json
import resource
import select
import socket
import sys
import time
from collections import deque
from pathlib import Path

from pacing import repeat, until_told
from set_ups import RELAY_PORT, PlayedPath, send_sealed, set_up, set_up_key

_BIND_NO_PORT = 24  # IP_BIND_ADDRESS_NO_PORT: connections to different ends may share a port
_MOST_KEPT = 5000
_GARBAGE_BEGINS, _GARBAGE_GOES_ON = bytes(range(1, 33)), bytes(65536)
_GOING_ON = 16  # of the kept ones, as each further one begins
_TIMEOUT_S = 2.0
_AGAIN_AT_ONCE, _AGAIN_S = 6, 0.05  # 120 a second, as many as reach their budget of 10 s
_FIRST_UNTOLD, _UNTOLD_PORTS = 20_000, 10_000


def _connect(own: str, theirs: str) -> socket.socket:
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(_TIMEOUT_S)
        connection.setsockopt(socket.IPPROTO_IP, _BIND_NO_PORT, 1)
        connection.bind((own, 0))
        connection.connect((theirs, RELAY_PORT))
    except OSError:
        connection.close()
        raise
    return connection


def send_more(connection: socket.socket, content: bytes) -> bool:
    """As much as it takes at once. False: it has ended, and is closed."""
    try:
        connection.send(content)
    except BlockingIOError:
        return True
    except OSError:
        connection.close()
        return False
    return True


class Opened:
    """The newest connections, kept open."""

    def __init__(self, addresses: str) -> None:
        self._own, self._theirs = addresses.split(",")
        self._kept: deque[socket.socket] = deque()

    def begin_idle(self) -> None:
        with contextlib.suppress(OSError):
            self._keep(_connect(self._own, self._theirs))

    def begin_garbage(self) -> None:
        with contextlib.suppress(OSError):
            connection = _connect(self._own, self._theirs)
            connection.setblocking(False)
            if send_more(connection, _GARBAGE_BEGINS):
                self._keep(connection)

    def go_on(self, most: int) -> None:
        """Sends more on so many of the kept connections, and drops those that have ended."""
        for _ in range(min(most, len(self._kept))):
            connection = self._kept.popleft()
            if send_more(connection, _GARBAGE_GOES_ON):
                self._kept.append(connection)

    def begin(self, key: bytes, frame: bytes) -> bool:
        """A sealed set-up, whose answer is not awaited."""
        connection = None
        try:
            connection = _connect(self._own, self._theirs)
            send_sealed(connection, key, frame)
        except OSError:
            if connection is not None:
                connection.close()
            return False
        self._keep(connection)
        return True

    def drop_ended(self) -> int:
        """Closes those that the relay has answered or closed. Returns how many are left."""
        poll = select.poll()
        by_number = {each.fileno(): each for each in self._kept}
        for number in by_number:
            poll.register(number, select.POLLIN)
        ended = {number for number, _ in poll.poll(0)}
        for number in ended:
            by_number[number].close()
        self._kept = deque(each for number, each in by_number.items() if number not in ended)
        return len(self._kept)

    def _keep(self, connection: socket.socket) -> None:
        self._kept.append(connection)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popleft().close()


def _hang(opened: Opened, count: int, key: bytes, path: PlayedPath, port: int) -> None:
    goes_on, sent, at_once, began = until_told(), 0, count, time.monotonic()
    while goes_on():
        for _ in range(min(at_once, count - opened.drop_ended())):
            if not goes_on():
                break
            sent += opened.begin(key, set_up(path, port))
        at_once = _AGAIN_AT_ONCE
        time.sleep(_AGAIN_S)
    print(json.dumps({"sent": sent, "seconds": time.monotonic() - began}), flush=True)


def _garbage(opened: Opened) -> None:
    opened.begin_garbage()
    opened.go_on(_GOING_ON)


def main() -> None:
    kind, number, addresses, *rest = sys.argv[1:]
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    opened = Opened(addresses)
    if kind == "idle":
        repeat(int(number), lambda _: opened.begin_idle())
        return
    if kind == "garbage":
        repeat(int(number), lambda _: _garbage(opened))
        return
    key, document = set_up_key(Path(rest[0])), json.loads(rest[1])
    path = PlayedPath(document["nodes"], [(cable, leaves, arrives) for cable, leaves, arrives in document["hops"]])
    if kind == "hang":
        _hang(opened, int(number), key, path, int(rest[2]))
    else:
        repeat(int(number), lambda call: opened.begin(key, set_up(path, _FIRST_UNTOLD + call % _UNTOLD_PORTS)))


if __name__ == "__main__":
    main()
