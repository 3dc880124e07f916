#!/usr/bin/env python3
"""System test of tools/lab/softroce: starts guests and moves bytes with real verbs.

Exit status 77 where QEMU or the guests' kernel is missing. Run some of it: softroce_lab_test.py ExecTest.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from guest_perftest import PerftestCase, Place
from lab_case import LAB, REACH, wait_until
from softroce_case import COMMAND_S, GuestLab, GuestTestCase, main, softroce

from guests.guest_architecture import ARCHITECTURES, host_architecture  # softroce_case adds the lab's modules to sys.path
from guests.guest_images import find_images


class VerbsTest(PerftestCase):
    OPTIONS = ("line:3", "--rate", "80mbit", "--no-rdma", "c1")
    N0, N1 = Place(0, "to-n1", "10.7.0.1"), Place(1, "to-n0", "10.7.0.2")

    def time_in(self, node: str) -> tuple[float, float, float]:
        """The guest's uptime in seconds, and the host's time before and after reading it."""
        before = time.monotonic()
        uptime = float(self.lab.check("exec", node, "--", "cat", "/proc/uptime").split()[0])
        return uptime, before, time.monotonic()

    def test_time_passes_as_on_the_host(self) -> None:
        for node in ("n0", "n1", "n2"):
            first, first_before, first_after = self.time_in(node)
            time.sleep(3.0)
            second, second_before, second_after = self.time_in(node)
            with self.subTest(node):
                self.assertGreater(second - first, 0.9 * (second_before - first_after))
                self.assertLess(second - first, 1.1 * (second_after - first_before))

    def test_devices_are_at_the_requested_cables(self) -> None:
        devices = ["ls", "/sys/class/infiniband"]
        self.assertEqual(self.lab.check("exec", "n0", "--", *devices), "rxe-to-n1\n")
        self.assertEqual(self.lab.check("exec", "n1", "--", *devices), "rxe-to-n0\n")
        self.assertEqual(self.lab.do("exec", "n2", "--", *devices).stdout, "")
        self.gid_index(self.N0)
        self.assertIn("RDMA devices: n0 rxe-to-n1, n1 rxe-to-n0\n", self.lab.check("show"))

    def measured_average(self) -> tuple[float, str]:
        """The average in MB/s, and ib_write_bw's output."""
        traffic = self.write_bandwidth(self.N0, self.N1, "-n", "300")
        out, errors = traffic.client.communicate(timeout=COMMAND_S)
        self.assertEqual(traffic.client.returncode, 0, out + errors)
        self.assertEqual(traffic.server.wait(COMMAND_S), 0)
        traffic.server.communicate()
        return float(re.search(r"^ *65536 .*", out, re.MULTILINE)[0].split()[3]), out + errors  # type: ignore[index]

    def test_writes_fill_the_cable(self) -> None:
        # perftest calibrates its clock at each start; on a busy machine it may report 0.00.
        for _ in range(3):
            average, output = self.measured_average()
            if average > 0:
                break
        self.assertLess(average, 10.5, output)
        self.assertGreater(average, 7.0, output)

    def test_cuts(self) -> None:
        self.check_cuts(self.N0, self.N1, "n0-n1")

    def test_one_way_cut(self) -> None:
        self.lab.check("cut", "c1", "--one-way", "n2")
        self.assertIn("cut silently (from n2)", self.lab.check("show"))
        reach = [sys.executable, "-c", REACH]
        self.assertRegex(self.lab.check("exec", "n1", "--", *reach, "10.7.1.2"), "silence|EHOSTUNREACH")
        self.lab.check("mend", "c1")
        wait_until(lambda: "ECONNREFUSED" in self.lab.check("exec", "n1", "--", *reach, "10.7.1.2"), "the mend", COMMAND_S)


class ExecTest(GuestTestCase):
    OPTIONS = ("line:2",)

    def running(self, seconds: str) -> bool:
        """Whether n0 has a process `sleep SECONDS`."""
        return self.lab.do("exec", "n0", "--", "pgrep", "-xf", f"sleep {seconds}").returncode == 0

    def test_exit_status_and_output(self) -> None:
        done = self.lab.do("exec", "n1", "--", "sh", "-c", "cat; echo out; echo error >&2; exit 38")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (38, "out\n", "error\n"))
        self.assertEqual(self.lab.do("exec", "n1", "--", "sh", "-c", "kill -KILL $$").returncode, 137)
        done = self.lab.do("exec", "n1", "--", "/no/such/command")
        self.assertEqual(done.returncode, 127)
        self.assertIn("/no/such/command: No such file", done.stderr)
        self.assertEqual(self.lab.do("exec", "n9", "--", "true").returncode, 2)

    def test_much_output_arrives_whole(self) -> None:
        done = self.lab.do("exec", "n0", "--", "sh", "-c", "seq 300000; seq 300000 >&2")
        expected = "".join(f"{number}\n" for number in range(1, 300001))
        self.assertTrue(done.stdout == expected and done.stderr == expected)

    def test_environment(self) -> None:
        text = ('echo $CABLEWAY_NODE $CABLEWAY_PORTS $LAB_NODE_INDEX $LAB_NODE_ADDRESS $(hostname) $LAB_TEST_MARK; pwd;'
                ' cd /sys/class/net; echo *; cat to-n0/mtu; test -r "$LAB_TOPOLOGY"')
        self.assertEqual(self.lab.check("exec", "n1", "--", "sh", "-c", text).splitlines(), [
            f"n1 to-n0,10.7.0.0/16 1 10.6.0.2 n1 {self.lab.mark}", os.getcwd(), "lo mg0 to-n0", "4200"])

    def test_host_files_are_visible_and_not_modified(self) -> None:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            Path(folder, "mine").write_text("host", encoding="utf-8")
            text = f"cat {folder}/mine; echo guest >{folder}/mine; cat {folder}/mine"
            self.assertEqual(self.lab.check("exec", "n0", "--", "sh", "-c", text), "hostguest\n")
            self.assertEqual(Path(folder, "mine").read_text(encoding="utf-8"), "host")

    def test_the_lab_folder_is_shared(self) -> None:
        self.lab.check("exec", "n0", "--", "sh", "-c", 'echo hello >"$LAB_DIR/note"')
        self.assertEqual(self.lab.check("exec", "n1", "--", "sh", "-c", 'cat "$LAB_DIR/note"'), "hello\n")

    def test_management_network(self) -> None:
        reach = [sys.executable, "-c", REACH, "10.6.0.2", "10.6.0.254", "10.7.0.2"]
        self.assertEqual(self.lab.check("exec", "n0", "--", *reach).split(),
                         ["10.6.0.2", "ECONNREFUSED", "10.6.0.254", "ECONNREFUSED", "10.7.0.2", "ECONNREFUSED"])

    def test_each(self) -> None:
        done = self.lab.do("each", "--", "sh", "-c", "echo {} $CABLEWAY_NODE; exit $LAB_NODE_INDEX")
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (1, ["n0 | n0 n0", "n1 | n1 n1"]))

    def check_killed(self, number: int, status: int) -> None:
        seconds = str(1000 + number)
        process = self.lab.popen("exec", "n0", "--", "sleep", seconds)
        wait_until(lambda: self.running(seconds), "start of the command", COMMAND_S)
        process.send_signal(number)
        self.assertEqual(process.wait(COMMAND_S), status)
        process.communicate()
        wait_until(lambda: not self.running(seconds), "end of the command", COMMAND_S)

    def test_sigterm_reaches_the_command(self) -> None:
        self.check_killed(signal.SIGTERM, 143)

    def test_sigint_reaches_the_command(self) -> None:
        self.check_killed(signal.SIGINT, 130)

    def test_sigkill_kills_the_command_too(self) -> None:
        self.check_killed(signal.SIGKILL, -9)

    def test_sigterm_while_the_output_is_not_read(self) -> None:
        process = self.lab.popen("exec", "n0", "--", "yes")
        time.sleep(1.0)
        process.terminate()
        self.assertEqual(process.wait(COMMAND_S), 143)
        process.communicate()

    def test_a_command_s_children_may_outlive_it(self) -> None:
        self.lab.check("exec", "n0", "--", "sh", "-c", "setsid sleep 1099 &")
        self.assertTrue(self.running("1099"))
        self.lab.check("exec", "n0", "--", "pkill", "-xf", "sleep 1099")

    def test_lab_is_for_namespaces(self) -> None:
        done = subprocess.run([sys.executable, LAB, "show"], capture_output=True, text=True, check=False,
                              timeout=COMMAND_S, env=self.lab.environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("use `softroce`", done.stderr)


class ArchitectureTest(unittest.TestCase):
    def test_guests_of_the_other_architecture(self) -> None:
        foreign = next(each for each in ARCHITECTURES.values() if each.foreign)
        if not shutil.which(foreign.qemu) or find_images(foreign) is None:
            self.skipTest(f"no QEMU, or no images, for {foreign.name}: tools/lab/softroce images --arch {foreign.name}")
        lab = GuestLab("line:2", "--arch", foreign.name)
        self.addCleanup(lab.close)
        shown = lab.check("exec", "n0", "--", "sh", "-c", "uname -m; ibv_devinfo")
        self.assertRegex(shown, rf"^{foreign.machine_name}\n(.|\n)*hca_id:\s+rxe-to-n1(.|\n)*PORT_ACTIVE")
        lab.check("exec", "n1", "--", "ping", "-c", "1", "10.7.0.1")


class LifecycleTest(unittest.TestCase):
    def test_two_labs_do_not_collide_and_leave_nothing(self) -> None:
        labs = [GuestLab("line:2"), GuestLab("line:2")]
        for lab in labs:
            self.addCleanup(lab.close)
        for number, lab in enumerate(labs):
            lab.check("exec", "n0", "--", "sh", "-c", f'echo {number} >"$LAB_DIR/number"')
        labs[0].check("cut", "c0")
        for number, lab in enumerate(labs):
            text = 'cat "$LAB_DIR/number" /sys/class/net/to-n0/carrier'
            self.assertEqual(lab.check("exec", "n1", "--", "sh", "-c", text).split(), [str(number), str(number)])
        for lab, signal_number, status in ((labs[0], signal.SIGTERM, 143), (labs[1], signal.SIGKILL, -9)):
            self.assertGreaterEqual(len(lab.processes()), 5)
            lab.process.send_signal(signal_number)
            self.assertEqual(lab.process.wait(COMMAND_S), status)
            wait_until(lambda lab=lab: not lab.processes(), "end of all processes")

    def test_a_guest_that_ends_is_reported(self) -> None:
        lab = GuestLab("line:2")
        self.addCleanup(lab.close)
        running = lab.popen("exec", "n1", "--", "sleep", "1000")
        lab.do("exec", "n1", "--", "sh", "-c", "echo gone >/dev/ttyS0; echo o >/proc/sysrq-trigger; sleep 100")
        _, errors = running.communicate(timeout=COMMAND_S)
        self.assertEqual(running.returncode, 1)
        self.assertRegex(errors, r"guest n1 is lost(.|\n)*\n  gone\n")
        self.assertIn("guest n1 has ended", lab.do("exec", "n1", "--", "true").stderr)
        self.assertEqual(lab.do("exec", "n0", "--", "true").returncode, 0)

    def test_normal_end_and_timeout(self) -> None:
        self.assertEqual(softroce("run", "line:2", "--", "softroce", "exec", "n1", "--", "sh", "-c", "exit 9").returncode, 9)
        done = softroce("run", "line:2", "--timeout", "0.5", "--", "sleep", "1000")
        self.assertEqual(done.returncode, 124)
        self.assertIn("0.5 s have passed", done.stderr)


class RefusalTest(unittest.TestCase):
    def refused(self, expected: str, *words: str, status: int = 2, **options: object) -> None:
        done = softroce("run", *words, "--", "true", **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, expected)
        self.assertNotIn("Traceback", done.stderr)

    def with_qemu(self, folder: str, text: str) -> dict[str, str]:
        """An environment in which QEMU is a script."""
        path = Path(folder, host_architecture().qemu)
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}

    def test_options(self) -> None:
        self.refused("--forwarding: needs an IPv4 address .* and no switch", "switch:3", "--forwarding")
        self.refused("'ring:2': a ring has 3 to 64", "ring:2")
        self.refused("mtu '100': expected", "line:2", "--mtu", "100")
        self.refused("memory '1': expected", "line:2", "--memory", "1")
        self.refused("rate 'fast': expected", "line:2", "--rate", "fast")
        self.refused("timeout '0': expected", "line:2", "--timeout", "0")
        self.refused("cable 'c7': no such cable", "line:2", "--no-rdma", "c7")
        self.refused("node n0: 25 cables; a guest has 24", "star:26")
        self.assertIn("expected -- COMMAND", softroce("run", "line:2").stderr)

    def test_qemu_is_missing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.refused("'qemu-system-.*' is not in PATH: tools/setup.sh --verbs", "line:2", status=77,
                         env=os.environ | {"PATH": folder})

    def test_a_guest_that_does_not_start_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.refused(r"guest n0 ended while it started \(QEMU's exit status: 3\)(.|\n)*\n  no such machine", "line:2",
                         status=1, env=self.with_qemu(folder, "echo no such machine >&2; exit 3"))

    def test_every_verb_has_help(self) -> None:
        for verb in ("run", "images", "exec", "each", "cut", "mend", "show", "topology"):
            done = softroce(verb, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"usage: softroce {verb}", done.stdout)
            self.assertIn(verb, softroce("--help").stdout)


if __name__ == "__main__":
    main()
