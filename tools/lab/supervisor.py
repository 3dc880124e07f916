"""Runs a lab: a supervisor outside, and the first process of the lab's pid namespace inside.

    lab run (supervisor) ── waits, forwards signals
      └─ lab init, pid 1 in the lab ── builds the lab, reaps, ends with COMMAND
           ├─ COMMAND
           └─ what COMMAND leaves behind: killed by the kernel when pid 1 ends

The kernel kills pid 1 when the supervisor dies, even by SIGKILL, and with it everything in the lab; the network and
mount namespaces go with their last process. Nothing of a lab exists outside them, so nothing has to be cleaned up.

A terminal's Ctrl-C reaches every process of the foreground group by itself, so only signals that one process sent
(kill) are forwarded.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import FrameType
from typing import Any, NoReturn

import namespaces
from lab_error import EXIT_FAILED, LabError, log
from lab_state import LabState

Builder = Callable[[str, bool], LabState]  # builds a lab: its handle, and whether nodes may have a /sys of their own

_FORWARDED = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
_WATCHED = _FORWARDED | {signal.SIGCHLD}
_SI_KERNEL = 0x80  # si_code of a signal that a terminal generated
_GRACE_S = 3.0  # from a forwarded signal to the end of everything in the lab
_BUILD_DEADLINE_S = 300.0
_TIMED_OUT = 124  # as in timeout(1)


def status_of(wait_status: int) -> int:
    """The exit status that a shell would report."""
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else 128 - code


def leave(status: int) -> NoReturn:
    """Ends a forked process without running its parent's exit handlers."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def report(error: LabError) -> int:
    log(str(error))
    return error.exit_status


def guarded(body: Callable[[], int]) -> int:
    """Runs the body of a forked process: every outcome becomes an exit status."""
    try:
        return body()
    except LabError as error:
        return report(error)
    except _Interrupted as interruption:
        return 128 + interruption.signal_number
    except BrokenPipeError:  # the reader of our output has closed it
        return 128 + signal.SIGPIPE
    except Exception:  # the process must not return into its parent's code
        traceback.print_exc()
        return EXIT_FAILED


class _Interrupted(Exception):
    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


def _interrupt(signal_number: int, _: FrameType | None) -> None:
    raise _Interrupted(signal_number)


def replace_process(command: list[str], environment: dict[str, str]) -> NoReturn:
    """Becomes the command, with default signal handling; exits as a shell does when it cannot."""
    for number in _WATCHED | {signal.SIGPIPE, signal.SIGXFSZ}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    sys.stdout.flush()
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        log(f"{command[0]}: {error.strerror}")
        leave(127 if isinstance(error, FileNotFoundError) else 126)


def wait_for_child(child: int) -> int:
    """Waits for a child and forwards signals to it; they must be blocked (block_signals). Returns its exit status."""
    while True:
        information = signal.sigwaitinfo(_WATCHED)
        if information.si_signo != signal.SIGCHLD:
            if information.si_code != _SI_KERNEL:
                os.kill(child, information.si_signo)
            continue
        pid, wait_status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return status_of(wait_status)


def block_signals() -> None:
    """Leaves the watched signals to sigwaitinfo(); an inherited ignored SIGCHLD would hide our children's exits."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)


def _run_as_init(child: int | None, limit_s: float = math.inf) -> int:
    """Pid 1's loop: reaps everything, ends with the status of `child`, or soon after it forwarded a signal. After
    `limit_s` it signals everything itself."""
    deadline, interrupted_by, timed_out = None, 0, False
    limit = time.monotonic() + limit_s
    while True:
        wait_s = min(limit if deadline is None else deadline, time.monotonic() + 3600.0) - time.monotonic()
        information = signal.sigtimedwait(_WATCHED, max(0.0, wait_s))
        if information is None:
            if deadline is not None:
                return _TIMED_OUT if timed_out else 128 + interrupted_by
            if time.monotonic() >= limit:
                log(f"{limit_s:g} s have passed: the lab ends")
                timed_out, deadline = True, time.monotonic() + _GRACE_S
                _signal_everything(signal.SIGTERM)
            continue
        if information.si_signo != signal.SIGCHLD:
            if information.si_code != _SI_KERNEL:
                interrupted_by = information.si_signo
                deadline = time.monotonic() + _GRACE_S
                if not _signal_everything(interrupted_by):
                    return 128 + interrupted_by
            continue
        alive, ended_with = _reap(child)
        if ended_with is not None:
            return _TIMED_OUT if timed_out else ended_with
        if not alive and deadline is not None:
            return _TIMED_OUT if timed_out else 128 + interrupted_by


def _signal_everything(signal_number: int) -> bool:
    """Signals every process of the pid namespace but this one; False when there is none."""
    try:
        os.kill(-1, signal_number)
    except ProcessLookupError:
        return False
    return True


def _reap(child: int | None) -> tuple[bool, int | None]:
    """Reaps: returns whether children are left, and the exit status of `child` if it was among those reaped."""
    ended_with = None
    while True:
        try:
            pid, wait_status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False, ended_with
        if pid == 0:
            return True, ended_with
        if pid == child:
            ended_with = status_of(wait_status)


def _write_line(fd: int, document: dict[str, Any]) -> None:
    os.write(fd, json.dumps(document).encode() + b"\n")


def _read_line(fd: int) -> dict[str, Any] | None:
    """What the other process wrote; None if it died first. Reads to the newline, not to EOF: forks keep pipes open."""
    received = b""
    while not received.endswith(b"\n"):
        chunk = os.read(fd, 65536)
        if not chunk:
            return None
        received += chunk
    return json.loads(received)


@dataclass(frozen=True)
class LabProcess:
    """A lab's pid 1, seen from outside."""

    pid: int
    start: int

    @property
    def handle(self) -> str:
        return f"{self.pid}:{self.start}"

    def alive(self) -> bool:
        try:
            return namespaces.start_time(self.pid) == self.start
        except (FileNotFoundError, ProcessLookupError):
            return False


def _fork_init(body: Callable[[LabProcess], int], dies_with_parent: bool) -> LabProcess:
    """Forks the lab's pid 1; `body` runs in it, once it has its own LabProcess."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(send)
        leave(guarded(lambda: _init_body(body, receive, dies_with_parent)))
    os.close(receive)
    process = LabProcess(pid, namespaces.start_time(pid))
    _write_line(send, asdict(process))
    os.close(send)
    return process


def _init_body(body: Callable[[LabProcess], int], receive: int, dies_with_parent: bool) -> int:
    if dies_with_parent:
        namespaces.die_with_parent()
    for number in _FORWARDED:
        signal.signal(number, _interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
    message = _read_line(receive)
    os.close(receive)
    if message is None:  # the parent died before die_with_parent() took effect
        return EXIT_FAILED
    return body(LabProcess(**message))


def _build_inside(build: Builder, handle: str) -> LabState:
    own_sysfs = namespaces.mount_private_view()
    if not own_sysfs:
        log("note: this system cannot mount a new /sys: in a node, /sys/class/net shows the host's interfaces")
    return build(handle, own_sysfs)


def run_lab(build: Builder, command: list[str], environment: dict[str, str], on_built: Callable[[LabState], None],
            limit_s: float = math.inf) -> int:
    """Builds a lab, runs the command in its control namespace, takes the lab down; returns the exit status, 124 where
    the command took longer than `limit_s`."""
    block_signals()
    namespaces.isolate()

    def body(process: LabProcess) -> int:
        state = _build_inside(build, process.handle)
        on_built(state)
        block_signals()
        child = os.fork()
        if child == 0:
            replace_process(command, environment | state.environment())
        return _run_as_init(child, limit_s)

    return wait_for_child(_fork_init(body, dies_with_parent=True).pid)


def start_background_lab(build: Builder, handle: str, keep: Callable[[LabProcess], None]) -> None:
    """Builds a lab that outlives this process once keep() has returned: a caller that is killed before that leaves no
    lab behind. Raises LabError when the lab cannot be built."""
    ours, theirs = (end.detach() for end in socket.socketpair())
    launcher = os.fork()
    if launcher == 0:
        os.close(ours)
        leave(guarded(lambda: _launch(build, handle, theirs)))
    os.close(theirs)
    readable, _, _ = select.select([ours], [], [], _BUILD_DEADLINE_S)
    answer = _read_line(ours) if readable else None
    os.waitpid(launcher, 0)
    if answer is None:
        raise LabError(f"the lab's first process ended, or {_BUILD_DEADLINE_S:g} s passed, before the lab was built")
    if "error" in answer:
        raise LabError(answer["error"], answer["exit_status"])
    keep(LabProcess(**answer))
    _write_line(ours, {"kept": True})
    os.close(ours)


def _launch(build: Builder, handle: str, caller: int) -> int:
    """The process between the caller and the lab's pid 1, so that the latter is in no terminal's session."""
    os.setsid()
    try:
        namespaces.isolate()
    except LabError as error:
        _write_line(caller, {"error": str(error), "exit_status": error.exit_status})
        return error.exit_status
    _fork_init(lambda process: _background_body(build, handle, caller, process), dies_with_parent=False)
    return 0


def _background_body(build: Builder, handle: str, caller: int, process: LabProcess) -> int:
    try:
        _build_inside(build, handle)
    except LabError as error:
        _write_line(caller, {"error": str(error), "exit_status": error.exit_status})
        return error.exit_status
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    block_signals()
    _write_line(caller, asdict(process))
    if _read_line(caller) is None:
        return EXIT_FAILED
    os.close(caller)
    return _run_as_init(None)


def run_attached(process: LabProcess, body: Callable[[], int]) -> int:
    """Runs the body in a process inside the lab; returns its exit status."""
    if not process.alive():
        raise LabError(f"lab {process.handle} is gone: its first process has ended")
    try:
        namespaces.join(process.pid)
    except PermissionError as error:
        raise LabError(f"cannot enter lab {process.handle}: {error.strerror}; use the user that started it") from None
    block_signals()
    child = os.fork()
    if child == 0:
        namespaces.die_with_parent(signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        leave(guarded(body))
    return wait_for_child(child)


def end_lab(process: LabProcess) -> None:
    """Ends a background lab: SIGTERM, the grace time, then SIGKILL. Returns when its first process has ended."""
    pidfd = os.pidfd_open(process.pid)
    try:
        if not process.alive():  # between the look-up and pidfd_open
            return
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        gone, _, _ = select.select([pidfd], [], [], _GRACE_S + 1.0)
        if not gone:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            select.select([pidfd], [], [], _GRACE_S)
    finally:
        os.close(pidfd)
