"""Changes a running guest's network cards and their backends through QEMU's machine protocol (QMP)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from guests import guest_files
from guests.guest_machine import Port
from lab_error import LabError

_ANSWER_S = 30.0
FROM_GUEST, TO_GUEST = "rx", "tx"  # QEMU's names: what the backend receives, and what it transmits


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


def drop(node: str, port: Port, direction: str) -> None:
    """Silently discards packets that pass this port in that direction."""
    name = f"{direction}{port.cable_number}"
    with _monitor(node) as monitor:
        monitor.do("chardev-add", id=f"nowhere-{name}", backend={"type": "null", "data": {}})
        monitor.do("object-add", **{"qom-type": "filter-redirector", "id": f"drop-{name}", "netdev": port.wire,
                                    "queue": direction, "outdev": f"nowhere-{name}"})


def end_drop(node: str, port: Port, direction: str) -> None:
    name = f"{direction}{port.cable_number}"
    with _monitor(node) as monitor:
        monitor.do("object-del", id=f"drop-{name}")
        monitor.do("chardev-remove", id=f"nowhere-{name}")
