"""Processes in a lab's nodes: daemons and ranks of collperf. All are this process's children, and none outlives it: the
lab ends the remaining ones."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench_error import BenchError

_READY_LIMIT_S = 20
_STOP_LIMIT_S = 10
_POLL_S = 0.1  # rarely, because the measured processes share the CPUs with this one
_TAIL_CHARACTERS = 2000
_READ_BYTES = 64 << 10


class LabProcess:
    """A command in a node. Its process ID is that of the command: `lab exec` becomes the command."""

    TOOL = "lab"

    def __init__(self, node: str, command: list[str], environment: Mapping[str, str], cpus: str = "",
                 pass_fds: tuple[int, ...] = ()):
        """`cpus`: a list in taskset(1)'s syntax; empty for all."""
        pinned = ["taskset", "--cpu-list", cpus, *command] if cpus else command
        self.name = f"{Path(command[0]).name} on {node}"
        self._output = tempfile.TemporaryFile()
        self._process = self._started(node, pinned, environment, pass_fds)

    def _started(self, node: str, command: list[str], environment: Mapping[str, str],
                 pass_fds: tuple[int, ...]) -> subprocess.Popen[bytes]:
        settings = [f"{key}={value}" for key, value in environment.items()]  # by env(1), to override the lab's own
        return subprocess.Popen([self.TOOL, "exec", node, "--", "env", *settings, *command], stdin=subprocess.DEVNULL,
                                stdout=self._output, stderr=self._output, pass_fds=pass_fds)

    @property
    def pid(self) -> int:
        return self._process.pid

    def running(self) -> bool:
        return self._process.poll() is None

    def tail(self) -> str:
        return self.output()[-_TAIL_CHARACTERS:].strip()

    def fail(self, what: str) -> BenchError:
        return BenchError(f"{self.name} {what}; the end of its output:\n{self.tail() or '(nothing)'}")

    def check_status(self) -> None:
        if self._process.returncode != 0:
            raise self.fail(f"ended with status {self._process.returncode}")

    def output(self) -> str:
        return self.output_from(0).decode(errors="replace")

    def output_from(self, offset: int) -> bytes:
        """The output beyond this offset. Does not move the file's position, which the process shares."""
        parts = []
        while part := os.pread(self._output.fileno(), _READ_BYTES, offset):
            parts.append(part)
            offset += len(part)
        return b"".join(parts)

    def stop(self) -> None:
        """Sends SIGTERM, then SIGKILL after a time limit."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()


def start_node(node: str, command: list[str], environment: Mapping[str, str], cpus: str,
               kind: type[LabProcess] = LabProcess) -> LabProcess:
    """Starts a cablewayd, or a replacement, and waits until it is ready. It may not have found its neighbours yet: a job
    waits for its paths."""
    reading, writing = os.pipe()
    process = kind(node, [*command, f"--ready-fd={writing}"], environment, cpus, (writing,))
    os.close(writing)
    try:
        with selectors.DefaultSelector() as selector, os.fdopen(reading, "rb") as ready:
            selector.register(ready, selectors.EVENT_READ)
            if not selector.select(_READY_LIMIT_S) or ready.readline() != b"ready\n":
                raise process.fail("did not become ready")
    except BaseException:
        process.stop()
        raise
    return process


def wait_for_all(processes: list[LabProcess], limit_s: float, on_poll: Callable[[], None]) -> None:
    """Waits until all have ended with success; raises at the first failure, or at the limit. Meanwhile calls on_poll."""
    deadline = time.monotonic() + limit_s
    while running := [process for process in processes if process.running()]:
        for process in processes:
            if process not in running:
                process.check_status()
        if time.monotonic() > deadline:
            raise running[0].fail(f"was not done after {limit_s:.0f} s")
        on_poll()
        time.sleep(_POLL_S)
    for process in processes:
        process.check_status()
