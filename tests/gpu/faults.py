"""Cuts cables and kills relays while a job's ranks work, and records each fault with what the victim carried just before."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lab_nodes
from lab_nodes import CablewayNodes
from scenario_plan import FaultPlan
from traffic_counters import difference

_LOOK_S = 0.3  # how long the load of relays and cables is observed before a fault
_IN_USE_BYTES = 100_000  # moved in that time; the nodes' own messages are far less
_NO_LOAD_S = 60.0  # the ranks' start included
_RESTART_S = 1.0
_AFTER_LAST_S = 4.0  # of load, for flows to use what is back
_LAB_LIMIT_S = 10.0


class Faults:
    """Works on a thread of its own from `with` to its end. What is cut or dead by then is mended and started again.
    `record` takes a note and its fields, and is called by that thread."""

    def __init__(self, plan: FaultPlan, nodes: CablewayNodes, names: list[str], status: Callable[[str], str],
                 record: Callable[..., None], done_file: Path) -> None:
        self._plan, self._nodes, self._names, self._status, self._record = plan, nodes, names, status, record
        self._done_file = done_file  # created after the last kill, if there are no cuts
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="faults", daemon=True)

    def __enter__(self) -> Faults:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._repeat()
        except Exception as error:  # noqa: BLE001  a scenario without its faults must not pass
            self._record("broken", detail=f"faults: {error!r}")
        finally:
            self._done_file.touch()  # or ranks that wait for it would run until their time is up

    def _repeat(self) -> None:
        """One fault of each planned kind a period, until the ranks end or, without cuts, the last relay was killed."""
        plan, period, killed = self._plan, 0, 0
        while self._busiest_relay() is not None and (plan.cuts or killed < plan.kills):
            began = time.monotonic()
            if plan.cuts:
                self._cut_one(period)
            if killed < plan.kills:
                killed += self._kill_one()
            self._ended.wait(max(0.0, began + plan.period_s - time.monotonic()))
            period += 1
        self._ended.wait(_AFTER_LAST_S)

    def _cut_one(self, period: int) -> None:
        """Each cable of the ring in turn."""
        at = period % len(self._names)
        here, there = self._names[at], self._names[(at + 1) % len(self._names)]
        before = lab_nodes.all_sent_bytes([here, there])
        self._ended.wait(_LOOK_S)
        after = lab_nodes.all_sent_bytes([here, there])
        moved = (difference(before[here], after[here]).get(f"to-{there}", 0)
                 + difference(before[there], after[there]).get(f"to-{here}", 0))
        began = time.monotonic()
        _lab("cut", f"{here}-{there}")
        try:
            self._ended.wait(self._plan.cut_s)
        finally:
            _lab("mend", f"{here}-{there}")
        self._note("cut", f"{here}-{there}", moved, began)

    def _kill_one(self) -> int:
        """Returns whether one was killed."""
        relay = self._busiest_relay()
        if relay is None:
            return 0
        name, moved = relay
        began = time.monotonic()
        self._nodes.kill(name)
        try:
            self._ended.wait(_RESTART_S)
        finally:
            self._nodes.start(name)
        self._note("kill", name, moved, began)
        return 1

    def _note(self, kind: str, what: str, moved: int, began: float) -> None:
        self._record("fault", kind=kind, what=what, moved=moved, in_use=moved > _IN_USE_BYTES,
                     at_s=round(began - self._began, 2), lasted_s=round(time.monotonic() - began, 2))

    def _busiest_relay(self) -> tuple[str, int] | None:
        """The node that relays most, and how much in _LOOK_S. Waits until one relays; None if the ranks end first, or after
        _NO_LOAD_S."""
        until = time.monotonic() + _NO_LOAD_S
        while not self._ended.is_set() and time.monotonic() < until:
            before = self._relayed()
            if self._ended.wait(_LOOK_S):
                break
            moved = {name: count - before[name] for name, count in self._relayed().items() if name in before}
            name = max(moved, key=lambda name: moved[name], default=None)
            if name is not None and moved[name] > _IN_USE_BYTES:
                return name, moved[name]
        return None

    def _relayed(self) -> dict[str, int]:
        """By node; without those that do not answer. All are asked at once: a busy machine needs long for a command."""
        found = {}
        with ThreadPoolExecutor(len(self._names)) as pool:
            answers = list(pool.map(self._status, self._names))
        for name, text in zip(self._names, answers):
            if text.startswith("{"):
                view: dict[str, Any] = json.loads(text)
                found[name] = int(view["relayed"]["bytes"])
        return found


def _lab(*words: str) -> None:
    done = subprocess.run([lab_nodes.LAB, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=_LAB_LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"lab {' '.join(words)}: {done.stderr.strip()}")
