"""The common part of tests over nodes in guests: a lab whose nodes are up for all tests of a class, and their build."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import softroce_case
from guest_nodes import GuestNodes
from softroce_case import GuestTestCase

RATE = ("--rate", "40mbit")

_build = Path()


class NodesTestCase(GuestTestCase):
    """The lab and its nodes are up for all tests of the class."""

    CABLES = 0
    SETTINGS: dict[str, str] = {}
    nodes: GuestNodes

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.nodes = GuestNodes(cls.lab, _build)
        cls.addClassCleanup(cls.nodes.stop)
        cls.nodes.start(**cls.SETTINGS)
        cls.nodes.wait_for_cables(cls.CABLES)

    def setUp(self) -> None:
        self._began = time.monotonic()
        self.addCleanup(lambda: print(f"{time.monotonic() - self._began:.1f} s ", end="", flush=True))

    def tearDown(self) -> None:
        self.nodes.check_alive()


def main(script: str) -> None:
    """The command line of a test script."""
    global _build
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit(f"usage: {script} --build DIR [TEST...]")
    _build = Path(sys.argv[2]).resolve()
    del sys.argv[1:3]
    softroce_case.main()
