"""Has the kinds of fault take turns, block by block, until there are as many of each as wanted or the time is over."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_error import BenchError
from failover_faults import FaultKind
from failover_lab import FailoverLab
from failover_measurements import BlockRunner, Say
from failover_results import Results
from failover_samples import Run, Samples
from process_lives import ProcessLives, merged

BLOCK_FAULTS = 20
_LEAST_BLOCK_S = 12.0  # a shorter one is mostly its begin and its end


def next_kind(kinds: list[FaultKind], results: Results, cuts: int) -> FaultKind | None:
    """The one that has the fewest faults; None where all have enough."""
    kind = min(kinds, key=lambda each: results.of(each).faults)
    return kind if results.of(kind).faults < cuts else None


class Turns:
    """`keep` is called after each block, with what there is by then."""

    def __init__(self, build: Path, kinds: list[FaultKind], samples: Samples, run: Run, keep: Callable[[], None],
                 say: Say) -> None:
        self._build, self._kinds, self._samples, self._keep, self._say = build, kinds, samples, keep, say
        self._this_run = run
        self._lives = ProcessLives()

    def take(self, cuts: int, seconds: float | None) -> None:
        """Until there are `cuts` faults of each kind, or for about so many seconds."""
        began = time.monotonic()
        earlier, results = self._samples.results.processes, self._samples.results
        self._samples.runs.append(self._this_run)
        with FailoverLab(self._build) as lab, tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
            runners = {kind.name: BlockRunner(lab, kind, self._lives, Path(scratch), self._say) for kind in self._kinds}
            while (kind := next_kind(self._kinds, results, cuts)) is not None:
                left = float("inf") if seconds is None else began + seconds - time.monotonic()
                if left < _LEAST_BLOCK_S:
                    return
                done = results.of(kind)
                most = cuts - done.faults
                try:
                    done.merge(runners[kind.name].run(done.faults, min(BLOCK_FAULTS, most), most, left))
                except BenchError as error:
                    results.broken_off.append(f"{kind.name}: {error}")
                    raise
                finally:
                    results.processes = merged(earlier, self._lives.so_far())
                    self._this_run.seconds = time.monotonic() - began
                    self._keep()
