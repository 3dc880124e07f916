"""The common part of the lab's system tests: the lab's path, how to run it, and how to skip where it cannot run."""

from __future__ import annotations

import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path

LAB_SOURCE = Path(__file__).resolve().parents[2] / "tools" / "lab"
LAB = str(LAB_SOURCE / "lab")
sys.path.insert(0, str(LAB_SOURCE))  # the tests import the lab's modules

DEADLINE_S = 60

# Prints the result of a TCP connection to a port without a listener: ECONNREFUSED means that the address answered.
REACH = """
import errno, socket, sys
for address in sys.argv[1:]:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as s:
        s.settimeout(1.5)
        number = s.connect_ex((address, 9))
        print(address, "silence" if number == errno.EAGAIN else errno.errorcode[number])
"""


def python(source: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", source, *arguments]


def lab(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs `lab WORDS`; never raises for its exit status."""
    return subprocess.run([sys.executable, LAB, *words], capture_output=True, text=True, timeout=DEADLINE_S,
                          check=False, **options)  # type: ignore[call-overload]


def script(text: str) -> list[str]:
    """A COMMAND that runs shell text which may use $PY REACH ADDRESS.. and lab."""
    return ["env", f"PY={sys.executable}", f"REACH={REACH}", "sh", "-ec", text]


class LabTestCase(unittest.TestCase):
    def run_lab(self, options: list[str], text: str, status: int = 0) -> str:
        """Runs shell text in a lab, checks the exit status, returns what it printed."""
        done = lab("run", *options, "--", *script(text))
        self.assertEqual(done.returncode, status, f"stdout:\n{done.stdout}\nstderr:\n{done.stderr}")
        return done.stdout

    def skip_if_unavailable(self, done: subprocess.CompletedProcess[str]) -> None:
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())

    def reach(self, output: str) -> dict[str, str]:
        return dict(line.split() for line in output.splitlines())


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def main(loader: unittest.TestLoader = unittest.defaultTestLoader) -> None:
    """Runs the calling script's tests; exits with 77 and the reason where this machine cannot run a lab."""
    probe = lab("run", "line:2", "--", "true")
    if probe.returncode == 77:
        print(f"skipped: {probe.stderr.strip()}")
        sys.exit(77)
    unittest.main(verbosity=2, testLoader=loader)
