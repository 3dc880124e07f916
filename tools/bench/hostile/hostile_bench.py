#!/usr/bin/env python3
"""tools/bench.sh hostile: what attacks on a mesh cost those who are not attacked.

Started outside a lab, it creates one and runs itself in it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # modules that all benchmarks share

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from hostile_lab import RATE, topology_text
from machine import PROGRAMS, describe
from relay_measurements import say
from release_build import RELEASE_BUILD, ROOT, chosen_build

import hostile_report
from attacks import ATTACKS, Attack
from hostile_results import Result, not_measured, write_results
from hostile_turn import measure

_TARGETS = ("cableway", "cablewayd", "collperf", "nccl-net-cableway", "hostile_node")
_SECONDS, _TRIES = 5.0, 4
_NAMES = tuple(attack.name for attack in ATTACKS)

_DESCRIPTION = f"""\
Attacks a line of four nodes in network namespaces, in {len(ATTACKS)} ways one after the other, as outsider, insider and
local user (docs/security.md), and measures traffic between others, new jobs, memory, processor time, and what is left
afterwards. Takes some 30 s an attack; use an otherwise idle machine.

The last line of standard output is `hostile: N attacks, N with missed goals, least ratio R`."""

_EPILOG = f"""\
attacks: {', '.join(_NAMES)}

exit status: 0 measured, all goals met; 1 measured, but a goal was missed; 2 invalid options; 3 not measured;
77 this system cannot run a lab."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh hostile", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=_NAMES, metavar="NAME",
                        help="run only this attack; may be repeated; documents are written only with --out")
    parser.add_argument("--seconds", type=float, default=_SECONDS, metavar="S",
                        help="measure traffic for S seconds without and with each attack (default: %(default)g)")
    parser.add_argument("--tries", type=int, default=_TRIES, metavar="N",
                        help="new jobs during each attack (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file, after each attack")
    parser.add_argument("--logs", type=Path, metavar="DIR", help="keep the logs of the honest nodes in this folder")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'hostile' of this file alone (default: docs/benchmarks.md and"
                             " docs/security.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not 0.5 <= arguments.seconds <= 600:
        parser.error("--seconds: 0.5 to 600")
    if not 1 <= arguments.tries <= 100:
        parser.error("--tries: 1 to 100")
    return arguments


def _chosen(arguments: argparse.Namespace) -> list[Attack]:
    return [attack for attack in ATTACKS if arguments.only is None or attack.name in arguments.only]


def _run_in_lab(build: Path) -> int:
    """Creates the lab and runs this script in it."""
    absent = [str(build / name) for name in (*PROGRAMS, "bin/hostile_node", "bin/cableway") if not (build / name).exists()]
    if absent:
        raise BenchError(f"not built: {', '.join(absent)}; build with: cmake --build {build}")
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        file = Path(scratch, "topology.toml")
        file.write_text(topology_text(), encoding="utf-8")
        command = [str(ROOT / "tools/lab/lab"), "run", str(file), "--rate", RATE, "--", sys.executable, __file__, "--in-lab",
                   *sys.argv[1:]]
        return subprocess.run(command, check=False).returncode


def _measured(arguments: argparse.Namespace, build: Path, facts: dict[str, str]) -> list[Result]:
    results: list[Result] = []
    chosen = _chosen(arguments)
    for number, attack in enumerate(chosen, 1):
        say(f"{number}/{len(chosen)} {attack.name}: {attack.what}")
        try:
            results.append(measure(build, attack, arguments.seconds, arguments.tries, arguments.logs))
        except BenchError as error:
            results.append(not_measured(attack.name, attack.who, attack.what, str(error)))
        for line in results[-1].missed():
            say(f"  missed: {line}")
        if arguments.json is not None:
            write_results(arguments.json, results, facts)
    return results


def _write(arguments: argparse.Namespace, results: list[Result], facts: dict[str, str]) -> None:
    section = hostile_report.section(results, facts, arguments.seconds, arguments.tries)
    if arguments.out is not None:
        write_section(arguments.out, "hostile", section)
        say(f"wrote {arguments.out}")
    elif arguments.only is None:
        write_section(ROOT / "docs/benchmarks.md", "hostile", section)
        write_section(ROOT / "docs/security.md", "hostile", hostile_report.security_section(results))
        say("wrote docs/benchmarks.md and docs/security.md")


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.in_lab:
        return _run_in_lab(chosen_build(arguments.build, _TARGETS))
    build = (arguments.build or RELEASE_BUILD).resolve()
    facts = describe(build)
    results = _measured(arguments, build, facts)
    _write(arguments, results, facts)
    print("\n".join(hostile_report.table(results)))
    for line in hostile_report.missed(results):
        print(f"bench: {line}", file=sys.stderr, flush=True)
    print(hostile_report.last_line(results), flush=True)
    return EXIT_MISSED if hostile_report.missed(results) else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
