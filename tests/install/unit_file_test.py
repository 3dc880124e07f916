#!/usr/bin/env python3
"""Checks the systemd unit of cablewayd.

    unit_file_test.py BUILD

Installs BUILD, and checks that the unit runs the installed cablewayd with the permissions that a node needs; and runs
systemd-analyze on it if that is available.
"""

import configparser
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PREFIX = "/srv/cableway"


class UnitFileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cmake", "--install", sys.argv[1], "--prefix", PREFIX], check=True, capture_output=True,
                           env={**os.environ, "DESTDIR": folder}, timeout=60)
            cls.unit = pathlib.Path(folder + PREFIX, "lib/systemd/system/cablewayd.service").read_text()
        parser = configparser.ConfigParser(interpolation=None, strict=True)
        parser.optionxform = str
        parser.read_string(cls.unit)
        cls.service = parser["Service"]

    def test_runs_the_installed_daemon(self):
        self.assertEqual(self.service["ExecStart"], f"{PREFIX}/bin/cablewayd")

    def test_waits_until_the_node_is_ready_and_watches_it(self):
        self.assertEqual(self.service["Type"], "notify")
        self.assertGreaterEqual(int(self.service["WatchdogSec"]), 30)

    def test_restarts_reloads_and_lifts_the_limits(self):
        self.assertEqual(self.service["Restart"], "on-failure")
        self.assertEqual(self.service["ExecReload"], "/bin/kill -HUP $MAINPID")
        self.assertEqual(self.service["LimitMEMLOCK"], "infinity")
        self.assertGreaterEqual(int(self.service["LimitNOFILE"]), 65536)

    def test_grants_a_node_what_it_needs(self):
        self.assertEqual(self.service["CapabilityBoundingSet"], "CAP_CHOWN CAP_NET_ADMIN CAP_SYS_NICE")
        families = set(self.service["RestrictAddressFamilies"].split())
        self.assertLessEqual({"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"}, families)
        self.assertNotIn("PrivateDevices", self.service)
        self.assertNotIn("PrivateNetwork", self.service)

    def test_has_a_folder_for_its_session_socket(self):
        self.assertEqual(self.service["RuntimeDirectory"], "cableway")
        self.assertEqual(self.service["RuntimeDirectoryMode"], "0711")
        self.assertEqual(self.service["RuntimeDirectoryPreserve"], "yes")
        self.assertNotIn("User", self.service)

    def test_systemd_finds_no_fault(self):
        analyze = shutil.which("systemd-analyze")
        if analyze is None:
            self.skipTest("no systemd-analyze here")
        with tempfile.TemporaryDirectory() as folder:
            # systemd-analyze requires the program, which need not be installed here.
            daemon = pathlib.Path(folder) / "cablewayd"
            daemon.write_text("#!/bin/sh\n")
            daemon.chmod(0o755)
            copy = pathlib.Path(folder) / "cablewayd.service"
            copy.write_text(self.unit.replace(self.service["ExecStart"], str(daemon)))
            done = subprocess.run(
                [analyze, "--man=no", "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False
            )
        faults = [line for line in (done.stdout + done.stderr).splitlines() if "cablewayd" in line]
        self.assertEqual(faults, [])
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
