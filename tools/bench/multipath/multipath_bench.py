#!/usr/bin/env python3
"""tools/bench.sh multipath: what a flow gains from all of its paths, and that no other flow loses by it.

The same work with one path for each flow and with all, in turns, in network namespaces with shaped cables. Started outside a
lab, it runs itself in a lab for each case.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_error import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from lab_processes import LabProcess, start_node, wait_for_all
from machine import PROGRAMS, describe, with_programs
from multipath_cases import AGAIN, BEFORE, CASES, QUICK_CASES, SMALL, SMALL_SIZES, Case
from multipath_report import MODES, Result, SmallResult, last_line, missed, section_text
from multipath_samples import Sample, Samples, case_key, read_samples, write_samples
from relay_measurements import say
from release_build import ROOT, chosen_build
from split_port_sysfs import command_that_sees, write_tree

_TARGETS = ("cableway", "cablewayd", "collperf", "nccl-net-cableway")
_ROUNDS = 5
_PORT = 29500
_LIMIT_S = 120
_PASSED_ON = (77, EXIT_INTERRUPTED)  # exit statuses of a lab

_DESCRIPTION = f"""\
Runs {len(CASES)} cases with CABLEWAY_MULTIPATH=off and =all in turn, {_ROUNDS} times each, and small messages {SMALL.often} times as often,\nand with =off again as a control.

The last line of standard output is `multipath: NEIGHBOURS OPPOSITE ALL_TO_ALL`: what neighbours one way round, one opposite pair
and all_to_all (busbw) get in a ring of four with all paths, in cables."""

_EPILOG = """\
exit status: 0 measured, all goals met; 1 measured, but a goal was missed; 2 invalid options; 3 not measured;
77 this system cannot run a lab."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh multipath", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one round of one opposite pair, as a smoke test: not judged, and not written unless --out is given")
    parser.add_argument("--only", default="", metavar="WORDS",
                        help="the cases with these words in their names, such as 'ring of 6': not written unless --out is given")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, metavar="N", help=f"rounds (default: {_ROUNDS})")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'multipath' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--samples", type=Path, metavar="FILE",
                        help="keep what is measured in this file after each case, and do not measure again what it holds: a run"
                             " that was broken off goes on, with the same programs")
    parser.add_argument("--labs", type=int, default=1, metavar="N",
                        help="measure N cases at a time (default: 1), on a machine with three processors for each; those that"
                             " are limited by processors are measured alone, small messages in N labs")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", metavar="CASE", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first-cpu", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.quick and arguments.only:
        parser.error("--quick measures one case: give it or --only")
    return arguments


def _cases(arguments: argparse.Namespace) -> tuple[Case, ...]:
    return QUICK_CASES if arguments.quick else tuple(case for case in (*CASES, SMALL) if arguments.only in case_key(case))


def _environment(mode: str) -> dict[str, str]:
    return {"CABLEWAY_LOG": "warning", "CABLEWAY_MULTIPATH": "off" if mode == AGAIN else mode}


def _start_nodes(build: Path, scratch: Path, case: Case, mode: str, stack: ExitStack) -> None:
    """A cablewayd on each node, until the stack is closed."""
    daemon = [str(build / "bin/cablewayd")]
    if case.topology.functions:
        write_tree(scratch / "sys", case.topology.functions)
        daemon = command_that_sees(scratch / "sys", daemon)
    for node in case.topology.nodes:
        stack.callback(start_node(node, daemon, _environment(mode), "").stop)


def _run_job(arguments: argparse.Namespace, scratch: Path, case: Case, mode: str) -> dict[str, float]:
    """One run of collperf on all nodes: the value by size."""
    build: Path = arguments.build
    nodes = case.topology.nodes
    result = scratch / "result.json"
    options = [*case.arguments, "--sizes", case.size, "--channels", str(case.channels), "-w", "3", "--seconds",
               str(case.seconds), "--idle-us", "0" if case is SMALL else "50", "--json", str(result)]
    address = subprocess.run(["lab", "exec", nodes[0], "--", "printenv", "LAB_NODE_ADDRESS"], capture_output=True,
                             text=True, timeout=60, check=True).stdout.strip()
    with ExitStack() as stack:
        ranks = []
        for rank, node in enumerate(nodes):
            command = [str(build / "bin/collperf"), "--plugin", str(build / "lib/libnccl-net-cableway.so"),
                       "--rank", str(rank), "--ranks", str(len(nodes)), "--rendezvous", f"{address}:{_PORT}", *options]
            # The scheduler's placement of two ranks that answer each other changes their latency by a half.
            cpus = str((arguments.first_cpu + rank) % (os.cpu_count() or 1)) if case is SMALL else ""
            ranks.append(LabProcess(node, command, _environment(mode), cpus))
            stack.callback(ranks[-1].stop)
        wait_for_all(ranks, _LIMIT_S, lambda: None)
    report = json.loads(result.read_text(encoding="utf-8"))
    if not report["ok"] or not report["bytes_verified"]:
        raise BenchError(f"{case_key(case)}: {report['wrong']} bytes wrong of {report['bytes_verified']} verified")
    field = "p50_us" if case is SMALL else case.counts
    sizes = case.size.split(",")
    if case is SMALL:
        sizes[0] = BEFORE
    return {size: float(each[field]) for size, each in zip(sizes, report["results"], strict=True)}


def _measure(arguments: argparse.Namespace, scratch: Path, case: Case, mode: str) -> dict[str, float]:
    """One run of collperf, with nodes of its own."""
    with ExitStack() as stack:
        _start_nodes(arguments.build, scratch, case, mode, stack)
        return _run_job(arguments, scratch, case, mode)


def _run_in_lab(arguments: argparse.Namespace) -> None:
    """Measures the case; writes its samples to the file of results."""
    samples: list[Sample] = []
    case = next(each for each in _cases(arguments) if case_key(each) == arguments.in_lab)
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch, ExitStack() as stack:
        # Jobs read CABLEWAY_MULTIPATH, nodes do not: one set of nodes serves all jobs of small messages, which are short.
        if case is SMALL:
            _start_nodes(arguments.build, Path(scratch), case, "all", stack)
        measure = _run_job if case is SMALL else _measure
        for turn in range(arguments.rounds * case.often):
            for mode in case.modes:
                values = measure(arguments, Path(scratch), case, mode)
                samples += [(case_key(case), mode, size, value) for size, value in values.items()]
            say(f"{case_key(case)}: round {turn + 1}/{arguments.rounds * case.often}")
    arguments.results.write_text(json.dumps(samples), encoding="utf-8")


def _in_lab(case: Case, arguments: argparse.Namespace, build: Path, first_cpu: int = 0) -> list[Sample]:
    topology = case.topology
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        file, results = Path(scratch, "topology.toml"), Path(scratch, "results.json")
        file.write_text(topology.text(), encoding="utf-8")
        lab = [topology.spec, "--rate", f"{topology.rate_mbps}mbit"] if topology.spec else [str(file)]
        command = [str(ROOT / "tools/lab/lab"), "run", *lab, "--", sys.executable, __file__, "--in-lab", case_key(case),
                   "--rounds", str(arguments.rounds), "--results", str(results), "--build", str(build),
                   "--first-cpu", str(first_cpu)]
        status = subprocess.run([*command, *(["--quick"] if arguments.quick else [])], check=False).returncode
        if status:
            raise BenchError(f"{case_key(case)}: not measured, as its lab ended with status {status}",
                             status if status in _PASSED_ON else EXIT_FAILED)
        return [(key, mode, size, value) for key, mode, size, value in json.loads(results.read_text(encoding="utf-8"))]


def _measure_at_once(cases: list[Case], at_once: int, arguments: argparse.Namespace, build: Path, samples: Samples) -> None:
    """Measures the cases at the same time. If one fails, the measurements of the others are kept, and no further case
    starts."""
    failures: list[BaseException] = []
    with ThreadPoolExecutor(at_once) as pool:
        running = [pool.submit(_in_lab, case, arguments, build) for case in cases]
        try:
            for done in as_completed(running):
                if done.cancelled():
                    continue
                if (error := done.exception()) is not None:
                    failures.append(error)
                    for each in running:
                        each.cancel()
                    continue
                samples.values += done.result()
                if arguments.samples:
                    write_samples(arguments.samples, samples)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if failures:
        raise failures[0]


def _measure_small(labs: int, arguments: argparse.Namespace, build: Path, samples: Samples) -> None:
    """Measures small messages in so many labs at the same time. Each has a processor for each of its ranks. Keeps all of the
    measurements or none: a file that holds those of some labs would look complete."""
    with ThreadPoolExecutor(labs) as pool:
        found = list(pool.map(lambda lab: _in_lab(SMALL, arguments, build, lab * len(SMALL.topology.nodes)), range(labs)))
    samples.values += itertools.chain.from_iterable(found)
    samples.labs = max(samples.labs, labs)
    if arguments.samples:
        write_samples(arguments.samples, samples)


def _measure_all(cases: list[Case], arguments: argparse.Namespace, build: Path, samples: Samples) -> None:
    """Adds to the samples, and writes them to the given file after each case."""
    together = [case for case in cases if not case.alone]
    small_labs = min(arguments.labs, max(1, (os.cpu_count() or 1) // len(SMALL.topology.nodes)))
    samples.labs = max(samples.labs, min(arguments.labs, len(together)))
    _measure_at_once(together, arguments.labs, arguments, build, samples)
    _measure_at_once([case for case in cases if case.alone and case is not SMALL], 1, arguments, build, samples)
    if SMALL in cases:
        _measure_small(small_labs, arguments, build, samples)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.in_lab:
        _run_in_lab(arguments)
        return 0
    for name, value in (("--rounds", arguments.rounds), ("--labs", arguments.labs)):
        if value < 1:
            raise BenchError(f"{name}: expected at least 1")
    cases = _cases(arguments)
    if not cases:
        raise BenchError(f"--only: no case has '{arguments.only}' in its name; there are: "
                         + "; ".join(case_key(case) for case in (*CASES, SMALL)))
    build = chosen_build(arguments.build, _TARGETS)
    if absent := [str(build / name) for name in PROGRAMS if not (build / name).exists()]:
        raise BenchError(f"missing: {', '.join(absent)}")
    facts = with_programs(describe(build), build)
    if arguments.quick:
        arguments.rounds = 1
    samples = read_samples(arguments.samples, facts) if arguments.samples else Samples(facts)
    _measure_all([case for case in cases if not samples.has(case)], arguments, build, samples)
    results = [Result(case, {mode: samples.spread(case, mode, case.size) for mode in MODES})
               for case in cases if case is not SMALL]
    small = None if SMALL not in cases else SmallResult(
        {mode: {size: samples.spread(SMALL, mode, size) for size in (BEFORE, *SMALL_SIZES)} for mode in SMALL.modes})
    out = arguments.out or (None if arguments.quick or arguments.only else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "multipath", section_text(results, small, samples.described(), samples.rounds()))
        say(f"wrote {out}")
    lines = [] if arguments.quick else missed(results, small)
    for line in [*([] if small is None else small.lines()), *lines]:
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(last_line(results), flush=True)
    return EXIT_MISSED if lines else 0


if __name__ == "__main__":
    os.environ["PATH"] = f"{ROOT / 'tools/lab'}:{os.environ['PATH']}"
    sys.exit(exit_status(lambda: _run(_parse())))
