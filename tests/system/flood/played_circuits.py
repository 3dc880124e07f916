"""Circuits that a test plays in a lab with nodes: set-ups as any process may send them, and a process that accepts circuits.
For what untrusted processes do, and for how long the relay of others takes meanwhile. Without a key."""

from __future__ import annotations

import contextlib
import os
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab_nodes import LabNodes, in_network  # a test has put its folder into sys.path

RELAY_PORT = 7470
_HEADER = struct.Struct("<BBHI24s")
_MAGIC, _FAILED, _SET_UP, _SET_UP_OK = 0xCB, 4, 5, 6
_SESSION = "\0cableway/0/cableway/default"  # of root's node
_SESSION_HEADER = Path(__file__).parents[3] / "core/session/session_message.h"


def _text(text: str) -> bytes:
    return struct.pack("<H", len(text)) + text.encode()


@dataclass(frozen=True)
class PlayedPath:
    """The nodes of a path, and the addresses of its hops."""
    nodes: list[str]
    hops: list[tuple[str, str, str]]  # cable, address that it leaves from, address that it arrives at


def path_between(nodes: LabNodes, *names: str) -> PlayedPath:
    """Along these nodes, by the topology of the first."""
    cables: list[dict[str, Any]] = nodes.cableway(names[0], "topology")["cables"]
    hops = []
    for here, there in zip(names, names[1:]):
        for cable in cables:
            ends = {end["node"]: end["address"] for end in cable["ends"]}
            if set(ends) == {here, there}:
                hops.append((cable["name"], ends[here], ends[there]))
                break
    return PlayedPath(list(names), hops)


def set_up(path: PlayedPath, port: int, budget_ms: int = 10_000) -> bytes:
    """The frame that its source sends to the first relay; its last hop goes to that TCP port."""
    body = struct.pack("<HB16s16sBIIBBBHI16sQII", 3, 0, bytes(16), os.urandom(16), 0, 1, 0, 0, 0, 0, 0, 30_000, bytes(16), 1,
                       1 << 20, budget_ms)
    body += _text(path.nodes[0]) + struct.pack("<HH", 0, len(path.hops))
    for node, (cable, leaves, arrives) in zip(path.nodes[1:], path.hops):
        body += _text(cable) + _text(leaves) + _text(node) + _text(arrives)
        body += struct.pack("<HB", port if node == path.nodes[-1] else RELAY_PORT, 0)
    body += b"\0"
    return _HEADER.pack(_MAGIC, _SET_UP, 0, len(body), bytes(24)) + body


def connect(path: PlayedPath, timeout: float) -> socket.socket:
    """From the path's first node, in whose network the caller is, to its first relay."""
    _, leaves, arrives = path.hops[0]
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    connection.bind((leaves, 0))
    connection.connect((arrives, RELAY_PORT))
    return connection


def read_answer(connection: socket.socket) -> str:
    """Empty: the circuit is open; else why not."""
    try:
        header = _read(connection, _HEADER.size)
        _, kind, _, payload, _ = _HEADER.unpack(header)
        body = _read(connection, payload)
    except OSError as error:
        return f"no answer: {error}"
    return "" if kind == _SET_UP_OK else body.decode(errors="replace") if kind == _FAILED else f"a frame {kind}"


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("closed")
        data += part
    return data


def seconds_until_open(path: PlayedPath, port: int, limit: float) -> tuple[float, str]:
    """How long a new circuit takes, tried again as a process does until it is open; and why the last attempt failed."""
    began, reason = time.monotonic(), ""
    with in_network(path.nodes[0]):
        while time.monotonic() - began < limit:
            with contextlib.suppress(OSError), connect(path, 2.0) as connection:
                connection.sendall(set_up(path, port))
                reason = read_answer(connection)
                if not reason:
                    return time.monotonic() - began, ""
            time.sleep(0.1)
    return time.monotonic() - began, reason


class PlayedProcess:
    """Listens for circuits at a node, and tells the node so unless `told` is false. Answers nothing until serve()."""

    def __init__(self, node: str, told: bool = True) -> None:
        with in_network(node):
            self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self.listener.bind(("0.0.0.0", 0))
            self.listener.listen(4096)
            self.session = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.port: int = self.listener.getsockname()[1]
        if told:
            self._tell(node)

    def _tell(self, node: str) -> None:
        found = re.search(r"kSessionVersion = (\d+)", _SESSION_HEADER.read_text(encoding="ascii"))
        assert found is not None
        hello = b"\x01" + struct.pack("<H", int(found[1])) + _text("test")
        listens = b"\x15" + struct.pack("<H", self.port)
        with in_network(node):
            self.session.settimeout(10)
            self.session.connect(_SESSION)
            for message in (hello, listens):
                self.session.sendall(struct.pack("<I", len(message)) + message)

    def serve(self) -> None:
        """Accepts every circuit, until close()."""
        def run() -> None:
            kept = []
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = self.listener.accept()
                    kept.append(connection)
                    connection.settimeout(10)
                    with contextlib.suppress(OSError):
                        _, _, _, payload, _ = _HEADER.unpack(_read(connection, _HEADER.size))
                        _read(connection, payload)
                        connection.sendall(_HEADER.pack(_MAGIC, _SET_UP_OK, 0, 0, bytes(24)))
        self.listener.setblocking(True)
        threading.Thread(target=run, daemon=True).start()

    def has_connections(self) -> bool:
        return bool(select.select([self.listener], [], [], 0)[0])

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # ends serve()
        self.listener.close()
        self.session.close()


@contextlib.contextmanager
def played_process(node: str, told: bool = True) -> Iterator[PlayedProcess]:
    process = PlayedProcess(node, told)
    try:
        yield process
    finally:
        process.close()
