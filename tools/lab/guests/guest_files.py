"""The files under LAB_DIR that the parts of a lab of guests share."""

from __future__ import annotations

import os
from pathlib import Path

from lab_error import LabError
from namespaces import LAB_DIR

WIRES_DIR = LAB_DIR / "wires"
_GUESTS_DIR = LAB_DIR / "guests"
_CONSOLE_LINES = 20


def guest_dir(node: str) -> Path:
    return _GUESTS_DIR / node


def console_file(node: str) -> Path:
    return guest_dir(node) / "console.log"


def qemu_log(node: str) -> Path:
    return guest_dir(node) / "qemu.log"


def monitor_socket(node: str) -> Path:
    return guest_dir(node) / "monitor"


def start_script(node: str) -> Path:
    """The script that the guest runs with /bin/sh once the host's files are mounted."""
    return guest_dir(node) / "start"


def ready_file(node: str) -> Path:
    """Created by the guest once it accepts commands."""
    return guest_dir(node) / "ready"


def write_pid(node: str, pid: int) -> None:
    (guest_dir(node) / "pid").write_text(str(pid), encoding="ascii")


def open_pid(node: str) -> int:
    """A descriptor that is readable when the guest's process has ended. Raises LabError if it already has."""
    try:
        return os.pidfd_open(int((guest_dir(node) / "pid").read_text(encoding="ascii")))
    except ProcessLookupError:
        raise LabError(f"guest {node} has ended. {console_end(node)}") from None


def console_end(node: str) -> str:
    """The last lines of QEMU's output and the guest's console, as part of an error message."""
    lines = []
    for path in (qemu_log(node), console_file(node)):
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            lines += [line.rstrip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "Its console is empty."
    return "\n  ".join(["The end of its console:", *lines[-_CONSOLE_LINES:]])
