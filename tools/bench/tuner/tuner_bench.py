#!/usr/bin/env python3
"""tools/bench.sh tuner: the tuner's choice of ring or tree for an all_reduce beside the best one, by size, on rings and a line.

Started outside a lab, it runs itself in a lab for each cabling.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_error import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from lab_processes import LabProcess, start_node, wait_for_all
from machine import describe, with_programs
from relay_measurements import say
from release_build import ROOT, chosen_build
from tuner_report import Case, Measured, chosen, last_line, missed, section_text, tree_sizes

_TARGETS = ("cablewayd", "collperf", "nccl-net-cableway")
_CASES = (Case("ring", 3), Case("line", 4), Case("ring", 4), Case("ring", 6))
_SIZES = ("8", "1K", "4K", "16K", "64K", "256K", "512K", "1M", "2M", "4M", "8M")
_QUICK_SIZES = ("8", "64K")
_ALGORITHMS = ("ring", "tree")
_ROUNDS = 3
_SECONDS = 0.2  # of each algorithm, size and round
_PORT = 29500
_LIMIT_S = 900
_PASSED_ON = (77, EXIT_INTERRUPTED)  # exit statuses of a lab
# A node that waits for its processor must not count its cables as silent.
_ENVIRONMENT = {"CABLEWAY_LOG": "warning", "CABLEWAY_PULSE_MS": "0", "CABLEWAY_HOLD_MS": "5000"}

_DESCRIPTION = """\
Compares the tuner's choice with the best of ring and tree on rings of 3, 4 and 6 and a line of 4, with collperf.

The last line of standard output is `tuner: N of M choices within 1.05 of the best; worst RATIO, CABLING SIZE`."""

_EPILOG = """\
exit status: 0 measured, all goals met; 1 measured, but a goal was missed; 2 invalid options; 3 not measured;
77 this system cannot run a lab."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh tuner", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one round of two sizes on the ring of 3, as a smoke test: not judged, and not written unless"
                             " --out is given")
    parser.add_argument("--only", default="", metavar="CABLING",
                        help="the cablings that begin so, such as line or ring:4: not written unless --out is given")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, metavar="N", help=f"rounds (default: {_ROUNDS})")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'tuner' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", type=int, metavar="NODES", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_in_lab(arguments: argparse.Namespace) -> None:
    """One job, whose ranks run ring and tree in turn; writes collperf's report to the file of results."""
    build: Path = arguments.build
    nodes = [f"n{node}" for node in range(arguments.in_lab)]
    workloads = [f"all_reduce,{algorithm}" for _ in range(arguments.rounds) for algorithm in _ALGORITHMS]
    sizes = ",".join(_QUICK_SIZES if arguments.quick else _SIZES)
    address = subprocess.run(["lab", "exec", nodes[0], "--", "printenv", "LAB_NODE_ADDRESS"], capture_output=True,
                             text=True, timeout=60, check=True).stdout.strip()
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(start_node(node, [str(build / "bin/cablewayd")], _ENVIRONMENT, "").stop)
        ranks = []
        for rank, node in enumerate(nodes):
            command = [str(build / "bin/collperf"), "--plugin", str(build / "lib/libnccl-net-cableway.so"), "--rank", str(rank),
                       "--ranks", str(len(nodes)), "--rendezvous", f"{address}:{_PORT}", "--workload", *workloads, "--sizes",
                       sizes, "--channels", "4", "-w", "1", "--seconds", str(_SECONDS), "--idle-us", "200", "--json",
                       str(arguments.results)]
            ranks.append(LabProcess(node, command, _ENVIRONMENT))
            stack.callback(ranks[-1].stop)
        wait_for_all(ranks, _LIMIT_S, lambda: None)


def _measure(case: Case, arguments: argparse.Namespace, build: Path) -> list[Measured]:
    rows = tree_sizes((ROOT / "nccl_adapter/algorithm/tree_sizes.h").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        results = Path(scratch, "results.json")
        command = [str(ROOT / "tools/lab/lab"), "run", case.shape, "--rate", "200mbit", "--delay", "5ms", "--burst", "16KiB",
                   "--", sys.executable, __file__, "--in-lab", str(case.nodes), "--rounds", str(arguments.rounds), "--results",
                   str(results), "--build", str(build)]
        status = subprocess.run([*command, *(["--quick"] if arguments.quick else [])], check=False).returncode
        if status:
            raise BenchError(f"{case.shape}: not measured, as its lab ended with status {status}",
                             status if status in _PASSED_ON else EXIT_FAILED)
        report = json.loads(results.read_text(encoding="utf-8"))
    if not report["ok"] or not report["bytes_verified"]:
        raise BenchError(f"{case.shape}: {report['wrong']} bytes wrong of {report['bytes_verified']} verified")
    times: dict[int, dict[str, float]] = {}
    for each in report["results"]:
        least = times.setdefault(int(each["size_bytes"]), {})
        least[each["variant"]] = min(least.get(each["variant"], float("inf")), float(each["p50_us"]))
    return [Measured(case, size, by_algorithm, chosen(rows, case, size)) for size, by_algorithm in times.items()]


def _run(arguments: argparse.Namespace) -> int:
    if arguments.in_lab:
        _run_in_lab(arguments)
        return 0
    if arguments.rounds < 1:
        raise BenchError("--rounds: expected at least 1")
    cases = [case for case in (_CASES[:1] if arguments.quick else _CASES) if case.shape.startswith(arguments.only)]
    if not cases:
        raise BenchError(f"--only: no cabling begins with '{arguments.only}'; there are: "
                         + ", ".join(case.shape for case in _CASES))
    if arguments.quick:
        arguments.rounds = 1
    build = chosen_build(arguments.build, _TARGETS)
    facts = with_programs(describe(build), build)  # with the load before the labs
    results: list[Measured] = []
    failures: list[BenchError] = []
    for case in cases:
        try:
            results += _measure(case, arguments, build)
            say(f"{case.shape}: measured")
        except BenchError as error:  # what the others give is kept
            failures.append(error)
            say(str(error))
    if not results:
        raise failures[0]
    out = arguments.out or (None if arguments.quick or arguments.only else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "tuner", section_text(results, facts, arguments.rounds))
        say(f"wrote {out}")
    lines = [] if arguments.quick else missed(results)
    for line in lines:
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(last_line(results), flush=True)
    if failures:
        raise failures[0]
    return EXIT_MISSED if lines else 0


if __name__ == "__main__":
    os.environ["PATH"] = f"{ROOT / 'tools/lab'}:{os.environ['PATH']}"
    sys.exit(exit_status(lambda: _run(_parse())))
