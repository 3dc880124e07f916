"""Set-ups of circuits as any process may send them, sealed where there is a key; and how a process tells its node where it
accepts circuits (docs/protocol.md)."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

RELAY_PORT = 7470
HEADER = struct.Struct("<BBHI24s")
MAGIC, FAILED, SET_UP, SET_UP_OK, CHALLENGE, SEAL = 0xCB, 4, 5, 6, 8, 9
SESSION_NAME = "\0cableway/0/cableway/default"  # of root's node
_SESSION_HEADER = Path(__file__).resolve().parents[3] / "core/session/session_message.h"


def text(value: str) -> bytes:
    return struct.pack("<H", len(value)) + value.encode()


@dataclass(frozen=True)
class PlayedPath:
    """The nodes of a path, and the addresses of its hops."""
    nodes: list[str]
    hops: list[tuple[str, str, str]]  # cable, address that it leaves from, address that it arrives at


def set_up(path: PlayedPath, port: int, budget_ms: int = 10_000) -> bytes:
    """The frame that its source sends to the first relay; its last hop goes to that TCP port."""
    body = struct.pack("<HB16s16sBIIBBBHI16sQII", 3, 0, bytes(16), os.urandom(16), 0, 1, 0, 0, 0, 0, 0, 30_000, bytes(16), 1,
                       1 << 20, budget_ms)
    body += text(path.nodes[0]) + struct.pack("<HH", 0, len(path.hops))
    for node, (cable, leaves, arrives) in zip(path.nodes[1:], path.hops):
        body += text(cable) + text(leaves) + text(node) + text(arrives)
        body += struct.pack("<HB", port if node == path.nodes[-1] else RELAY_PORT, 0)
    body += b"\0"
    return HEADER.pack(MAGIC, SET_UP, 0, len(body), bytes(24)) + body


def read_bytes(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("closed")
        data += part
    return data


def set_up_key(key_file: Path) -> bytes:
    """Derived from the cluster's key as by libsodium's crypto_kdf."""
    secret = bytes.fromhex(key_file.read_text(encoding="ascii").strip())
    number, context = struct.pack("<QQ", 2, 0), b"cableway".ljust(16, b"\0")
    return hashlib.blake2b(key=secret, digest_size=32, salt=number, person=context).digest()


def send_sealed(connection: socket.socket, key: bytes, frame: bytes) -> None:
    """Exchanges challenges, then sends the frame and its seal."""
    own = os.urandom(16)
    connection.sendall(_sixteen_bytes(CHALLENGE, own))
    theirs = read_bytes(connection, HEADER.size)[-16:]
    seal = hashlib.blake2b(b"\x01" + theirs + own + frame, key=key, digest_size=16).digest()
    connection.sendall(frame + _sixteen_bytes(SEAL, seal))


def _sixteen_bytes(kind: int, value: bytes) -> bytes:
    return HEADER.pack(MAGIC, kind, 0, 0, bytes(8) + value)


def session_hello(program: str) -> bytes:
    found = re.search(r"kSessionVersion = (\d+)", _SESSION_HEADER.read_text(encoding="ascii"))
    assert found is not None
    return b"\x01" + struct.pack("<H", int(found[1])) + text(program)


def send_message(session: socket.socket, message: bytes) -> None:
    session.sendall(struct.pack("<I", len(message)) + message)


def tell_node(session: socket.socket, port: int) -> None:
    """That this process accepts circuits at that TCP port, for as long as the session is open."""
    session.settimeout(10)
    session.connect(SESSION_NAME)
    send_message(session, session_hello("test"))
    send_message(session, b"\x15" + struct.pack("<H", port))
