#!/usr/bin/env python3
"""tools/bench.sh multipath: what a flow gains from all of its paths, and that nobody loses by it.

The same work with one path for each flow and with all, in turns, in network namespaces with shaped cables. Started outside a
lab, it runs itself in one lab after the other.
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

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from lab_processes import LabProcess, start_node, wait_for_all
from machine import describe
from multipath_cases import CASES, QUICK_CASES, SMALL, SMALL_SIZES, Case, Topology
from multipath_report import MODES, Result, SmallResult, last_line, missed, section_text
from relay_measurements import say
from release_build import ROOT, chosen_build
from split_port_sysfs import command_that_sees, write_tree
from spread import Spread

_TARGETS = ("cableway", "cablewayd", "collperf", "nccl-net-cableway")
_ROUNDS = 5
_SECONDS = 2.0
_PORT = 29500
_LIMIT_S = 120

_DESCRIPTION = f"""\
Runs {len(CASES)} cases with CABLEWAY_MULTIPATH=off and =all in turn, {_ROUNDS} times each, and small messages.

The last line of standard output is `multipath: NEIGHBOURS OPPOSITE ALL_TO_ALL`: what neighbours one way round, one opposite pair
and all_to_all (busbw) get in a ring of four with all paths, in cables."""

_EPILOG = """\
exit status: 0 measured, all goals met; 1 measured, but a goal was missed; 2 invalid options; 3 not measured;
77 this system cannot run a lab."""

Sample = tuple[str, str, str, float]  # case, mode, size, value


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh multipath", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one round of one opposite pair, as a smoke test: not judged, and not written unless --out is given")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, metavar="N", help=f"rounds (default: {_ROUNDS})")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'multipath' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--samples", type=Path, metavar="FILE",
                        help="keep what is measured in this file after each topology, and do not measure again what it holds:"
                             " a run that was broken"
                             " off goes on, with the same build")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", metavar="TOPOLOGY", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _key(case: Case) -> str:
    return f"{case.topology.name}, {case.name}"


def _cases(arguments: argparse.Namespace) -> tuple[Case, ...]:
    return QUICK_CASES if arguments.quick else (*CASES, SMALL)


def _measure(build: Path, scratch: Path, case: Case, mode: str) -> dict[str, float]:
    """One run of collperf on all nodes, with nodes of its own: the value by size."""
    nodes = case.topology.nodes
    result = scratch / "result.json"
    arguments = [*case.arguments, "--sizes", case.size, "--channels", str(case.channels), "--warmup", "3", "--seconds",
                 str(_SECONDS), "--idle-us", "0" if case is SMALL else "50", "--json", str(result)]
    environment = {"CABLEWAY_LOG": "warning", "CABLEWAY_MULTIPATH": mode}
    address = subprocess.run(["lab", "exec", nodes[0], "--", "printenv", "LAB_NODE_ADDRESS"], capture_output=True,
                             text=True, timeout=60, check=True).stdout.strip()
    daemon = [str(build / "bin/cablewayd")]
    if case.topology.functions:
        write_tree(scratch / "sys", case.topology.functions)
        daemon = command_that_sees(scratch / "sys", daemon)
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(start_node(node, daemon, environment, "").stop)
        ranks = []
        for rank, node in enumerate(nodes):
            command = [str(build / "bin/collperf"), "--plugin", str(build / "lib/libnccl-net-cableway.so"),
                       "--rank", str(rank), "--ranks", str(len(nodes)), "--rendezvous", f"{address}:{_PORT}", *arguments]
            # Where the scheduler puts two ranks that answer each other makes a difference of a half in their latency.
            cpus = str(rank % (os.cpu_count() or 1)) if case is SMALL else ""
            ranks.append(LabProcess(node, command, environment, cpus))
            stack.callback(ranks[-1].stop)
        wait_for_all(ranks, _LIMIT_S, lambda: None)
    report = json.loads(result.read_text(encoding="utf-8"))
    if not report["ok"] or not report["bytes_verified"]:
        raise BenchError(f"{_key(case)}: {report['wrong']} bytes wrong of {report['bytes_verified']} verified")
    field = "p50_us" if case is SMALL else case.counts
    return {size: float(each[field]) for size, each in zip(case.size.split(","), report["results"], strict=True)}


def _read_samples(file: Path) -> list[Sample]:
    """Those that the file holds, none where it does not exist."""
    if not file.exists():
        return []
    try:
        return [(str(case), str(mode), str(size), float(value))
                for case, mode, size, value in json.loads(file.read_text(encoding="utf-8"))]
    except (ValueError, TypeError) as error:
        raise BenchError(f"{file}: not a file of samples: {error}; remove it, or name another one") from error


def _is_measured(case: Case, samples: list[Sample]) -> bool:
    return any(sample[0] == _key(case) for sample in samples)


def _run_in_lab(arguments: argparse.Namespace) -> None:
    """Runs the cases of this lab's topology; adds their samples to the file of results."""
    samples = _read_samples(arguments.results)
    cases = [case for case in _cases(arguments) if case.topology.name == arguments.in_lab and not _is_measured(case, samples)]
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        for turn in range(arguments.rounds):
            for case in cases:
                for mode in MODES:
                    values = _measure(arguments.build, Path(scratch), case, mode)
                    samples += [(_key(case), mode, size, value) for size, value in values.items()]
            say(f"{arguments.in_lab}: round {turn + 1}/{arguments.rounds}")
    arguments.results.write_text(json.dumps(samples), encoding="utf-8")


def _in_lab(topology: Topology, arguments: argparse.Namespace, build: Path, scratch: Path) -> int:
    """Its exit status."""
    file = scratch / "topology.toml"
    file.write_text(topology.text(), encoding="utf-8")
    lab = [topology.spec, "--rate", f"{topology.rate_mbps}mbit"] if topology.spec else [str(file)]
    command = [str(ROOT / "tools/lab/lab"), "run", *lab, "--", sys.executable, __file__, "--in-lab", topology.name,
               "--rounds", str(arguments.rounds), "--results", str(arguments.results), "--build", str(build)]
    return subprocess.run([*command, *(["--quick"] if arguments.quick else [])], check=False).returncode


def _spread(samples: list[Sample], case: Case, mode: str, size: str) -> Spread:
    return Spread(tuple(value for key, its_mode, its_size, value in samples
                        if (key, its_mode, its_size) == (_key(case), mode, size)))


def _run(arguments: argparse.Namespace) -> int:
    if arguments.in_lab:
        _run_in_lab(arguments)
        return 0
    if arguments.rounds < 1:
        raise BenchError("--rounds: expected at least 1")
    build = chosen_build(arguments.build, _TARGETS)
    facts = describe(build)
    cases = _cases(arguments)
    if arguments.quick:
        arguments.rounds = 1
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        arguments.results = arguments.samples or Path(scratch) / "samples.json"
        samples = _read_samples(arguments.results)
        for topology in dict.fromkeys(case.topology for case in cases if not _is_measured(case, samples)):
            if status := _in_lab(topology, arguments, build, Path(scratch)):
                return status
        samples = _read_samples(arguments.results)
    results = [Result(case, {mode: _spread(samples, case, mode, case.size) for mode in MODES})
               for case in cases if case is not SMALL]
    small = None if arguments.quick else SmallResult(
        {mode: {size: _spread(samples, SMALL, mode, size) for size in SMALL_SIZES} for mode in MODES})
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "multipath", section_text(results, small, facts, arguments.rounds))
        say(f"wrote {out}")
    lines = [] if arguments.quick else missed(results, small)
    for line in lines:
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(last_line(results), flush=True)
    return EXIT_MISSED if lines else 0


if __name__ == "__main__":
    os.environ["PATH"] = f"{ROOT / 'tools/lab'}:{os.environ['PATH']}"
    sys.exit(exit_status(lambda: _run(_parse())))
