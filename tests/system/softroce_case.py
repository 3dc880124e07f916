"""The common part of tests in labs of guests: a lab that is up for all tests of a class, and how to skip where it cannot
run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path

import lab_case  # adds the lab's modules to sys.path
from marked_processes import kill_processes_with, processes_with

from guests import guest_images
from guests.guest_architecture import find_qemu, host_architecture
from lab_error import LabError

SOFTROCE = str(lab_case.LAB_SOURCE / "softroce")
BOOT_S = 180  # a busy machine; an idle one needs a tenth of it
COMMAND_S = 60


def softroce(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs `softroce WORDS`; never raises for its exit status."""
    return subprocess.run([sys.executable, SOFTROCE, *words], capture_output=True, text=True, timeout=BOOT_S,
                          check=False, **options)  # type: ignore[call-overload]


class GuestLab:
    """A lab of guests that is up until close(), with the options of `softroce run`, the spec first."""

    def __init__(self, *options: str) -> None:
        self.mark = uuid.uuid4().hex
        self._folder = tempfile.TemporaryDirectory()
        self._errors = open(Path(self._folder.name, "errors"), "w+", encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if key != "LAB"} | {"LAB_TEST_MARK": self.mark}
        # The command prints the lab's handle once the lab is up, and ends at the end of its stdin.
        self.process = subprocess.Popen(
            [sys.executable, SOFTROCE, "run", *options, "--", "sh", "-c", 'echo "$LAB"; exec cat'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment)
        assert self.process.stdout is not None
        handle = self.process.stdout.readline().strip()
        if not handle:
            self.process.wait(COMMAND_S)
            raise AssertionError(f"the lab did not come up: {self.errors()}")
        self.environment = environment | {"LAB": handle}

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        kill_processes_with(self.mark)
        self._errors.close()
        self._folder.cleanup()

    def do(self, *words: str) -> subprocess.CompletedProcess[str]:
        return softroce(*words, env=self.environment)

    def check(self, *words: str) -> str:
        """Returns its stdout; raises AssertionError if it fails."""
        done = self.do(*words)
        if done.returncode != 0:
            raise AssertionError(f"softroce {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def popen(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, SOFTROCE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=self.environment)

    def processes(self) -> list[int]:
        return processes_with(self.mark)


class GuestTestCase(unittest.TestCase):
    """All its tests share one lab."""

    OPTIONS: tuple[str, ...] = ()
    lab: GuestLab

    @classmethod
    def setUpClass(cls) -> None:
        cls.lab = GuestLab(*cls.OPTIONS)
        cls.addClassCleanup(cls.lab.close)


def main() -> None:
    """Runs the calling script's tests; exits with 77 and the reason where this machine cannot run guests. Where CI is set,
    that is a failure."""
    try:
        find_qemu(host_architecture())
        if guest_images.find_images(host_architecture()) is None:
            raise LabError("the guests' kernel is missing: tools/setup.sh --verbs makes it")
    except LabError as error:
        print(f"{'failed' if os.environ.get('CI') else 'skipped'}: {error}")
        sys.exit(1 if os.environ.get("CI") else 77)
    unittest.main(verbosity=2)
