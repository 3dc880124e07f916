"""The rank processes of one pass: starts and watches them, and determines why they stopped."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lab_nodes

_POLL_S = 0.1
_AFTER_FIRST_FAILURE_S = 4.0  # time for the other ranks to report that one has failed
_EXIT_LIMIT_S = 25.0  # from "done" to the end of the process
_DUMP_S = 1.0


@dataclass
class Outcome:
    kind: str  # ok, hang, crash, late
    detail: str = ""

    @property
    def ok(self) -> bool:
        return self.kind == "ok"


def read_events(path: Path) -> list[dict[str, Any]]:
    """The complete lines of a rank's event file."""
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]:
        with contextlib.suppress(ValueError):
            events.append(json.loads(line))
    return events


class RankSet:
    """`command(rank)` and `settings(rank)` define what runs in node `nodes[rank]`; logs and events go to `folder`.
    `exits` has the expected exit status of the ranks that shall not end with 0."""

    def __init__(self, folder: Path, command: Callable[[int], list[str]], settings: Callable[[int], dict[str, str]],
                 nodes: Sequence[str] = lab_nodes.NODES, exits: Mapping[int, int] | None = None) -> None:
        self.folder, self.nodes, self._exits = folder, nodes, exits or {}
        self._processes = [lab_nodes.start(node, command(rank), settings(rank), self.log(rank))
                           for rank, node in enumerate(nodes)]

    def log(self, rank: int) -> Path:
        return self.folder / f"rank{rank}.log"

    def events(self, rank: int) -> list[dict[str, Any]]:
        return read_events(self.folder / f"rank{rank}.jsonl")

    def _progress(self) -> int:
        files = [self.folder / f"rank{rank}.jsonl" for rank in range(len(self._processes))]
        return sum(file.stat().st_size for file in files if file.exists())

    def pids(self) -> dict[int, int]:
        """The pids of the ranks that still run."""
        return {rank: process.pid for rank, process in enumerate(self._processes) if process.poll() is None}

    def _finished(self) -> bool:
        return all(any(event["event"] == "done" for event in self.events(rank)[-1:])
                   for rank in range(len(self._processes)))

    def watch(self, stall_s: float, start_s: float, until: float, diagnose: Callable[[Outcome], None]) -> Outcome:
        """Waits for all to end. No event for stall_s (start_s until the first cell) is a hang; `until` is the
        deadline. After a failure calls `diagnose`. Always ends the processes."""
        try:
            outcome = self._wait(stall_s, start_s, until)
            if not outcome.ok:
                self._dump_stacks()
                diagnose(outcome)
            return outcome
        finally:
            lab_nodes.end(self._processes)

    def _wait(self, stall_s: float, start_s: float, until: float) -> Outcome:
        progress, changed, first_failure = -1, time.monotonic(), None
        while True:
            now = time.monotonic()
            codes = [process.poll() for process in self._processes]
            failed = self._failed(codes)
            if not failed and None not in codes:
                return Outcome("ok")
            if failed:
                first_failure = first_failure or now
                if None not in codes or now > first_failure + _AFTER_FIRST_FAILURE_S:
                    return Outcome("crash", self._exit_text(codes))
            latest = self._progress()
            if latest != progress:
                progress, changed = latest, now
            running = any(event["event"] == "cell" for event in self.events(0))
            limit = _EXIT_LIMIT_S if self._finished() else stall_s if running else start_s
            if now > changed + limit or (now > until and now > changed + limit / 2):
                return Outcome("hang", f"no progress for {now - changed:.0f} s; {self.where()}; exits {codes}")
            if now > until:
                return Outcome("late", f"the time was up; {self.where()}")
            time.sleep(_POLL_S)

    def _failed(self, codes: list[int | None]) -> list[int]:
        """The ranks that have ended with an unexpected status."""
        return [rank for rank, code in enumerate(codes) if code not in (None, self._exits.get(rank, 0))]

    def _exit_text(self, codes: list[int | None]) -> str:
        failed = ", ".join(f"rank {rank}: {codes[rank]}" for rank in self._failed(codes))
        return f"exit status of {failed}; {self.where()}"

    def _dump_stacks(self) -> None:
        """Makes each rank write its Python stacks to its log."""
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGUSR1)
        time.sleep(_DUMP_S)

    def where(self) -> str:
        """The last event of each rank."""
        places = []
        for rank in range(len(self._processes)):
            last = (self.events(rank) or [{"event": "nothing"}])[-1]
            place = " ".join(str(last[key]) for key in ("config", "op", "size") if key in last)
            places.append(f"rank {rank}: {last['event']} {place}".strip())
        return "; ".join(places)


def tail(path: Path, lines: int = 12) -> str:
    if not path.exists():
        return ""
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
