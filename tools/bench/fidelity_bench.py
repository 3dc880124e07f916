#!/usr/bin/env python3
"""tools/bench.sh fidelity: how accurate the simulator is.

The same workloads on the same topologies, predicted by `cableway sim` and measured with collperf over the plugin in network
namespaces with shaped cables. Started outside a lab, it runs itself in one lab after the other.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from fidelity_report import Case, missed_goals, section_text, summary_line
from lab_processes import LabProcess, start_node, wait_for_all
from machine import describe
from relay_measurements import say
from release_build import ROOT, chosen_build

_TARGETS = ("cableway", "cablewayd", "collperf", "nccl-net-cableway")
_SPECS = ("ring:4", "line:4", "star:4", "mesh:4", "torus:2x3")
_RATE_MBPS = 200  # two cores copy for all nodes of a lab: the cables must be the limit, not the cores
_BURST = "32KiB"   # of a cable's shaping; the lab's default of 128 KiB would let an idle cable catch up for 5 ms
_MTU = 9000       # as in the lab
_CHUNK = "16KiB"  # relays over TCP forward a chunk while it arrives, a few packets at a time
_ROUNDS = 5
_PORT = 29500
_LIMIT_S = 120


@dataclass(frozen=True)
class _Size:
    mebibytes: int
    warm_up: int
    operations: int  # timed ones of a run; consecutive ones may overlap, both measured and predicted

    def __str__(self) -> str:
        return f"{self.mebibytes}MiB"


# The smaller size has more: with few messages, TCP's behaviour varies between operations.
_SIZES = (_Size(1, warm_up=4, operations=16), _Size(8, warm_up=1, operations=4))

# Without their sizes, as collperf takes them.
_WORKLOADS = ("all_reduce,ring", "all_reduce,tree", "all_gather", "reduce_scatter", "broadcast", "all_to_all",
              "sendrecv,opposite", "sendrecv,neighbour")

_DESCRIPTION = f"""\
Runs {len(_WORKLOADS)} workloads of {' and '.join(map(str, _SIZES))} on {', '.join(_SPECS)} with cables of {_RATE_MBPS}
Mbit/s, {_ROUNDS} times each, and compares the median time of an operation with the one that `cableway sim` predicts.

The last line of standard output is `fidelity: MEDIAN WORST CASES`: the median and the worst error of the cases that are
limited by their cables, and their number. The section defines that and shows the other cases, too."""

_EPILOG = """\
exit status: 0 measured; 1 measured, but the median error is above 5 %, the worst above 12 %, or fewer than 30 cases are
limited by their cables; 2 invalid options; 3 not measured; 77 this system cannot run a lab."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh fidelity", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one round on ring:4, as a smoke test: not judged, and not written unless --out is" " given")
    parser.add_argument("--topology", choices=_SPECS, metavar="SPEC",
                        help="measure this topology only: not judged, and not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'fidelity' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", metavar="SPEC", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _predict(build: Path, spec: str, workload: str, size: _Size) -> tuple[float, float]:
    """Seconds of one operation, and the minimum that the busiest direction of a cable needs for its bytes."""
    operation, _, variant = workload.partition(",")
    text = f"{operation}:{size}" + (f",{variant}" if variant else "")
    command = [str(build / "bin/cableway"), "sim", "--topology", f"{spec}@{_RATE_MBPS}Mbit/s", "--workload", text,
               "--mtu", str(_MTU), "--multipath", "off", "--chunk", _CHUNK, "--repeat", str(size.operations), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    prediction = json.loads(done.stdout)
    least_s = prediction["hottest"]["bytes"] * 8 / (_RATE_MBPS * 1e6) / size.operations
    return float(prediction["time_s"]), least_s


def _measure(build: Path, scratch: Path, workload: str, size: _Size) -> float:
    """One run of collperf on all nodes: seconds of one operation."""
    nodes = os.environ["LAB_NODES"].split()
    result = scratch / "result.json"
    arguments = ["--sizes", f"{size.mebibytes}M", "-w", str(size.warm_up), "--iters", str(size.operations),
                 "--idle-us", "50", "--json", str(result), "--workload", workload]
    address = subprocess.run(["lab", "exec", nodes[0], "--", "printenv", "LAB_NODE_ADDRESS"], capture_output=True,
                             text=True, timeout=60, check=True).stdout.strip()
    with ExitStack() as stack:
        ranks = []
        for rank, node in enumerate(nodes):
            command = [str(build / "bin/collperf"), "--plugin", str(build / "lib/libnccl-net-cableway.so"),
                       "--rank", str(rank), "--ranks", str(len(nodes)), "--rendezvous", f"{address}:{_PORT}", *arguments]
            ranks.append(LabProcess(node, command, {"CABLEWAY_LOG": "warning", "CABLEWAY_MULTIPATH": "off"}))
            stack.callback(ranks[-1].stop)
        wait_for_all(ranks, _LIMIT_S, lambda: None)
    report = json.loads(result.read_text(encoding="utf-8"))
    if not report["ok"] or not report["bytes_verified"]:
        raise BenchError(f"{workload} of {size}: {report['wrong']} bytes wrong of {report['bytes_verified']} verified")
    return float(report["results"][0]["time_us"]) / 1e6


def _run_in_lab(arguments: argparse.Namespace, build: Path) -> None:
    """Runs all workloads in the current lab; adds its cases to the file of results."""
    cases = json.loads(arguments.results.read_text(encoding="utf-8")) if arguments.results.exists() else []
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch, ExitStack() as stack:
        for node in os.environ["LAB_NODES"].split():
            stack.callback(start_node(node, [str(build / "bin/cablewayd")], {"CABLEWAY_LOG": "warning"}, "").stop)
        measured: dict[tuple[str, _Size], list[float]] = {each: [] for each in itertools.product(_WORKLOADS, _SIZES)}
        for turn in range(arguments.rounds):
            for (workload, size), seconds in measured.items():
                seconds.append(_measure(build, Path(scratch), workload, size))
            say(f"{arguments.in_lab}: round {turn + 1}/{arguments.rounds}")
    for (workload, size), seconds in measured.items():
        predicted_s, least_s = _predict(build, arguments.in_lab, workload, size)
        cases.append(asdict(Case(arguments.in_lab, workload, str(size), predicted_s, least_s, seconds)))
    arguments.results.write_text(json.dumps(cases), encoding="utf-8")


def _cables_text() -> str:
    return f"{_RATE_MBPS} Mbit/s (bursts of {_BURST})"


def _means_text() -> str:
    return ", or ".join(f"{size.operations} operations of {size} after {size.warm_up} to warm up" for size in _SIZES)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.in_lab:
        _run_in_lab(arguments, arguments.build)
        return 0
    build = chosen_build(arguments.build, _TARGETS)
    facts = describe(build)
    specs, rounds = (_SPECS[:1], 1) if arguments.quick else (_SPECS, arguments.rounds)
    if arguments.topology:
        specs = (arguments.topology,)
    is_full_run = specs == _SPECS
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        results = Path(scratch) / "results.json"
        for spec in specs:
            done = subprocess.run([ROOT / "tools/lab/lab", "run", spec, "--rate", f"{_RATE_MBPS}mbit",
                                   "--burst", _BURST, "--",
                                   sys.executable, __file__, "--in-lab", spec, "--rounds", str(rounds),
                                   "--results", str(results), "--build", str(build)], check=False)
            if done.returncode != 0:
                return done.returncode
        cases = [Case(**case) for case in json.loads(results.read_text(encoding="utf-8"))]
    out = arguments.out or (ROOT / "docs/benchmarks.md" if is_full_run else None)
    if out is not None:
        write_section(out, "fidelity", section_text(cases, facts, rounds, _cables_text(), _means_text()))
        say(f"wrote {out}")
    missed = missed_goals(cases) if is_full_run else []
    for line in missed:
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(summary_line(cases), flush=True)
    return EXIT_MISSED if missed else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
