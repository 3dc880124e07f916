#!/usr/bin/env python3
"""tools/bench.sh convergence: real nodes in virtual time, from power-on until all have the same topology."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from machine import describe, facts_table
from relay_measurements import say
from release_build import ROOT, chosen_build

_SPECS = ("torus:8x8", "torus:16x16", "torus:32x32")
_LARGEST = "torus:64x64"
_QUICK_SPECS = ("torus:4x4",)
_WALL_LIMIT_S = 60
_JUDGED = "torus:32x32"

_DESCRIPTION = f"""\
Starts the nodes of {', '.join(_SPECS)} at once and runs them until all have the same topology with all cables; with
--large {_LARGEST} as well, which needs much time and memory."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh convergence", description=_DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="16 nodes, as a smoke test: not judged, and not written unless --out is given")
    parser.add_argument("--large", action="store_true", help=f"also measure {_LARGEST}")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'convergence' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    return parser.parse_args()


def _measure(build: Path, spec: str) -> dict[str, Any]:
    say(f"{spec} ..")
    done = subprocess.run([build / "bin/convergence", spec], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise BenchError(f"convergence {spec} failed: {done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout)
    say(f"{spec}: {result['wall_s']:.1f} s" + ("" if result["converged"] else ", NOT converged"))
    return result


def _section(results: list[dict[str, Any]], facts: dict[str, str]) -> str:
    lines = [
        "## From power-on to a common topology",
        "",
        "`tools/bench.sh convergence`: real nodes (neighbours, flooding, databases) over cables in memory and virtual time, all"
        " started at once, until all have the same database with all cables. One thread.",
        "",
        *facts_table(facts),
        "",
        "| topology | nodes | cables | converged | virtual time, s | wall time, s | CPU time, s | datagrams per node |"
        " KB per node | memory, MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in results:
        lines.append(
            f"| {each['spec']} | {each['nodes']} | {each['cables']} | {'yes' if each['converged'] else '**no**'} |"
            f" {each['virtual_s']:.2f} | {each['wall_s']:.1f} | {each['cpu_s']:.1f} | {each['datagrams_per_node']:.0f} |"
            f" {each['bytes_per_node'] / 1e3:.0f} | {each['memory_mb']:.0f} |")
    judged = next((each for each in results if each["spec"] == _JUDGED), None)
    if judged is not None:
        verdict = "met" if judged["converged"] and judged["wall_s"] <= _WALL_LIMIT_S else "**missed**"
        lines += ["", f"{judged['nodes']} nodes within {_WALL_LIMIT_S} s: {verdict}."]
    return "\n".join(lines)


def _run(arguments: argparse.Namespace) -> int:
    build = chosen_build(arguments.build, ("convergence",))
    facts = describe(build)
    specs = _QUICK_SPECS if arguments.quick else _SPECS + ((_LARGEST,) if arguments.large else ())
    results = [_measure(build, spec) for spec in specs]
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "convergence", _section(results, facts))
        say(f"wrote {out}")
    last = results[-1]
    print(f"convergence: {last['nodes']} nodes, {last['wall_s']:.1f} s, {last['datagrams_per_node']:.0f} datagrams per node",
          flush=True)
    late = [each for each in results if not each["converged"] or
            (each["spec"] == _JUDGED and each["wall_s"] > _WALL_LIMIT_S)]
    return EXIT_MISSED if late else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
