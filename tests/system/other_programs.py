"""Programs of others that tests run. tools/other_programs.sh unpacks them (tools/setup.sh --all)."""

from __future__ import annotations

import shutil
import unittest
from pathlib import Path

_UNPACKED = Path(__file__).resolve().parents[2] / "build" / "other_programs" / "bin"


def other_program(test: unittest.TestCase, name: str) -> str:
    """The path of netplan-generate, nmcli, promtool or sshd. Skips the test where there is none."""
    found = shutil.which(name, path=str(_UNPACKED)) or shutil.which(name)
    if found is None:
        test.skipTest(f"no {name} in build/other_programs or on the PATH: tools/setup.sh --all unpacks it")
    return found
