#!/usr/bin/env python3
"""tools/bench.sh operation: what an operator waits for."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # modules that all benchmarks share

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from machine import describe
from relay_measurements import say
from release_build import ROOT, chosen_build

import operation_report
from operation_report import Figures

_TARGETS = ("all",)  # the tests are of the build, and so are the packages
_PARTS = ("views", "page", "doctor", "packages")
_TOPOLOGY, _ROUNDS = "torus:8x8", 10
_LAB_SECONDS, _TEST_SECONDS, _PACKAGE_SECONDS = 900, 900, 2400

_DESCRIPTION = """\
Measures what an operator waits for:
  views     `cableway status`, `ports`, `flows` and `doctor` with --all, in a lab with a daemon in each namespace
  page      the live page: first paint, bytes, processor time of a node with 1,000 flows and a reader
  doctor    its table of faults
  packages  three fresh roots, from the packages to a first verified all_reduce; packages are built if there are none
Takes 10 minutes, and 15 more where packages are to be built; use an otherwise idle machine.

The last line of standard output is `operation: all goals met`, or which were missed."""

_EPILOG = """\
exit status: 0 measured, all goals met; 1 measured, but a goal was missed; 2 invalid options; 3 not measured."""


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh operation", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=_PARTS,
                        help="measure only this part; may be repeated; documents are written only with --out")
    parser.add_argument("--topology", default=_TOPOLOGY, metavar="SPEC", help="of the views' lab (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, metavar="N",
                        help="ask for each view of all nodes N times (default: %(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'operation' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    arguments = parser.parse_args()
    if not 1 <= arguments.rounds <= 1000:
        parser.error("--rounds: 1 to 1000")
    return arguments


def _output(what: str, command: list[str], limit_s: int, allowed: tuple[int, ...] = (0,)) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        raise BenchError(f"{what} was not done after {limit_s} s: {' '.join(command)}") from None
    if done.returncode not in allowed:
        raise BenchError(f"{what} ended with {done.returncode}: {' '.join(command)}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout + done.stderr


def _views(build: Path, arguments: argparse.Namespace, figures: Figures) -> Figures:
    script = str(Path(__file__).with_name("views_of_all.py"))
    output = _output("the lab of the views", [str(ROOT / "tools/lab/lab"), "run", arguments.topology, "--", sys.executable, script,
                                              str(build), str(arguments.rounds)], _LAB_SECONDS)
    return replace(figures, rounds=json.loads(output[output.index("[{"):output.rindex("}]") + 2]))


def _system_test(build: Path, script: str, *tests: str, allowed: tuple[int, ...] = (0,)) -> str:
    command = [sys.executable, str(ROOT / "tests/system" / script), "--build", str(build), *tests]
    return _output(script, command, _TEST_SECONDS, allowed)


def _page(build: Path, _: argparse.Namespace, figures: Figures) -> Figures:
    cores, quiet = operation_report.page_cost(_system_test(build, "page/live_page_test.py", "CostTest"))
    paint, page, stream = operation_report.page_size(
        _system_test(build, "page/live_page_test.py", "PageTest.test_page_of_a_node_with_traffic"))
    return replace(figures, page_cores=cores, quiet_cores=quiet, paint_ms=paint, page_bytes=page, stream_bytes=stream)


def _doctor(build: Path, _: argparse.Namespace, figures: Figures) -> Figures:
    # It fails where a row is wrong, which its figures say.
    right, rows = operation_report.doctor_rows(_system_test(build, "doctor/doctor_faults_test.py", allowed=(0, 1)))
    return replace(figures, doctor_right=right, doctor_rows=rows)


def _test_of_packages(build: Path, *options: str) -> list[str]:
    return ["ctest", "--test-dir", str(build), "-R", r"^(.*\.)?install\.package$", *options]


def _packages(build: Path, _: argparse.Namespace, figures: Figures) -> Figures:
    output = _output("the test of packages", _test_of_packages(build, "--verbose"), _PACKAGE_SECONDS)
    return replace(figures, first_run=operation_report.first_run(output))


def _check_long_tests(build: Path) -> None:
    listed = _output("the list of tests", _test_of_packages(build, "--show-only"), _TEST_SECONDS)
    if "install.package" not in listed:
        raise BenchError(f"{build} was configured without long tests, of which one measures packages:"
                         f" cmake -D CABLEWAY_LONG_TESTS=ON {build}")


def _run(arguments: argparse.Namespace) -> int:
    build = chosen_build(arguments.build, _TARGETS)
    facts = describe(build)
    chosen = arguments.only or _PARTS
    figures = Figures()
    if "packages" in chosen:
        _check_long_tests(build)
    for part, measure in zip(_PARTS, (_views, _page, _doctor, _packages)):
        if part in chosen:
            say(f"{part} ..")
            figures = measure(build, arguments, figures)
    out = arguments.out or (None if arguments.only else ROOT / "docs/benchmarks.md")
    section = operation_report.section_text(figures, facts)
    if out is not None:
        write_section(out, "operation", section)
        say(f"wrote {out}")
    else:
        print(section)
    print(operation_report.last_line(figures), flush=True)
    return EXIT_MISSED if operation_report.missed(figures) else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
