#!/usr/bin/env python3
"""System test: the behaviour that NCCL relies on (tests/conformance/suite.h), over real verbs. Each node has a guest of its
own with its ranks, and the guests run each test in lockstep (tests/nccl_adapter/lockstep.h). Tests that need no other node
run in one guest, whose loopback interface gets a soft-RoCE device. Also runs the unit tests that need a device, which are
skipped on hosts without one.

Usage: verbs_conformance_test.py --build DIR [TEST...]. The tests in DIR are run. Exit status 77 where QEMU or the guests'
kernel is missing.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import softroce_case
from guest_nodes import GuestProcess
from softroce_case import GuestTestCase

RATE = ("--rate", "40mbit")
# One version of the plugin's table, which all suites have: nothing that differs between versions depends on the kind of hop.
VERSION = "V12"
# Emulated guests stand still for up to a second each, which looks like a silent cable to the others.
SETTINGS = {"CABLEWAY_TRANSPORT": "verbs", "CABLEWAY_PULSE_MS": "0"}
MAX_CABLES = 4  # of a test's nodes
TEST_S = 120
SENT_PACKETS = "cat /sys/class/infiniband/*/ports/1/hw_counters/sent_pkts"

BUILD = Path()


def tests_of(program: str, *wanted: str) -> list[str]:
    patterns = ":".join(f"*/{pattern}/{VERSION}" for pattern in wanted)
    listed = subprocess.run([BUILD / "bin" / program, "--gtest_list_tests", f"--gtest_filter={patterns}"],
                            capture_output=True, text=True, check=True).stdout
    suite, names = "", []
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if not name.startswith(" "):
            suite = name
        else:
            names.append(suite + name.strip())
    return names


class ConformanceTestCase(GuestTestCase):
    NODES: tuple[str, ...] = ()

    def settings(self) -> dict[str, str]:
        """The environment variables that describe to one test where it runs."""
        raise NotImplementedError

    def check(self, program: str, *wanted: str, packets_each: int = 100) -> None:
        tests = tests_of(program, *wanted)
        self.assertGreaterEqual(len(tests), len(wanted))
        before = self.sent_packets()
        for test in tests:
            with self.subTest(test):
                began = time.monotonic()
                self.check_one(str(BUILD / "bin" / program), f"--gtest_filter={test}")
                print(f"{test} {time.monotonic() - began:.1f} s", flush=True)
        # With the transport verbs, cables without RDMA are refused; some tests end before anything is sent.
        self.assertGreater(self.sent_packets() - before, packets_each * len(tests))

    def check_one(self, *command: str) -> None:
        settings = self.settings() | SETTINGS
        guests = [GuestProcess(self.lab, node, ["timeout", str(TEST_S), *command], settings) for node in self.NODES]
        try:
            statuses = {guest.wait(TEST_S + softroce_case.COMMAND_S) for guest in guests}
            output = "\n".join(f"--- {guest.node}\n{guest.text()}" for guest in guests)
        finally:
            for guest in guests:
                guest.close()
            # Nodes outlive the test for a while and hold the addresses that the next test's nodes need.
            self.lab.do("each", "--", "pkill", "-KILL", "-x", "cablewayd")
        self.assertEqual((statuses, output.count("[  PASSED  ] 1 test.")), ({0}, len(guests)), output)

    def sent_packets(self) -> int:
        """The packets sent by all RDMA devices of these nodes."""
        counters = self.lab.check("each", "--nodes", ",".join(self.NODES), "--", "sh", "-c", SENT_PACKETS)
        return sum(int(line.split()[-1]) for line in counters.splitlines())


class OneGuestTest(ConformanceTestCase):
    OPTIONS = ("line:2",)
    NODES = ("n0",)

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        # The addresses of the suite's nodes. The kernel assigns no GIDs to addresses added to `lo` after the device.
        for cable in range(MAX_CABLES):
            for end in (1, 2):
                cls.lab.check("exec", "n0", "--", "ip", "address", "add", f"10.77.{cable}.{end}/24", "dev", "lo")
        cls.lab.check("exec", "n0", "--", "rdma", "link", "add", "rxe-lo", "type", "rxe", "netdev", "lo")

    def settings(self) -> dict[str, str]:
        return {"WORLD_ON_THIS_NETWORK": "1"}

    def test_flows_failures_and_relays(self) -> None:
        self.check("plugin_test", "PluginFlow.*", "PluginFailure.*", "PluginRelay.*")

    def test_memory_and_threads(self) -> None:
        self.check("conformance_test", "MemoryTest.*", "FinalizeMemoryTest.*", "ParallelTest.*", "LeaseTest.*")

    def test_forks(self) -> None:
        self.check("conformance_test", "ForkTest.AChildThat*")

    def test_devices_and_queue_pairs(self) -> None:
        done = self.lab.do("exec", "n1", "--", "timeout", str(TEST_S), "env", "CABLEWAY_TEST_INTERFACE=to-n0",
                           str(BUILD / "bin/core_linux_verbs_device_test"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\[  PASSED  \] [1-9]\d* tests\.")
        self.assertNotIn("SKIPPED", done.stdout)


class SpreadTestCase(ConformanceTestCase):
    """A node, and its ranks, on each guest."""

    next_port = 29600

    def settings(self) -> dict[str, str]:
        SpreadTestCase.next_port += 1
        address = self.lab.check("exec", self.NODES[0], "--", "printenv", "LAB_NODE_ADDRESS").strip()
        return {"WORLD_RENDEZVOUS": f"{address}:{self.next_port}"}


class TriangleTest(SpreadTestCase):
    OPTIONS = ("ring:3", *RATE)
    NODES = ("n0", "n1", "n2")

    def test_aborted_connections(self) -> None:
        self.check("conformance_test", "AbortTest.*", "FinalizeTest.*", packets_each=1)

    def test_jobs(self) -> None:
        self.check("conformance_test", "AllToAllTest.RanksOnEveryNode", "AllToAllTest.RanksOnATriangle",
                   "ListenTest.SeveralPeers*")


class RingTest(SpreadTestCase):
    OPTIONS = ("ring:4", *RATE)
    NODES = ("n0", "n1", "n2", "n3")

    def test_jobs(self) -> None:
        self.check("conformance_test", "AllToAllTest.RanksOnTheTwoEnds*", "AllToAllTest.RanksOnARing")

    def test_peers_that_die_or_stop(self) -> None:
        self.check("conformance_test", "PeerDeathTest.*")

    def test_restarted_nodes(self) -> None:
        self.check("conformance_test", "NodeRestartTest.*")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: verbs_conformance_test.py --build DIR [TEST...]")
    BUILD = Path(sys.argv[2]).resolve()
    del sys.argv[1:3]
    softroce_case.main()
