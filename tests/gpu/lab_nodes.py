"""Access to a lab's nodes: starts programs there, runs Cableway nodes, reads counters and status."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from traffic_counters import sent_bytes

NODES = ("n0", "n1", "n2", "n3")  # of the matrix
FIRST_ADDRESS = "10.6.0.1"  # n0 on the management network
LAB = str(Path(__file__).resolve().parents[2] / "tools" / "lab" / "lab")
_READY_LIMIT_S = 10.0
_END_LIMIT_S = 3.0


def lab_command(spec: list[str], command: list[str]) -> list[str]:
    return [LAB, "run", *spec, "--", *command]


def start(node: str, command: list[str], settings: dict[str, str], log: Path, **options: object) -> subprocess.Popen:
    """Starts the command in the node; the process is the command itself, not a wrapper."""
    words = [f"{key}={value}" for key, value in settings.items()]
    with open(log, "ab") as file:
        return subprocess.Popen([LAB, "exec", node, "--", "env", *words, *command], stdin=subprocess.DEVNULL,
                                stdout=file, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload]


def output(node: str, command: list[str], settings: dict[str, str] | None = None) -> str:
    """Runs a short command in the node and returns its output, or a description of its failure."""
    words = [f"{key}={value}" for key, value in (settings or {}).items()]
    try:
        done = subprocess.run([LAB, "exec", node, "--", "env", *words, *command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=5, check=False)
    except subprocess.TimeoutExpired:
        return f"{command[0]}: no answer within 5 s\n"
    return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}exit status {done.returncode}\n"


def end(processes: list[subprocess.Popen]) -> None:
    """Sends SIGTERM, then SIGKILL, to the processes, which are the caller's own."""
    for number, limit in ((signal.SIGTERM, _END_LIMIT_S), (signal.SIGKILL, _END_LIMIT_S)):
        alive = [process for process in processes if process.poll() is None]
        for process in alive:
            process.send_signal(number)
        until = time.monotonic() + limit
        for process in alive:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, until - time.monotonic()))


def all_sent_bytes(nodes: Sequence[str] = NODES) -> dict[str, dict[str, int]]:
    """By node and interface, since the lab was built."""
    return {node: sent_bytes(output(node, ["cat", "/proc/net/dev"])) for node in nodes}


class CablewayNodes:
    """A cablewayd in every node, each with a log; or routed_node, if a topology file of routed cables is given."""

    def __init__(self, bundle: Path, settings: dict[str, str], log_dir: Path, routed: Path | None = None,
                 nodes: Sequence[str] = NODES) -> None:
        self._command = [str(bundle / "bin" / "cablewayd")]
        if routed is not None:
            self._command = [str(bundle / "bin" / "routed_node"), str(routed)]
        self._settings, self._log_dir, self._nodes = settings, log_dir, nodes
        self._processes: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> CablewayNodes:
        try:
            for node in self._nodes:
                self.start(node)
        except RuntimeError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        end(list(self._processes.values()))

    def start(self, node: str) -> None:
        """Returns when it is ready; it may not have found its neighbours yet."""
        ready, notify = os.pipe()
        name = Path(self._command[0]).name
        log = self._log_dir / f"{name}-{node}.log"
        self._processes[node] = start(node, [*self._command, "--ready-fd", str(notify)], self._settings, log,
                                      pass_fds=(notify,))
        os.close(notify)
        readable, _, _ = select.select([ready], [], [], _READY_LIMIT_S)
        answer = os.read(ready, 4096).decode(errors="replace").strip() if readable else "no answer"
        os.close(ready)
        if answer != "ready":
            raise RuntimeError(f"{name} of {node} is not ready: {answer}; see {log.name}")

    def kill(self, node: str) -> None:
        """By SIGKILL: it closes nothing and informs nobody."""
        process = self._processes[node]
        process.kill()
        process.wait(timeout=_END_LIMIT_S)
