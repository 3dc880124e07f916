#!/usr/bin/env python3
"""tools/bench.sh chunk: a relay's CPU time per chunk over RDMA, without the wire."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from machine import describe, facts_table
from relay_measurements import say
from release_build import ROOT, chosen_build
from spread import Spread

_CHUNKS = 1_000_000
_QUICK_CHUNKS = 20_000
_COUNTED_CHUNKS = 20_000
_RELAY = "cableway::RelayCircuit::progress()"
_REPEATS = 5
_GOAL_US = 0.5
_CASES = {"chunk_by_chunk": "the relay runs after every chunk", "in_turns": "the relay moves many chunks per run"}

_DESCRIPTION = f"""\
A flow through one relay over RDMA links, on stub devices that move no payload, {_CHUNKS} chunks of 64 KiB, {_REPEATS} times.
Measures the CPU time of the relay's own calls, its postings and polls included, and their instructions if valgrind is
installed. Goal: {_GOAL_US} us per chunk. Every run checks that nothing is copied and nothing is allocated."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh chunk", description=_DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="few chunks, one run, as a smoke test: not judged, and not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'chunk' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    return parser.parse_args()


def _run_once(build: Path, chunks: int) -> dict[str, Any]:
    done = subprocess.run([build / "bin/relay_chunk", str(chunks)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"relay_chunk {chunks} failed: {done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _counted_instructions(build: Path, case: str, chunks: int) -> int:
    """The instructions of the relay's calls in one run, counted by callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--toggle-collect={_RELAY}",
                   build / "bin/relay_chunk", str(chunks), case]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None or int(collected[1]) == 0:
        raise BenchError(f"callgrind counted no instructions of relay_chunk {chunks} {case}: {done.stderr.strip()}")
    return int(collected[1])


def _instructions(build: Path, case: str) -> str:
    """Instructions per chunk: the difference of two runs, which cancels set-up and warm-up."""
    if shutil.which("valgrind") is None:
        return "not counted: valgrind is not installed"
    more, fewer = (_counted_instructions(build, case, chunks) for chunks in (2 * _COUNTED_CHUNKS, _COUNTED_CHUNKS))
    return f"{(more - fewer) / _COUNTED_CHUNKS:.0f}"


def _section(runs: list[dict[str, Any]], instructions: dict[str, str], facts: dict[str, str]) -> str:
    lines = [
        "## A relay's CPU time per chunk over RDMA",
        "",
        "`tools/bench.sh chunk`: a flow through one relay, chunks of 64 KiB, on stub devices that move no payload: the relay's"
        f" own calls, without the wire. Median of {len(runs)} runs, and their range. Payload memory is not mapped, so a copy"
        " would end the run; no memory is allocated. Instructions: callgrind's count.",
        "",
        *facts_table(facts),
        "",
        "| | chunks per turn | slots | CPU, us per chunk | range | instructions per chunk | postings per chunk | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case, description in _CASES.items():
        cost = Spread(tuple(run[case]["cpu_us_per_chunk"] for run in runs))
        last = runs[-1][case]
        verdict = "goal met" if cost.median <= _GOAL_US else "**missed**"
        lines.append(f"| {description} | {last['chunks_a_turn']:.2f} | {last['slots']} | {cost.median:.3f} |"
                     f" {cost.range_text('.3f')} |"
                     f" {instructions[case]} | {last['postings_per_chunk']:.2f} | {verdict} |")
    lines += ["", f"Goal: {_GOAL_US} us."]
    return "\n".join(lines)


def _run(arguments: argparse.Namespace) -> int:
    build = chosen_build(arguments.build, ("relay_chunk",))
    facts = describe(build)
    chunks, repeats = (_QUICK_CHUNKS, 1) if arguments.quick else (_CHUNKS, _REPEATS)
    runs = []
    for repeat in range(repeats):
        say(f"{repeat + 1} of {repeats}: {chunks} chunks ..")
        runs.append(_run_once(build, chunks))
    say("counting instructions ..")
    instructions = {case: _instructions(build, case) for case in _CASES}
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "chunk", _section(runs, instructions, facts))
        say(f"wrote {out}")
    medians = {case: Spread(tuple(run[case]["cpu_us_per_chunk"] for run in runs)).median for case in _CASES}
    print(f"chunk: {medians['chunk_by_chunk']:.3f} us chunk by chunk, {medians['in_turns']:.3f} us in turns; instructions"
          f" {instructions['chunk_by_chunk']} and {instructions['in_turns']}; 0 bytes copied, 0 allocations", flush=True)
    if arguments.quick:
        return 0
    return EXIT_MISSED if max(medians.values()) > _GOAL_US else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
