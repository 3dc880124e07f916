"""The processes of an attack while it goes on, and what they have sent."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_error import BenchError
from hostile_lab import ATTACKER, HostileLab
from lab_processes import start_node
from node_process import NodeProcess

_FOLDER = Path(__file__).resolve().parent
_END_LIMIT_S = 10
_LINE_LIMIT_S = 10.0
_POLL_S = 0.01


class AttackProcess(NodeProcess):
    def last_line(self) -> dict[str, Any]:
        """The last line of its output so far, which is JSON; empty if there is none."""
        lines = self.output().splitlines()
        return json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}

    def await_line(self) -> dict[str, Any]:
        deadline = time.monotonic() + _LINE_LIMIT_S
        while not (line := self.last_line()):
            if not self.running() or time.monotonic() > deadline:
                raise self.fail("did not begin")
            time.sleep(_POLL_S)
        return line

    def end(self) -> dict[str, Any]:
        """Ends it; returns what it reports."""
        if not self.running():
            raise self.fail("ended before its attack was over")
        self._process.terminate()
        try:
            self._process.wait(_END_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise self.fail("did not end") from None
        return self.last_line()


class Assault:
    """Ends its processes with __exit__, if end() has not done so."""

    def __init__(self, lab: HostileLab) -> None:
        self.lab = lab
        self.report: dict[str, Any] = {}  # what its processes have counted, once it has ended
        self.seconds = 0.0                # how long it went on
        self.note = ""                    # why it could not be carried out
        self._processes: list[AttackProcess] = []
        self._afterwards: list[Callable[[], object]] = []
        self._began = 0.0

    def __enter__(self) -> Assault:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            process.stop()

    def begin(self, attack: Callable[[Assault], None]) -> None:
        self._began = time.monotonic()
        attack(self)

    def run(self, node: str, script: str, *arguments: str) -> AttackProcess:
        """Starts a script of this folder in that node."""
        process = AttackProcess(node, [sys.executable, str(_FOLDER / script), *arguments], {})
        self._processes.append(process)
        return process

    def run_hostile_node(self, *options: str) -> None:
        """Starts an insider; returns once it has a neighbour."""
        settings = {"CABLEWAY_KEY_FILE": str(self.lab.key_file), "CABLEWAY_LOG": "warning"}
        process = start_node(ATTACKER, [str(self.lab.build / "bin/hostile_node"), *options], settings, "", AttackProcess)
        assert isinstance(process, AttackProcess)
        self._processes.append(process)

    def afterwards(self, work: Callable[[], object]) -> None:
        """Called when the attack has ended."""
        self._afterwards.append(work)

    def end(self) -> None:
        for process in reversed(self._processes):
            self.report = process.end() | self.report  # of what was started last, where several count the same
        self.seconds = time.monotonic() - self._began
        for work in self._afterwards:
            work()

    def per_second(self) -> float | None:
        """What it has sent a second; None if it does not count that."""
        sent, seconds = self.report.get("sent"), self.report.get("seconds", self.seconds)
        return None if sent is None or seconds == 0 else float(sent) / float(seconds)


def check_alive(lab: HostileLab) -> None:
    for node, process in lab.daemons.items():
        if not process.running():
            raise BenchError(f"the node on {node} ended: {process.tail()}")
