#!/usr/bin/env python3
"""tools/bench.sh failover: how long flows pause when their path dies, and whether anything is lost.

Started outside a lab, it creates one and runs itself in it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # modules that all benchmarks share

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from failover_faults import KINDS
from failover_picture import write_picture
from failover_report import JUDGED_FAULTS, last_line, missed, section, summary
from failover_results import KindResult
from failover_samples import Run, Samples, add_to_file, read_samples
from failover_turns import BLOCK_FAULTS, Turns, next_kind
from machine import PROGRAMS, describe, with_programs
from relay_measurements import say
from release_build import RELEASE_BUILD, ROOT, chosen_build

_TARGETS = ("cablewayd", "collperf", "nccl-net-cableway")
_KIND_NAMES = tuple(kind.name for kind in KINDS)
_CUTS, _QUICK_CUTS = 50, 2
_MOST_CUTS = 100_000
_PICTURE = "failover.svg"

_DESCRIPTION = f"""\
Ends the path that a verified flow uses, by a lost carrier, a killed or stopped relay, and a cable that is silent in
both directions or one, {_CUTS} times each, and measures the time until data arrives another way. Takes some 2 s a fault; use an
otherwise idle machine.

The last line of standard output is `failover: CUTS cuts, LOST lost, p50 MS ms p99 MS ms`."""

_EPILOG = f"""\
exit status: 0 measured; 1 measured, but a flow was lost, bytes were wrong, memory or descriptors grew, or a goal was missed by a
kind with {JUDGED_FAULTS} faults or more; 2 invalid options; 3 not measured; 77 this system cannot run a lab."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tools/bench.sh failover", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuts", type=int, metavar="N", help=f"faults of each kind (default: {_CUTS})")
    parser.add_argument("--seconds", type=float, metavar="S",
                        help="stop after about S seconds, even with fewer faults. The kinds take turns,"
                             f" about {BLOCK_FAULTS} faults each")
    parser.add_argument("--samples", type=Path, metavar="FILE",
                        help="add to the measurements that this file keeps until it has N faults of each kind, and keep them"
                             " after each turn: a run that was broken off goes on, and runs of the same programs add up,"
                             " those at the same time included")
    parser.add_argument("--kinds", metavar="A,B", default=",".join(_KIND_NAMES), help="only these (default: %(default)s)")
    parser.add_argument("--quick", action="store_true",
                        help=f"{_QUICK_CUTS} faults of each kind as a smoke test: not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help=f"write the section 'failover' of this file, and {_PICTURE} beside it"
                             " (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", action="store_true", help=argparse.SUPPRESS)
    return parser


def _parse() -> argparse.Namespace:
    parser = _parser()
    arguments = parser.parse_args()
    names = [name for name in arguments.kinds.split(",") if name]
    for name in names:
        if name not in _KIND_NAMES:
            parser.error(f"--kinds: no kind '{name}'; there are {', '.join(_KIND_NAMES)}")
    if not names:
        parser.error("--kinds: none is named")
    if arguments.cuts is not None and not 1 <= arguments.cuts <= _MOST_CUTS:
        parser.error(f"--cuts: 1 to {_MOST_CUTS}")
    if arguments.seconds is not None and not arguments.seconds > 0:
        parser.error("--seconds: more than 0")
    arguments.kinds = [kind for kind in KINDS if kind.name in names]
    arguments.cuts = arguments.cuts or (_QUICK_CUTS if arguments.quick else _CUTS)
    return arguments


def _enter_lab() -> None:
    lab = str(ROOT / "tools/lab/lab")
    arguments = ["run", "ring:4", "--rate", "500mbit", "--", sys.executable, __file__, "--in-lab", *sys.argv[1:]]
    os.execv(lab, [lab, *arguments])


def _checked_build(arguments: argparse.Namespace) -> Path:
    if arguments.in_lab:
        return (arguments.build or RELEASE_BUILD).resolve()
    build = chosen_build(arguments.build, _TARGETS)
    if absent := [str(build / name) for name in PROGRAMS if not (build / name).exists()]:
        raise BenchError(f"not built: {', '.join(absent)}; build with: cmake --build {build}")
    return build


def _kept(path: Path | None, facts: dict[str, str]) -> Samples:
    if path is None:
        return Samples()
    samples = read_samples(path)
    samples.check_adds_up(facts, path)
    return samples


def _measured(arguments: argparse.Namespace, build: Path, samples: Samples, facts: dict[str, str]) -> Samples:
    def keep(run: Run, block: KindResult | None, broken_off: str | None) -> Samples:
        if arguments.samples is not None:
            return add_to_file(arguments.samples, run, block, broken_off)
        samples.add(run, block, broken_off)
        return samples

    return Turns(build, arguments.kinds, Run(facts, time.time()), keep, say).take(arguments.cuts, arguments.seconds)


def _report(arguments: argparse.Namespace, samples: Samples) -> int:
    results = samples.results
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_picture(out.with_name(_PICTURE), results.in_order())
        write_section(out, "failover", section(samples, _PICTURE))
        say(f"wrote {out}")
    print("\n".join(summary(results.in_order())))
    problems = missed(samples)
    for line in problems:
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(last_line(results.in_order()), flush=True)
    return EXIT_MISSED if problems else 0


def _run(arguments: argparse.Namespace) -> int:
    build = _checked_build(arguments)
    facts = with_programs(describe(build), build)
    samples = _kept(arguments.samples, facts)
    if next_kind(arguments.kinds, samples.results, arguments.cuts) is not None:
        if not arguments.in_lab:
            _enter_lab()
        samples = _measured(arguments, build, samples, facts)
    return _report(arguments, samples)


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
