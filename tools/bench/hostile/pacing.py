"""Work at a given rate, until the process is told to end; then a line of JSON with what was done."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable

_BATCH_S = 0.002
_ended = False


def _end(_number: int, _frame: object) -> None:
    global _ended
    _ended = True


def until_told() -> Callable[[], bool]:
    """Returns a function that is true until SIGTERM."""
    signal.signal(signal.SIGTERM, _end)
    return lambda: not _ended


def repeat(per_second: int, work: Callable[[int], object]) -> None:
    """Calls work with 0, 1, 2, .. so many times a second, and does not make up for more than a second that was lost."""
    goes_on = until_told()
    began = time.monotonic()
    done, skipped = 0, 0
    while goes_on():
        due = int((time.monotonic() - began) * per_second) - skipped
        if due - done > per_second:
            skipped += due - done - per_second
            due = done + per_second
        while done < due and goes_on():
            work(done)
            done += 1
        time.sleep(_BATCH_S)
    print(json.dumps({"sent": done, "seconds": time.monotonic() - began}), flush=True)
