#!/usr/bin/env python3
"""tools/bench.sh failover: how long flows pause when their path dies, and whether anything is lost.

Started outside a lab, it creates one and runs itself in it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what all benchmarks share

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from failover_faults import KINDS
from failover_lab import FailoverLab
from failover_measurements import KindResult, KindRunner
from failover_picture import write_picture
from failover_report import last_line, missed, section, summary
from machine import describe
from relay_measurements import say
from release_build import RELEASE_BUILD, ROOT, chosen_build

_TARGETS = ("cablewayd", "cableway", "collperf", "nccl-net-cableway")
_KIND_NAMES = tuple(kind.name for kind in KINDS)
_CUTS, _QUICK_CUTS = 50, 2
_PICTURE = "failover.svg"

_DESCRIPTION = f"""\
Ends the path that a verified flow uses, by a lost carrier, a killed or stopped relay, and a cable that is silent in
both directions or one, {_CUTS} times each, and measures the time until data arrives another way. Takes half an hour; use an otherwise idle machine.

The last line of standard output is `failover: CUTS cuts, LOST lost, p50 MS ms p99 MS ms`."""

_EPILOG = """\
exit status: 0 measured; 1 measured, but a flow was lost, bytes were wrong, or memory or descriptors grew; 2 invalid options;
3 not measured; 77 this system cannot run a lab."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh failover", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, metavar="N", help=f"faults of each kind (default: {_CUTS})")
    parser.add_argument("--kinds", metavar="A,B", default=",".join(_KIND_NAMES), help="only these (default: %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help=f"{_QUICK_CUTS} faults of each kind as a smoke test: not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help=f"write the section 'failover' of this file, and {_PICTURE} beside it"
                             " (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.kinds = [name for name in arguments.kinds.split(",") if name]
    for name in arguments.kinds:
        if name not in _KIND_NAMES:
            parser.error(f"--kinds: no kind '{name}'; there are {', '.join(_KIND_NAMES)}")
    if not arguments.kinds:
        parser.error("--kinds: none is named")
    if arguments.cuts is not None and not 1 <= arguments.cuts <= 100_000:
        parser.error("--cuts: 1 to 100000")
    return arguments


def _enter_lab() -> None:
    lab = str(ROOT / "tools/lab/lab")
    arguments = ["run", "ring:4", "--rate", "500mbit", "--", sys.executable, __file__, "--in-lab", *sys.argv[1:]]
    os.execv(lab, [lab, *arguments])


def _measure(arguments: argparse.Namespace, build: Path) -> list[KindResult]:
    results = []
    for kind in KINDS:
        if kind.name in arguments.kinds:
            cuts = arguments.cuts or (_QUICK_CUTS if arguments.quick else _CUTS)
            with FailoverLab(build) as lab, tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
                results.append(KindRunner(lab, kind, cuts, Path(scratch), say).run())
    return results


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.in_lab:
        build = chosen_build(arguments.build, _TARGETS)
        needed = (*(build / "bin" / name for name in _TARGETS[:3]), build / "lib/libnccl-net-cableway.so")
        if absent := [str(path) for path in needed if not path.exists()]:
            raise BenchError(f"not built: {', '.join(absent)}; build with: cmake --build {build}")
        _enter_lab()
    build = (arguments.build or RELEASE_BUILD).resolve()
    facts = describe(build)
    results = _measure(arguments, build)
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_picture(out.with_name(_PICTURE), results)
        write_section(out, "failover", section(results, facts, _PICTURE))
        say(f"wrote {out}")
    print("\n".join(summary(results)))
    problems = missed(results)
    for line in problems:
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(last_line(results), flush=True)
    return EXIT_MISSED if problems else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
