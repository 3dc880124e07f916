"""Circuits that a test plays in a lab with nodes: set-ups as any process may send them, and a process that accepts circuits.
For what untrusted processes do, and for how long the relay of others takes meanwhile. Without a key."""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab_nodes import LabNodes, in_network  # a test has put its folder into sys.path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/bench/hostile"))

from set_ups import FAILED, HEADER, MAGIC, RELAY_PORT, SET_UP_OK, PlayedPath, read_bytes, set_up, tell_node  # noqa: E402


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
        header = read_bytes(connection, HEADER.size)
        _, kind, _, payload, _ = HEADER.unpack(header)
        body = read_bytes(connection, payload)
    except OSError as error:
        return f"no answer: {error}"
    return "" if kind == SET_UP_OK else body.decode(errors="replace") if kind == FAILED else f"a frame {kind}"


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
            with in_network(node):
                tell_node(self.session, self.port)

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
                        _, _, _, payload, _ = HEADER.unpack(read_bytes(connection, HEADER.size))
                        read_bytes(connection, payload)
                        connection.sendall(HEADER.pack(MAGIC, SET_UP_OK, 0, 0, bytes(24)))
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
