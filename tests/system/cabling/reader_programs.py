"""Programs of others that read what Cableway writes. tools/readers.sh unpacks them (tools/setup.sh --all)."""

from __future__ import annotations

import shutil
import unittest
from pathlib import Path

_UNPACKED = Path(__file__).resolve().parents[3] / "build" / "readers" / "bin"


def reader(test: unittest.TestCase, name: str) -> str:
    """The path of netplan-generate, nmcli or promtool. Skips the test where there is none."""
    found = shutil.which(name, path=str(_UNPACKED)) or shutil.which(name)
    if found is None:
        test.skipTest(f"no {name} in build/readers or on the PATH: tools/setup.sh --all unpacks it")
    return found
