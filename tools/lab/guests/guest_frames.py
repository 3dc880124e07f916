"""The protocol between `softroce exec` and a guest's agent, one connection per command.

A frame is a kind (1 byte), a length (4 bytes, big-endian), and that many bytes. The agent is trusted like the
rest of the lab; an oversized frame ends the connection.
"""

from __future__ import annotations

import struct

PORT = 999  # in a guest; nothing else listens there on the management network
REQUEST = 0  # to the agent, first: JSON of {"command": [..], "environment": {..}, "folder": ".."}
SIGNAL = 1  # to the agent: a signal's number in decimal, for the command
OUT = 2  # from the agent: what the command wrote to its stdout
ERROR = 3  # the same of its stderr
END = 4  # from the agent, last: the exit status in decimal

_HEADER = struct.Struct("!BI")
LARGEST_FRAME_BYTES = 1 << 20


def frame(kind: int, payload: bytes) -> bytes:
    return _HEADER.pack(kind, len(payload)) + payload


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, received: bytes) -> list[tuple[int, bytes]]:
        """The frames that are complete now. Raises ValueError for an invalid header."""
        self._rest += received
        frames = []
        while len(self._rest) >= _HEADER.size:
            kind, length = _HEADER.unpack_from(self._rest)
            if kind > END or length > LARGEST_FRAME_BYTES:
                raise ValueError(f"frame of kind {kind} and {length} bytes")
            end = _HEADER.size + length
            if len(self._rest) < end:
                break
            frames.append((kind, self._rest[_HEADER.size:end]))
            self._rest = self._rest[end:]
        return frames
