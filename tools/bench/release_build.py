"""The default build of the benchmarks."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench_error import BenchError
from relay_measurements import say

ROOT = Path(__file__).resolve().parents[2]
RELEASE_BUILD = ROOT / "build/release"


def chosen_build(given: Path | None, targets: Sequence[str]) -> Path:
    """The given folder; else builds the targets of the preset `release` and returns its folder."""
    if given is not None:
        return given.resolve()
    say("building the preset release")
    for command in (["cmake", "--preset", "release"],
                    ["cmake", "--build", "--preset", "release", "--target", *targets]):
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
    return RELEASE_BUILD
