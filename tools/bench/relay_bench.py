#!/usr/bin/env python3
"""tools/bench.sh relay: measures the cost of relays, writes it into docs/benchmarks.md, reports whether the goals are met.

Started outside a lab, it creates one and runs itself in it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench_error import EXIT_MISSED, exit_status
from benchmarks_file import write_section
from machine import describe
from pair_run import Builds, PairRunner
from relay_measurements import Plan, measure, say
from relay_report import missed_ratios, ratio_line, section_text, summary_text
from release_build import RELEASE_BUILD, ROOT, chosen_build

_TARGETS = ("cablewayd", "collperf", "nccl-net-cableway")
_FULL = Plan(repeats=5, throughput_s=5, latency_s=1, idle_s=3)
_QUICK = Plan(repeats=1, throughput_s=1, latency_s=0.2, idle_s=0.5)

_DESCRIPTION = """\
Sends 4 MiB messages, 8 in flight, down a line of five nodes: from the first to its neighbour (direct) and through one,
two and three relays, on cables of 1 Gbit/s. Then without a rate limit, compared to the kernel's IP forwarding:
throughput and CPU time per byte through one relay or router, and the latency of 8 bytes through one to three. The
results are medians of five interleaved rounds. Takes about ten minutes; use an otherwise idle machine.

The last line of standard output is `relay: 1.000 R1 R2 R3`: throughput through 1, 2 and 3 relays as a share of
direct throughput."""

_EPILOG = """\
exit status: 0 measured; 1 measured, but R1 < 0.99 or R3 < 0.98; 2 invalid options; 3 not measured; 77 this system cannot run
a lab."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh relay", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one short round as a smoke test: not judged, and not written unless"
                             " --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'relay' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _enter_lab() -> None:
    lab = str(ROOT / "tools/lab/lab")
    arguments = ["run", "line:5", "--rate", "1gbit", "--forwarding", "--",
                 sys.executable, __file__, "--in-lab", *sys.argv[1:]]
    os.execv(lab, [lab, *arguments])


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.in_lab:
        Builds(chosen_build(arguments.build, _TARGETS)).check()
        _enter_lab()
    builds = Builds((arguments.build or RELEASE_BUILD).resolve())
    facts = describe(builds.folder)
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        measurements = measure(PairRunner(builds, Path(scratch)), _QUICK if arguments.quick else _FULL)
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "relay", section_text(measurements, facts))
        say(f"wrote {out}")
    if measurements.machine_was_busy():
        say("WARNING: the machine was busy with other work, so these results are not meaningful")
    print(summary_text(measurements))
    missed = [] if arguments.quick else missed_ratios(measurements)
    for line in missed:
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(ratio_line(measurements), flush=True)
    return EXIT_MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
