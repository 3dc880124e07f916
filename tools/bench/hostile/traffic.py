"""The verified traffic between honest nodes that attacks must not hurt."""

from __future__ import annotations

import json
import time

import node_load
from hostile_lab import DESTINATION, SOURCE, HostileLab, why_failed

_FLOWING_BYTES_PER_S = 10e6
_FLOW_LIMIT_S = 15.0
_END_LIMIT_S = 60.0
_POLL_S = 0.1


class Traffic:
    """Verified messages from SOURCE through the relay to DESTINATION, for a fixed time."""

    def __init__(self, lab: HostileLab, seconds: float) -> None:
        self._report = lab.scratch / "traffic.json"
        self._ranks = lab.start_ranks((SOURCE, DESTINATION), self._report, "--sizes", "8M", "-w", "1", "--iters", "1",
                                      "--check-all", "--wall-seconds", f"{seconds:.0f}")
        self._deadline = time.monotonic() + seconds + _END_LIMIT_S

    def __enter__(self) -> Traffic:
        return self

    def __exit__(self, *_: object) -> None:
        for rank in self._ranks:
            rank.stop()

    def await_flow(self, lab: HostileLab) -> None:
        deadline = time.monotonic() + _FLOW_LIMIT_S
        while node_load.measure(lab, _POLL_S).bytes_per_s < _FLOWING_BYTES_PER_S:
            if time.monotonic() > deadline:
                raise self._ranks[0].fail("has sent nothing")

    def check_lasted(self) -> None:
        """Raises an error if its time was too short. That it has failed is for finish() to tell."""
        if not any(rank.running() or why_failed(rank) for rank in self._ranks):
            raise self._ranks[0].fail("ended before the attack was measured")

    def finish(self) -> tuple[int, str]:
        """Waits for its end: the wrong bytes, and why it failed."""
        while any(rank.running() for rank in self._ranks):
            if time.monotonic() > self._deadline:
                return 0, "it did not end"
            time.sleep(_POLL_S)
        if reasons := [reason for rank in self._ranks if (reason := why_failed(rank))]:
            return 0, reasons[0]
        report = json.loads(self._report.read_text(encoding="utf-8"))
        return report["wrong"], "" if report["bytes_verified"] else "nothing was verified"
