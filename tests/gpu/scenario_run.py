#!/usr/bin/env python3
"""Runs scenarios of the GPU test one after another, each in its own lab, and writes the results so far after each.

run.sh runs this script when --scenario is among its arguments. See README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import gpu_run
import scenario_results
import scenario_verdict
from scenario_plan import DEFAULT, SCENARIOS

_HERE = Path(__file__).resolve().parent
_DEADLINE_S = 560.0
_MIN_S = 30.0  # not worth starting a scenario with less
_LAB_S = 3.0
_TO_DIAGNOSE_S = 30.0  # the conductor's extra time after a scenario's deadline, for debugger and diagnosis
_TO_REPORT_S = 5.0
_FILES = ("gpu-scenarios.json", "gpu-scenarios.txt", "gpu-scenario-logs.tar.gz")


def arguments_of(words: list[str]) -> argparse.Namespace:
    listed = "\n".join(f"  {name:<9} about {scenario.expected_s:3.0f} s, {scenario.deadline_s:.0f} s at most"
                       for name, scenario in SCENARIOS.items())
    parser = argparse.ArgumentParser(prog="run.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Real NCCL over the plugin: scenarios beside the matrix.\n" + listed)
    parser.add_argument("--scenario", required=True, metavar="A,B", help="in this order; 'all': "
                        + ",".join(DEFAULT))
    parser.add_argument("--bundle", default="build/gpu-bundle", help="what pack.sh made (default: %(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="without a GPU: collperf, where it can stand for NCCL")
    parser.add_argument("--rate-mbps", type=int, help="of a cable in each direction (default: each scenario's own)")
    parser.add_argument("--out", default=os.environ.get("OUT", "out/gpu"), help="folder for results (default: $OUT)")
    parser.add_argument("--deadline", type=float, default=_DEADLINE_S, metavar="S",
                        help="seconds in all, the end included (default: %(default)s)")
    parser.add_argument("--stall", type=float, default=30.0, metavar="S",
                        help="seconds without progress that count as a hang (default: %(default)s)")
    parser.add_argument("--debugger", default=shutil.which("gdb"), metavar="PROGRAM",
                        help="a gdb for native stacks of ranks that hang (default: gdb, where there is one)")
    parser.add_argument("--torch", choices=("cuda", "gloo"), default="cuda",
                        help="gloo: torch's own CPU transport, to try the ranks' programs without a GPU")
    arguments = parser.parse_args(words)
    names = DEFAULT if arguments.scenario == "all" else tuple(filter(None, arguments.scenario.split(",")))
    for name in names:
        if name not in SCENARIOS:
            parser.error(f"--scenario: no scenario '{name}'; there are all, {', '.join(SCENARIOS)}")
    if not names:
        parser.error("--scenario: none is named")
    arguments.names = list(dict.fromkeys(names))
    arguments.bundle = Path(arguments.bundle).resolve()
    if (why := gpu_run.bundle_lacks(arguments.bundle)) is not None:
        parser.error(why)
    return arguments


def _run_one(arguments: argparse.Namespace, name: str, work: Path, began: float) -> dict[str, Any]:
    scenario, started = SCENARIOS[name], time.monotonic()
    work.mkdir(parents=True)
    cuda, rate = arguments.torch == "cuda", arguments.rate_mbps or scenario.rate_mbps
    last = min(started + _LAB_S + scenario.deadline_s,
               began + arguments.deadline - _TO_REPORT_S - _TO_DIAGNOSE_S / 2)
    job = {"work": str(work), "bundle": str(arguments.bundle), "scenario": name, "began": began, "until": last,
           "backend": "nccl" if cuda else "gloo", "device": "cuda" if cuda else "cpu", "stall_s": arguments.stall,
           "ranks": "collperf" if arguments.dry_run else "torch", "debugger": arguments.debugger}
    (work / "job.json").write_text(json.dumps(job), encoding="utf-8")
    spec = [*scenario.lab_spec(rate), *gpu_run.congestion_sysctl()]
    ended = gpu_run.run_lab(spec, [sys.executable, str(_HERE / "scenario_conductor.py"), str(work / "job.json")],
                            min(last + _TO_DIAGNOSE_S, began + arguments.deadline - _TO_REPORT_S))
    result = scenario_results.gather(work, name, rate, time.monotonic() - started)
    if not ended:
        result["broken"].append("the scenario's conductor was stopped, or failed: see the output")
    return result


def _not_run(name: str, why: str) -> dict[str, Any]:
    scenario = SCENARIOS[name]
    return {"name": name, "nodes": scenario.nodes, "rate_mbps": scenario.rate_mbps, "seconds": 0.0, "machine": {},
            "jobs": [], "flows": [], "skipped": [{"jobs": [name], "detail": why}], "broken": [], "proof": {}}


def _judged(result: dict[str, Any]) -> dict[str, Any]:
    found = scenario_verdict.judge(result)
    return result | {"status": found.status(), "findings": found.lines()}


def text_of(result: dict[str, Any]) -> str:
    ring = "ring of split ports" if SCENARIOS[result["name"]].split_ports else "ring"
    head = (f"-- {result['name']}: {result['status']}, {ring} of {result['nodes']}, {result['rate_mbps']} Mbit/s,"
            f" {result['seconds']:.0f} s")
    return "\n".join([head, *(f"   {line}"[:400] for line in result["findings"])])


def end_line(statuses: list[str]) -> str:
    if scenario_verdict.FAILED in statuses:
        return "gpu: FAILED"
    if scenario_verdict.INCOMPLETE in statuses:
        return "gpu: ok as far as it went: not all was run"
    return "gpu: ok"


def _write(out: Path, mode: str, done: list[dict[str, Any]]) -> None:
    """Writes the results so far: the run may be interrupted at any time."""
    document = {"format": 1, "mode": mode, "scenarios": done}
    text = "\n".join([*map(text_of, done), end_line([result["status"] for result in done])])
    for name, content in ((_FILES[0], json.dumps(document, indent=1)), (_FILES[1], text + "\n")):
        partial = out / f"{name}.partial"
        partial.write_text(content, encoding="utf-8")
        partial.replace(out / name)


def _run_all(arguments: argparse.Namespace, out: Path, work: Path, began: float) -> list[dict[str, Any]]:
    done: list[dict[str, Any]] = []
    for name in arguments.names:
        left = began + arguments.deadline - time.monotonic()
        result = (_run_one(arguments, name, work / name, began) if left > _MIN_S
                  else _not_run(name, "no time was left"))
        done.append(_judged(result))
        print(text_of(done[-1]), flush=True)
        _write(out, "dry-run" if arguments.dry_run else arguments.torch, done)
        gpu_run.pack_logs(work, out / _FILES[2])
    return done


def main() -> int:
    began = time.monotonic()
    arguments = arguments_of(sys.argv[1:])
    out = Path(arguments.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not arguments.dry_run and arguments.torch == "cuda":
        if (why := gpu_run.check_gpu()) is not None:
            print(f"run.sh: this machine has no GPU that PyTorch can use: {why}; --dry-run needs none", file=sys.stderr)
            return 3
        print(f"[{time.monotonic() - began:5.0f} s] the GPU is usable", flush=True)
    # Not in the results folder: after an interrupted run that must hold the results, not hundreds of logs.
    with tempfile.TemporaryDirectory(prefix="cableway-gpu-") as work:
        done = _run_all(arguments, out, Path(work), began)
    statuses = [result["status"] for result in done]
    print(f"{time.monotonic() - began:.0f} s in all; {out}: {' '.join(_FILES)}")
    print(end_line(statuses), flush=True)
    return 1 if scenario_verdict.FAILED in statuses else 0


if __name__ == "__main__":
    sys.exit(main())
