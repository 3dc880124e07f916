"""Lets the kinds of fault take turns, block by block, until there are enough of each or the time is over. Runs at the same
time, each with its own lab, share the work."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_error import BenchError
from cpu_time import busy_seconds
from failover_faults import FaultKind
from failover_lab import FailoverLab
from failover_measurements import BlockRunner, Say
from failover_results import KindResult, Results
from failover_samples import Run, Samples
from process_lives import ProcessLives

BLOCK_FAULTS = 20
_LEAST_BLOCK_S = 12.0  # a shorter block is mostly its start and its end
_LOOK_S, _MOST_OTHER_WORK = 0.5, 0.1  # between turns, when nothing flows: a share of all processors


def does_other_work() -> bool:
    """Whether the machine is busy now, although nothing is being measured."""
    before, began = busy_seconds(), time.monotonic()
    time.sleep(_LOOK_S)
    rate = (busy_seconds() - before) / (time.monotonic() - began)
    return rate > _MOST_OTHER_WORK * len(os.sched_getaffinity(0))


def next_kind(kinds: list[FaultKind], results: Results, cuts: int) -> FaultKind | None:
    """The kind with the fewest faults; None if all have enough."""
    kind = min(kinds, key=lambda each: results.of(each).faults)
    return kind if results.of(kind).faults < cuts else None


# Records the measurements of the run since the last call, or why it was interrupted. Returns the measurements of all runs.
Keep = Callable[[Run, KindResult | None, str | None], Samples]


class Turns:
    def __init__(self, build: Path, kinds: list[FaultKind], run: Run, keep: Keep, say: Say) -> None:
        self._build, self._kinds, self._keep, self._say = build, kinds, keep, say
        self._run = run
        self._lives = ProcessLives()
        self._was_busy = False

    def take(self, cuts: int, seconds: float | None) -> Samples:
        """Measures until there are `cuts` faults of each kind, or for about `seconds`."""
        began = time.monotonic()
        samples = self._keep(self._run, None, None)
        with FailoverLab(self._build) as lab, tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
            runners = {kind.name: BlockRunner(lab, kind, self._lives, Path(scratch), self._say) for kind in self._kinds}
            self._was_busy = does_other_work()
            while (kind := next_kind(self._kinds, samples.results, cuts)) is not None:
                left = float("inf") if seconds is None else began + seconds - time.monotonic()
                if left < _LEAST_BLOCK_S:
                    break
                done = samples.results.of(kind).faults
                block, broken_off = self._block(runners[kind.name], done, cuts - done, left)
                self._run.processes, self._run.seconds = self._lives.so_far(), time.monotonic() - began
                samples = self._keep(self._run, block, broken_off and f"{kind.name}: {broken_off}")
                if broken_off is not None:
                    raise BenchError(broken_off)
        return samples

    def _block(self, runner: BlockRunner, done: int, most: int, left: float) -> tuple[KindResult | None, str | None]:
        """The measurements of a block, or why it was interrupted."""
        try:
            block = runner.run(done, min(BLOCK_FAULTS, most), most, left)
        except BenchError as error:
            return None, str(error)
        self._note_other_work(block)
        return block, None

    def _note_other_work(self, block: KindResult) -> None:
        is_busy = does_other_work()
        if self._was_busy or is_busy:
            block.disturbed = block.faults
            self._say(f"{block.kind.name}: the machine did other work during this turn")
        self._was_busy = is_busy
