"""Runs a function in a running lab: the one this process is in, or one that a handle names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import supervisor
from lab_error import program, usage_error
from lab_registry import open_registry
from lab_state import GUESTS_FILE, LabState, is_inside
from supervisor import LabProcess


def _process_of(handle: str) -> LabProcess:
    """A lab's first process from its handle: PID:START as `lab run` sets LAB, else the name of a background lab."""
    pid, colon, start = handle.partition(":")
    if colon:
        if not (pid.isdecimal() and start.isdecimal()):
            raise usage_error(f"lab '{handle}': expected a name, or PID:START as in the LAB of a running lab")
        return LabProcess(int(pid), int(start))
    with open_registry() as registry:
        return registry.require(handle)


def in_lab(handle: str | None, body: Callable[[], int], with_guests: bool = False) -> int:
    """Runs the body in the lab: directly if this process is in it, else in a child process that enters it."""
    handle = handle or os.environ.get("LAB")
    if not handle:
        raise usage_error(f"which lab? run this inside `{program()} run SPEC -- ...`, or give --lab NAME (see lab list)")

    def checked_body() -> int:
        if GUESTS_FILE.exists() != with_guests:
            raise usage_error("the nodes of this lab are namespaces: use `lab`" if with_guests else
                              "the nodes of this lab are guests: use `softroce`")
        return body()

    if is_inside(handle):
        return checked_body()
    return supervisor.run_attached(_process_of(handle), checked_body)


def write_env_file(path: str, state: LabState) -> None:
    """Writes the file that another terminal reads (`. FILE`) to use the commands on this lab."""
    lines = [f"export {key}={shlex.quote(value)}" for key, value in state.environment().items()]
    try:
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise usage_error(f"env file '{path}': {error.strerror}") from None
