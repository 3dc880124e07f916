"""Finds the processes that a test has started, and their descendants, by a mark in the environment."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def processes_with(mark: str) -> list[int]:
    """The processes whose environment carries the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "environ").read_bytes():
                found.append(int(path.name))
        except OSError:
            continue
    return found


def kill_processes_with(mark: str) -> None:
    """Kills them, so that a lab that leaves processes behind fails only its own test."""
    for pid in processes_with(mark):
        with contextlib.suppress(ProcessLookupError):  # one that has just ended
            os.kill(pid, signal.SIGKILL)
