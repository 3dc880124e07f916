#!/usr/bin/env python3
"""tools/bench.sh verbs: measures RDMA hops on soft-RoCE, writes the results into docs/benchmarks.md, reports whether the
goals are met.

Started outside a lab, it creates two, one after the other, and runs itself in them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_error import EXIT_FAILED, EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from machine import describe
from relay_measurements import say
from release_build import ROOT, chosen_build
from verbs_measurements import LINE_MBPS, RING_MBPS, Plan, Rates, measure_line, measure_ring
from verbs_report import goals, missed_goals, ratio_line, section_text

_TARGETS = ("cablewayd", "cableway", "collperf", "nccl-net-cableway")
_PROGRAMS = ("bin/cablewayd", "bin/cableway", "bin/collperf", "lib/libnccl-net-cableway.so")
_FULL = Plan(repeats=3, seconds=15)
_QUICK = Plan(repeats=1, seconds=6)
_LABS = {"line": ["line:4", "--rate", f"{LINE_MBPS}mbit", "--forwarding"], "ring": ["ring:4", "--rate", f"{RING_MBPS}mbit"]}
_UNAVAILABLE = 77

_DESCRIPTION = """\
Down a line of four emulated machines with soft-RoCE, on cables of 40 Mbit/s: perftest's ib_write_bw on one cable, and
collperf on the same cable and through one and two relays; for comparison, ib_write_bw through forwarding kernels. Then
a ring of four, every cable busy one way and both ways. Takes a quarter of an hour; use an otherwise idle machine.

The last line of standard output is `verbs: D R1 R2`: direct throughput as a share of ib_write_bw's, and throughput
through one and two relays as a share of direct throughput."""

_EPILOG = """\
exit status: 0 measured; 1 measured, but a goal was missed; 2 invalid options; 3 not measured; 77 this system cannot run
guests."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh verbs", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one short round as a smoke test: not judged, and not written unless"
                             " --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'verbs' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", choices=_LABS, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_in_lab(arguments: argparse.Namespace, plan: Plan) -> None:
    measure = measure_line if arguments.in_lab == "line" else measure_ring
    measure(arguments.build, plan).save(arguments.results)


def _measure(name: str, build: Path, scratch: Path, quick: bool) -> Rates | int:
    """Measures in a new lab; returns the rates, or the lab's exit status if it failed."""
    results = scratch / f"{name}.json"
    command = [sys.executable, __file__, "--in-lab", name, "--results", str(results), "--build", str(build)]
    done = subprocess.run([ROOT / "tools/lab/softroce", "run", *_LABS[name], "--", *command, *["--quick"] * quick],
                          check=False)
    if done.returncode != 0:
        return _UNAVAILABLE if done.returncode == _UNAVAILABLE else EXIT_FAILED
    return Rates.load(results)


def _check(build: Path) -> None:
    if missing := [str(build / program) for program in _PROGRAMS if not (build / program).exists()]:
        raise BenchError(f"not built: {', '.join(missing)}; build with: cmake --build {build}")


def _run(arguments: argparse.Namespace) -> int:
    plan = _QUICK if arguments.quick else _FULL
    if arguments.in_lab:
        _run_in_lab(arguments, plan)
        return 0
    build = chosen_build(arguments.build, _TARGETS)
    _check(build)
    facts = describe(build)
    found = []
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        for name in _LABS:
            rates = _measure(name, build, Path(scratch), arguments.quick)
            if isinstance(rates, int):
                return rates
            found.append(rates)
    line, ring = found
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "verbs", section_text(line, ring, facts, plan))
        say(f"wrote {out}")
    for goal in goals(line, ring):
        print(f"{goal.what}: {goal.found:.3f} (goal: >= {goal.least})")
    missed = [] if arguments.quick else missed_goals(line, ring)
    for text in missed:
        say(text)
    print(ratio_line(line), flush=True)
    return EXIT_MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
