#!/usr/bin/env python3
"""tools/bench.sh crossings: how many chunks per second the simulator moves over cables."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from machine import describe, facts_table
from relay_measurements import say
from release_build import ROOT, chosen_build


class Case(NamedTuple):
    spec: str
    workload: str


_WHOLE_JOB = Case("ring:64", "all_reduce:1GiB")
_CASES = (_WHOLE_JOB, Case("line:8", "sendrecv:4GiB,0-7"), Case("torus:4x4", "all_to_all:1GiB"),
          Case("mesh:8", "all_reduce:4GiB"))
_QUICK_CASES = (Case("ring:4", "all_reduce:16MiB"),)
_REPEATS = 5
_MIN_RATE = 1e6
_GOAL_RATE = 2e6
_WALL_LIMIT_S = 30
_WALL_GOAL_S = 10

_DESCRIPTION = f"""\
Predicts {', '.join(f'{case.workload} on {case.spec}' for case in _CASES)}, {_REPEATS} times each in turn, and counts the
crossings: one chunk of 64 KiB over one cable, through the flow ends and relays of plugin and daemon. Limits:
{_MIN_RATE / 1e6:.0f} million crossings per second of CPU time in each case (goal {_GOAL_RATE / 1e6:.0f} million), and
{_WALL_LIMIT_S} s for the first case (goal {_WALL_GOAL_S} s)."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh crossings", description=_DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one small case, one run, as a smoke test: not judged, and not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'crossings' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    return parser.parse_args()


def _run_once(build: Path, case: Case) -> dict[str, Any]:
    done = subprocess.run([build / "bin/crossings", case.spec, case.workload], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"crossings {case.spec} {case.workload} failed: {done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _measure(build: Path, cases: tuple[Case, ...], repeats: int) -> list[dict[str, Any]]:
    """By case: the run of median CPU time, with the median wall time. The cases take turns, so that load affects all."""
    runs: dict[Case, list[dict[str, Any]]] = {case: [] for case in cases}
    for repeat in range(repeats):
        for case in cases:
            say(f"{repeat + 1} of {repeats}: {case.workload} on {case.spec} ..")
            runs[case].append(_run_once(build, case))
    results = []
    for of_case in runs.values():
        middle = sorted(of_case, key=lambda run: run["cpu_s"])[len(of_case) // 2]
        results.append(middle | {"wall_s": statistics.median(run["wall_s"] for run in of_case)})
    return results


def _verdict(value: float, limit: float, goal: float, more_is_better: bool) -> str:
    sign = 1 if more_is_better else -1
    if sign * value >= sign * goal:
        return "goal met"
    return "met, goal missed" if sign * value >= sign * limit else "**missed**"


def _section(results: list[dict[str, Any]], facts: dict[str, str], repeats: int) -> str:
    lines = [
        "## Speed of the simulator",
        "",
        "`tools/bench.sh crossings`: operations predicted chunk by chunk, through the real flow ends and relays, one thread. A"
        f" crossing is one chunk of 64 KiB over one cable. Median of {repeats} runs.",
        "",
        *facts_table(facts),
        "",
        "| topology | workload | flows | crossings | predicted, s | wall time, s | million crossings per CPU second | memory, MB | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in results:
        rate = each["crossings_per_cpu_s"]
        lines.append(
            f"| {each['spec']} | {each['workload']} | {each['flows']} | {each['crossings']} | {each['predicted_s']:.3f} |"
            f" {each['wall_s']:.2f} | {rate / 1e6:.2f} | {each['memory_mb']:.0f} |"
            f" {_verdict(rate, _MIN_RATE, _GOAL_RATE, True)} |")
    lines += ["", f"Limit {_MIN_RATE / 1e6:.0f} million per second, goal {_GOAL_RATE / 1e6:.0f} million."
              f" {results[0]['workload']} on {results[0]['spec']} within {_WALL_LIMIT_S} s (goal {_WALL_GOAL_S} s):"
              f" {_verdict(results[0]['wall_s'], _WALL_LIMIT_S, _WALL_GOAL_S, False)}."]
    return "\n".join(lines)


def _run(arguments: argparse.Namespace) -> int:
    build = chosen_build(arguments.build, ("crossings",))
    facts = describe(build)
    cases, repeats = (_QUICK_CASES, 1) if arguments.quick else (_CASES, _REPEATS)
    results = _measure(build, cases, repeats)
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "crossings", _section(results, facts, repeats))
        say(f"wrote {out}")
    slowest = min(results, key=lambda result: result["crossings_per_cpu_s"])
    print(f"crossings: {slowest['crossings_per_cpu_s'] / 1e6:.2f} million per second at least,"
          f" {results[0]['workload']} on {results[0]['spec']} in {results[0]['wall_s']:.2f} s", flush=True)
    if arguments.quick:
        return 0
    missed = slowest["crossings_per_cpu_s"] < _MIN_RATE or results[0]["wall_s"] > _WALL_LIMIT_S
    return EXIT_MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
