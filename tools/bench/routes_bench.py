#!/usr/bin/env python3
"""tools/bench.sh routes: measures routes and flow model, writes the results into docs/benchmarks.md, reports whether the
goals are met."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from machine import describe
from relay_measurements import say
from release_build import ROOT, chosen_build
from routes_report import goals, missed, section_text, times_of

_REPETITIONS = 5

_DESCRIPTION = """\
Shortest paths on a torus of 1,024 nodes compared to Boost.Graph's Dijkstra, all its pairs, max-min shares of 100,000
flows, and all failures of one cable, two cables and one node of a torus of 64. One thread, CPU time; takes some minutes."""

_EPILOG = "exit status: 0 measured; 1 measured, but a goal was missed; 2 invalid options; 3 not measured."


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh routes", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="measure once; results are not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'routes' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the program in this build folder (default: build the preset `release` and use it)")
    return parser.parse_args()


def _measure(build: Path, repetitions: int) -> str:
    program = build / "bin/routes_bench"
    if not program.exists():
        raise BenchError(f"'{program}' is not built; build with: cmake --build {build} --target routes_bench")
    command = [str(program), "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
               "--benchmark_enable_random_interleaving=true"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def _run(arguments: argparse.Namespace) -> int:
    build = chosen_build(arguments.build, ("routes_bench",))
    facts = describe(build)
    say("measuring; takes some minutes")
    times = times_of(json.loads(_measure(build, 1 if arguments.quick else _REPETITIONS)))
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "routes", section_text(times, facts))
        say(f"wrote {out}")
    for goal in goals(times):
        print(f"{goal.what}: {goal.found:{goal.form}} (goal: <= {goal.most:g})")
    short = missed(times)
    for line in short:
        say(line)
    return EXIT_MISSED if short else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
