"""Tells a guest's QEMU to change what its network cards are plugged into (QEMU's machine protocol, QMP)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import guest_files
from guest_machine import Port
from lab_error import LabError

_ANSWER_S = 30.0


class _Monitor:
    def __init__(self, node: str, connection: socket.socket) -> None:
        self._node = node
        self._connection = connection
        self._lines = connection.makefile("rb")
        self._answer()  # the greeting
        self.do("qmp_capabilities")

    def do(self, execute: str, **arguments: Any) -> None:
        self._connection.sendall(json.dumps({"execute": execute, "arguments": arguments}).encode() + b"\n")
        answer = self._answer()
        if "error" in answer:
            raise LabError(f"guest {self._node}: {execute}: {answer['error'].get('desc')}")

    def _answer(self) -> dict[str, Any]:
        while line := self._lines.readline():
            answer = json.loads(line)
            if "event" not in answer:
                return answer
        raise LabError(f"guest {self._node} has ended. {guest_files.console_end(self._node)}")


@contextmanager
def _monitor(node: str) -> Iterator[_Monitor]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_S)
        try:
            connection.connect(str(guest_files.monitor_socket(node)))
            yield _Monitor(node, connection)
        except OSError as error:
            raise LabError(f"guest {node}: its QEMU does not answer: {error}."
                           f" {guest_files.console_end(node)}") from None


def set_carrier(node: str, port: Port, up: bool) -> None:
    """Without carrier the guest sees the link down, and nothing passes in either direction."""
    with _monitor(node) as monitor:
        monitor.do("set_link", name=port.device, up=up)


def silence(node: str, port: Port) -> None:
    """What the guest sends on this port goes nowhere, and the guest is not told."""
    with _monitor(node) as monitor:
        monitor.do("chardev-add", id=f"nowhere{port.cable_number}", backend={"type": "null", "data": {}})
        monitor.do("object-add", **{"qom-type": "filter-redirector", "id": f"silence{port.cable_number}",
                                    "netdev": port.wire, "queue": "rx", "outdev": f"nowhere{port.cable_number}"})


def end_silence(node: str, port: Port) -> None:
    with _monitor(node) as monitor:
        monitor.do("object-del", id=f"silence{port.cable_number}")
        monitor.do("chardev-remove", id=f"nowhere{port.cable_number}")
