#!/usr/bin/env python3
"""System test: what NCCL may rely on (tests/conformance/suite.h), over real verbs. A guest's loopback interface gets a
soft-RoCE device, and the suite's nodes, whose cables are subnets of that interface, are told to use nothing else. And
the unit tests that need a device, which are skipped on hosts without.

Usage: verbs_conformance_test.py --build DIR [TEST...]. The tests in DIR are run. Exit status 77 where QEMU or the guests'
kernel is missing.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import softroce_case
from softroce_case import GuestTestCase

NODE = "n0"
DEVICE = "rxe-lo"
# One version of the plugin's table: versions differ in nothing that knows what a hop is.
VERSION = "V11"
CASES = {
    "plugin_test": ("PluginFlow.*", "PluginFailure.*", "PluginRelay.*"),
    "conformance_test": ("AbortTest.*", "AllToAllTest.*", "MemoryTest.*", "FinalizeMemoryTest.*", "ListenTest.*",
                         "ParallelTest.*", "PeerDeathTest.*", "NodeRestartTest.*"),
}
# Within a chunk a relay over TCP cannot tell who is gone. Over RDMA it has whole chunks, and says more than this test wants.
EXCEPT = "*.ASenderThatIsKilledWithinAMessageIsSoughtBeforeTheRelay/*"
MOST_CABLES = 4  # of a test's nodes
TEST_S = 120

BUILD = Path()


def tests_of(program: Path, suites: tuple[str, ...]) -> list[str]:
    wanted = ":".join(f"*/{suite}/{VERSION}" for suite in suites) + f"-{EXCEPT}"
    listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={wanted}"], capture_output=True, text=True,
                            check=True).stdout
    suite, names = "", []
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if not name.startswith(" "):
            suite = name
        else:
            names.append(suite + name.strip())
    return names


class ConformanceTest(GuestTestCase):
    OPTIONS = ("line:2",)

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        # Where the suite's nodes are. The kernel gives addresses of `lo` that come after the device no GIDs.
        for cable in range(MOST_CABLES):
            for end in (1, 2):
                cls.lab.check("exec", NODE, "--", "ip", "address", "add", f"10.77.{cable}.{end}/24", "dev", "lo")
        cls.lab.check("exec", NODE, "--", "rdma", "link", "add", DEVICE, "type", "rxe", "netdev", "lo")

    def check(self, program: str) -> None:
        tests = tests_of(BUILD / "bin" / program, CASES[program])
        self.assertGreater(len(tests), len(CASES[program]))
        before = self.sent_packets()
        for test in tests:
            with self.subTest(test):
                self.check_one(program, test)
        # Cables are refused where they cannot have RDMA; some tests end before anything is sent.
        self.assertGreater(self.sent_packets() - before, 100 * len(tests))

    def check_one(self, program: str, test: str) -> None:
        began = time.monotonic()
        done = self.lab.do("exec", NODE, "--", "timeout", str(TEST_S), "env", "LOOPBACK_WORLD_ON_THIS_NETWORK=1",
                           "CABLEWAY_TRANSPORT=verbs", str(BUILD / "bin" / program), f"--gtest_filter={test}")
        # Nodes stay for a while, on the addresses that the next test's need.
        self.lab.do("exec", NODE, "--", "pkill", "-KILL", "-x", "cablewayd")
        print(f"{test} {time.monotonic() - began:.1f} s", flush=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("[  PASSED  ] 1 test.", done.stdout)

    def sent_packets(self) -> int:
        counters = f"/sys/class/infiniband/{DEVICE}/ports/1/hw_counters/sent_pkts"
        return int(self.lab.check("exec", NODE, "--", "cat", counters))

    def test_flows_failures_and_relays(self) -> None:
        self.check("plugin_test")

    def test_the_contract(self) -> None:
        self.check("conformance_test")

    def test_devices_and_queue_pairs(self) -> None:
        done = self.lab.do("exec", "n1", "--", "timeout", str(TEST_S), "env", "CABLEWAY_TEST_INTERFACE=to-n0",
                           str(BUILD / "bin/core_linux_verbs_device_test"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\[  PASSED  \] [1-9]\d* tests\.")
        self.assertNotIn("SKIPPED", done.stdout)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: verbs_conformance_test.py --build DIR [TEST...]")
    BUILD = Path(sys.argv[2]).resolve()
    del sys.argv[1:3]
    softroce_case.main()
