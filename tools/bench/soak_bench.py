#!/usr/bin/env python3
"""tools/bench.sh soak: whether a busy host finds its cables silent, and whether memory or descriptors grow.

Started outside a lab, it creates one and runs itself in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from lab_processes import LabProcess, start_node
from machine import describe, facts_table
from relay_measurements import say
from release_build import RELEASE_BUILD, ROOT, chosen_build

_TARGETS = ("cablewayd", "cableway", "collperf", "nccl-net-cableway")
_NODES = ("n0", "n1", "n2", "n3")
_MINUTES, _QUICK_MINUTES = 60.0, 0.2
_BUSY = "while True: pass"
_SAY_EVERY_S = 60.0
_SETTLE_S = 20.0
_END_LIMIT_S = 120.0
# The events that must not happen while nothing fails.
_VERDICTS = ("CABLE_SILENT", "RELAY_SILENT", "CABLE_LOST", "CABLE_LOSSY", "CIRCUIT_BROKEN", "CIRCUIT_LOST", "FLOW_REROUTED",
             "FLOW_WAITING", "FLOW_FAILED", "CHUNK_CORRUPTED")
_MOST_GROWTH_BYTES = 8 << 20
_MOST_NEW_DESCRIPTORS = 8
_PORT = 29700

_DESCRIPTION = f"""\
A ring of four network namespaces on cables of 200 Mbit/s, every rank sends to every other one, all bytes are checked, and as
many processes as there are processors compute beside them: for {_MINUTES:g} minutes nothing fails. Counts what the nodes find to have failed.

The last line of standard output is `soak: MINUTES min, GB GB verified, N false verdicts`."""

_EPILOG = """\
exit status: 0 measured; 1 something was found to have failed, bytes were wrong, or memory or descriptors grew; 2 invalid
options; 3 not measured; 77 this system cannot run a lab."""


@dataclass(frozen=True)
class Footprint:
    resident_bytes: int
    descriptors: int


@dataclass
class Result:
    seconds: float
    verified_bytes: int
    wrong: int
    verdicts: Counter[str]
    footprints: dict[str, tuple[Footprint, Footprint]]  # by process: after it has settled, and at the end

    def missed(self) -> list[str]:
        lines = [f"{count} times {code}, although nothing failed" for code, count in self.verdicts.items()]
        if self.wrong:
            lines.append(f"{self.wrong} bytes were wrong")
        for name, (first, last) in self.footprints.items():
            if last.resident_bytes > first.resident_bytes + _MOST_GROWTH_BYTES:
                lines.append(f"the memory of {name} grew from {first.resident_bytes / 1e6:.1f} to {last.resident_bytes / 1e6:.1f} MB")
            if last.descriptors > first.descriptors + _MOST_NEW_DESCRIPTORS:
                lines.append(f"the descriptors of {name} grew from {first.descriptors} to {last.descriptors}")
        return lines

    def last_line(self) -> str:
        return (f"soak: {self.seconds / 60:.0f} min, {self.verified_bytes / 1e9:.1f} GB verified,"
                f" {self.verdicts.total()} false verdicts")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh soak", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, metavar="M", help=f"run for M minutes (default: {_MINUTES:g})")
    parser.add_argument("--quick", action="store_true",
                        help=f"{60 * _QUICK_MINUTES:g} s as a smoke test: not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'soak' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.minutes is None:
        arguments.minutes = _QUICK_MINUTES if arguments.quick else _MINUTES
    if not 0 < arguments.minutes <= 24 * 60:
        parser.error("--minutes: more than 0, at most a day")
    return arguments


def _footprint(process: LabProcess) -> Footprint:
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    resident = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return Footprint(int(resident) * 1024, len(list(Path(f"/proc/{process.pid}/fd").iterdir())))


def _events(build: Path, node: str) -> list[dict[str, Any]]:
    done = subprocess.run(["lab", "exec", node, "--", str(build / "bin/cableway"), "events", "--json"], capture_output=True,
                          text=True, timeout=30, check=False)
    if done.returncode != 0:
        raise BenchError(f"cableway events on {node} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)["events"]


def _counted(build: Path) -> Counter[str]:
    """Counts the events of _VERDICTS. Nodes keep only their newest events, but no other event is frequent enough to displace
    these."""
    return Counter(f"{event['code']} at {node}" for node in _NODES for event in _events(build, node) if event["code"] in _VERDICTS)


def _start_ranks(build: Path, report: Path, seconds: float, stack: ExitStack) -> list[LabProcess]:
    address = subprocess.run(["lab", "exec", _NODES[0], "--", "printenv", "LAB_NODE_ADDRESS"], capture_output=True, text=True,
                             timeout=60, check=True).stdout.strip()
    ranks = []
    for rank, node in enumerate(_NODES):
        command = [str(build / "bin/collperf"), "--plugin", str(build / "lib/libnccl-net-cableway.so"), "--rank", str(rank),
                   "--ranks", str(len(_NODES)), "--rendezvous", f"{address}:{_PORT}", "--workload", "all_to_all:4M",
                   "--iters", "1", "-w", "1", "--check-all", "--wall-seconds", f"{seconds:.0f}", "--idle-us", "100", "--timeout",
                   "60", "--json", str(report)]
        ranks.append(LabProcess(node, command, {"CABLEWAY_LOG": "warning"}))
        stack.callback(ranks[-1].stop)
    return ranks


def _measure(build: Path, minutes: float, scratch: Path) -> Result:
    seconds, report = 60 * minutes, scratch / "report.json"
    with ExitStack() as stack:
        watched = {}
        for node in _NODES:
            watched[f"cablewayd {node}"] = start_node(node, [str(build / "bin/cablewayd")], {"CABLEWAY_LOG": "warning"}, "")
            stack.callback(watched[f"cablewayd {node}"].stop)
        ranks = _start_ranks(build, report, seconds, stack)
        watched |= {f"rank on {node}": rank for node, rank in zip(_NODES, ranks)}
        for _ in range(os.cpu_count() or 1):
            busy = subprocess.Popen([sys.executable, "-c", _BUSY])
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        began = time.monotonic()
        time.sleep(min(_SETTLE_S, seconds / 2))
        first = {name: _footprint(process) for name, process in watched.items()}
        last = first
        next_word = began + _SAY_EVERY_S
        while any(rank.running() for rank in ranks) and time.monotonic() < began + seconds + _END_LIMIT_S:
            if all(process.running() for process in watched.values()):
                last = {name: _footprint(process) for name, process in watched.items()}
            if time.monotonic() > next_word:
                next_word += _SAY_EVERY_S
                say(f"{(time.monotonic() - began) / 60:.0f} of {minutes:g} min, verdicts: {dict(_counted(build)) or 'none'}")
            time.sleep(min(5.0, seconds / 10))
        took = time.monotonic() - began
        for process in ranks:
            if process.running():
                raise process.fail("did not end")
            process.check_status()
        verdicts = _counted(build)
    found = json.loads(report.read_text(encoding="utf-8"))
    if not found["bytes_verified"]:
        raise BenchError("nothing was verified")
    return Result(took, found["bytes_verified"], found["wrong"], verdicts, {name: (first[name], last[name]) for name in first})


def _section(result: Result, facts: dict[str, str]) -> str:
    lines = [
        "## Soak", "",
        "`tools/bench.sh soak`: a ring of four network namespaces, cables of 200 Mbit/s, every rank sends to every other one, all bytes"
        " checked, with all paths. As many processes as there are processors compute meanwhile. Nothing fails, so no node may find that"
        f" anything has: {', '.join(_VERDICTS)} are counted.", "",
        *facts_table(facts), "",
        f"`{result.last_line()}`, {result.wrong} bytes wrong.", "",
        "| process | MB after it has settled | at the end | descriptors | at the end |", "|---|---|---|---|---|"]
    for name, (first, last) in result.footprints.items():
        lines.append(f"| {name} | {first.resident_bytes / 1e6:.1f} | {last.resident_bytes / 1e6:.1f} | {first.descriptors} |"
                     f" {last.descriptors} |")
    return "\n".join([*lines, "", *(f"- **{line}**" for line in result.missed())]).rstrip()


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.in_lab:
        build = chosen_build(arguments.build, _TARGETS)
        lab = str(ROOT / "tools/lab/lab")
        words = ["run", "ring:4", "--rate", "200mbit", "--", sys.executable, __file__, "--in-lab", *sys.argv[1:]]
        os.execv(lab, [lab, *words])
    build = (arguments.build or RELEASE_BUILD).resolve()
    facts = describe(build)
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        result = _measure(build, arguments.minutes, Path(scratch))
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "soak", _section(result, facts))
        say(f"wrote {out}")
    for line in result.missed():
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(result.last_line(), flush=True)
    return EXIT_MISSED if result.missed() else 0


if __name__ == "__main__":
    os.environ["PATH"] = f"{ROOT / 'tools/lab'}:{os.environ['PATH']}"
    sys.exit(exit_status(lambda: _run(_parse())))
