"""Watches the data that arrives at a node for its longest pause."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_STEP_BYTES = 64 << 10  # more than the nodes' own messages in any pause that matters
_SAMPLE_S = 0.001
_LAST_S = 0.2  # the last part, which determines the interface by which data arrives


@dataclass(frozen=True)
class Watched:
    longest_pause_s: float
    arrives_by: str  # the interface that received most at the end


def received_bytes(pid: int) -> dict[str, int]:
    """The received bytes by cable interface, in the network namespace of the process."""
    counts = {}
    for line in Path(f"/proc/{pid}/net/dev").read_text(encoding="ascii").splitlines():
        name, colon, columns = line.strip().partition(":")
        if colon and name not in ("lo", "mg0"):
            counts[name] = int(columns.split()[0])
    return counts


def watch(pid: int, goes_on: Callable[[], bool], after_s: float) -> Watched:
    """Watches while `goes_on`, and for `after_s` more. A pause is a time in which fewer than 64 KiB arrive."""
    counts, now = received_bytes(pid), time.monotonic()
    mark, since, longest, end = sum(counts.values()), now, 0.0, None
    last: dict[str, int] = counts
    while end is None or now < end:
        if end is None and not goes_on():
            end = now + after_s
        if end is not None and last is counts and now > end - _LAST_S:
            last = received_bytes(pid)
        latest, now = received_bytes(pid), time.monotonic()
        longest = max(longest, now - since)
        if sum(latest.values()) > mark + _STEP_BYTES:
            mark, since = sum(latest.values()), now
        time.sleep(_SAMPLE_S)
    moved = {name: count - last.get(name, 0) for name, count in received_bytes(pid).items()}
    return Watched(longest, max(moved, key=lambda name: moved[name]))
