"""Follows the memory and the descriptors of processes, of which some are restarted and others stay."""

from __future__ import annotations

from pathlib import Path

from failover_results import Footprint, Life, Lives


def footprint(pid: int) -> Footprint | None:
    """The footprint of a process; None if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        resident = next((line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")), None)
        return None if resident is None else Footprint(int(resident) * 1024, len(list(Path(f"/proc/{pid}/fd").iterdir())))
    except (FileNotFoundError, ProcessLookupError):
        return None


def merged(*parts: dict[str, Lives]) -> dict[str, Lives]:
    total: dict[str, Lives] = {}
    for part in parts:
        for name, lives in part.items():
            total[name] = total[name].with_others(lives) if name in total else lives
    return total


class ProcessLives:
    def __init__(self) -> None:
        self._ended: dict[str, Lives] = {}
        self._present: dict[str, tuple[int, Life]] = {}  # with the process ID

    def look(self, name: str, pid: int) -> None:
        """To be called after each fault."""
        now = footprint(pid)
        if now is None:
            return
        known_pid, known = self._present.get(name, (None, None))
        if known is not None and known_pid == pid:
            self._present[name] = pid, Life(known.faults + 1, known.first, now)
            return
        if known is not None:
            self._ended = merged(self._ended, {name: Lives.of(known)})
        self._present[name] = pid, Life(1, now, now)

    def so_far(self) -> dict[str, Lives]:
        return merged(self._ended, {name: Lives.of(life) for name, (_, life) in self._present.items()})
