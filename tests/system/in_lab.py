"""Tests whose bodies run inside a lab: @in_lab("ring:4") builds one for the test and runs this script in it again, for
this test only, with its LabNodes."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path

import lab_case
from lab_nodes import LabNodes

_FIGURE = "figure: "
_INSIDE = "TEST_IN_LAB"
_DEADLINE_S = 120

Body = Callable[[unittest.TestCase, LabNodes], None]
Test = Callable[[unittest.TestCase], None]

_build = ""  # set from the command line


def in_lab(*options: str) -> Callable[[Body], Test]:
    """`options` are those of `lab run`, the spec first. No node runs when the body begins."""
    def decorate(body: Body) -> Test:
        @functools.wraps(body)
        def test(case: unittest.TestCase) -> None:
            if _INSIDE in os.environ:
                with LabNodes(Path(_build)) as nodes:
                    body(case, nodes)
            else:
                _run_in_lab(case, options)
        return test
    return decorate


def long(test: Test) -> Test:
    """Marks a test that `--short` leaves out; goes above its @in_lab."""
    test.is_long = True  # type: ignore[attr-defined]
    return test


def report_figure(text: str) -> None:
    """Called by a test in its lab: the outer process prints the text after the test's name."""
    print(f"\n{_FIGURE}{text}", flush=True)


def _run_in_lab(case: unittest.TestCase, options: tuple[str, ...]) -> None:
    name = f"{type(case).__name__}.{case._testMethodName}"
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, lab_case.LAB, "run", *options, "--", sys.executable, sys.argv[0], "--build", _build, name],
        capture_output=True, text=True, timeout=_DEADLINE_S, check=False, env=os.environ | {_INSIDE: name})
    figures = [line.removeprefix(_FIGURE) for line in done.stdout.splitlines() if line.startswith(_FIGURE)]
    print("; ".join([f"{time.monotonic() - began:.1f} s", *figures]), end=" ", flush=True)
    if done.returncode != 0:
        case.fail(f"exit status {done.returncode} in the lab\n{done.stdout}{done.stderr}")
    if "skipped=1" in done.stderr:
        case.skipTest(done.stderr.partition("skipped ")[2].partition("\n")[0])


class _LoaderOfLength(unittest.TestLoader):
    """Loads only tests that are marked as long, or only the others."""

    def __init__(self, are_long: bool) -> None:
        super().__init__()
        self._are_long = are_long

    def getTestCaseNames(self, testCaseClass: type[unittest.TestCase]) -> list[str]:  # noqa: N802
        return [name for name in super().getTestCaseNames(testCaseClass)
                if getattr(getattr(testCaseClass, name), "is_long", False) == self._are_long]


def main() -> None:
    """Runs the calling script's tests; exits with 77 and the reason where this machine cannot run a lab."""
    global _build
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit(f"usage: {Path(sys.argv[0]).name} --build DIR [--short | --long | TEST...]")
    _build = str(Path(sys.argv[2]).resolve())
    del sys.argv[1:3]
    loader = unittest.defaultTestLoader
    if sys.argv[1:2] in (["--short"], ["--long"]):
        loader = _LoaderOfLength(sys.argv.pop(1) == "--long")
        if loader.loadTestsFromName("__main__").countTestCases() == 0:
            sys.exit("no test of this script is of that length")
    if _INSIDE in os.environ:
        unittest.main(verbosity=2)
    lab_case.main(loader)
