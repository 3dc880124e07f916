"""Makes an end of a cable lose everything that it sends, by one message to the kernel over an open socket, so that the
instant is known to less than a millisecond. tc(8) takes several milliseconds on a busy machine, even if it has been
started before."""

from __future__ import annotations

import os
import socket
import struct

from bench_error import BenchError

_RTM_NEWQDISC = 36
_REQUEST, _ACKNOWLEDGE, _REPLACE, _CREATE = 0x1, 0x4, 0x100, 0x400
_NLMSG_ERROR = 2
_TCA_KIND = 1
_ROOT = 0xFFFFFFFF
_HANDLE = 4 << 16
_HEADER = struct.Struct("=IHHII")      # struct nlmsghdr: length, type, flags, sequence number, port
_DISCIPLINE = struct.Struct("=BxxxiIII")  # struct tcmsg: family, interface, handle, parent, info
_ATTRIBUTE = struct.Struct("=HH")      # struct rtattr: length, type
_ERROR = struct.Struct("=i")
_ANSWER_BYTES = 4096


def blackhole_request(interface: int) -> bytes:
    """`tc qdisc replace dev .. root handle 4: blackhole`."""
    kind = b"blackhole\0"
    size = _ATTRIBUTE.size + len(kind)
    attribute = _ATTRIBUTE.pack(size, _TCA_KIND) + kind + bytes(-size % 4)
    body = _DISCIPLINE.pack(socket.AF_UNSPEC, interface, _HANDLE, _ROOT, 0) + attribute
    flags = _REQUEST | _ACKNOWLEDGE | _REPLACE | _CREATE
    return _HEADER.pack(_HEADER.size + len(body), _RTM_NEWQDISC, flags, 1, 0) + body


class SilentEnd:
    """One end, with its socket. To be made in the node's network namespace."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._request = blackhole_request(socket.if_nametoindex(interface))
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.bind((0, 0))

    def begin(self) -> None:
        """Makes the end silent. The kernel executes the request before this returns."""
        self._socket.send(self._request)

    def check(self) -> None:
        answer = self._socket.recv(_ANSWER_BYTES)
        _, kind, _, _, _ = _HEADER.unpack_from(answer)
        error = _ERROR.unpack_from(answer, _HEADER.size)[0] if kind == _NLMSG_ERROR else 0
        if error:
            raise BenchError(f"cannot silence {self._interface}: {os.strerror(-error)}")

    def close(self) -> None:
        self._socket.close()
