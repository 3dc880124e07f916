"""Runs other programs so that none outlives this process: signals are passed on, and the kernel sends them one when
this process dies."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from types import FrameType
from typing import Any, NoReturn

_PR_SET_PDEATHSIG = 1
_GRACE_S = 10.0  # the lab gives its processes 3 s
_libc = ctypes.CDLL(None, use_errno=True)


class Interrupted(Exception):
    def __init__(self, signal_number: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(signal_number).name}")
        self.signal_number = signal_number
        self.exit_status = 128 + signal_number


def _raise(signal_number: int, _: FrameType | None) -> NoReturn:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # one interruption is enough; what follows is the cleaning up
    raise Interrupted(signal_number)


def raise_on_signals() -> None:
    """From now on the first SIGINT, SIGTERM or SIGHUP raises Interrupted."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _raise)


def start(command: list[str], dies_by: signal.Signals = signal.SIGKILL, **options: Any) -> subprocess.Popen[bytes]:
    """Starts the command; the kernel sends it `dies_by` when this process dies."""
    parent = os.getpid()

    def tie_to_parent() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        _libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(dies_by))
        if os.getppid() != parent:
            os._exit(1)

    return subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=tie_to_parent, **options)


def wait(process: subprocess.Popen[bytes]) -> int:
    """The exit status, as a shell would report it. Interrupted: passes the signal on and waits for the end first."""
    try:
        exit_status = process.wait()
    except Interrupted as interruption:
        end(process, interruption.signal_number)
        raise
    return exit_status if exit_status >= 0 else 128 - exit_status


def end(process: subprocess.Popen[bytes], signal_number: int) -> None:
    """Asks the process to end, waits for the grace time, then kills it."""
    process.send_signal(signal_number)
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def run(command: list[str], **options: Any) -> int:
    return wait(start(command, **options))
