#!/usr/bin/env python3
"""System test of tools/lab/lab: builds real labs and checks the kernel's state.

Exit status 77 where this system cannot run a lab. Run some of it: lab_test.py CutTest ParallelTest.
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
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab_case import DEADLINE_S, LAB, REACH, LabTestCase, lab, main, python, script, wait_until
from marked_processes import kill_processes_with, processes_with

import address_plan  # lab_case adds the lab's modules to sys.path
import topology_file
import topology_spec


class ConnectivityTest(LabTestCase):
    def test_every_cable_of_every_shape_carries_packets(self) -> None:
        for spec in ("line:3", "ring:4", "mesh:4", "star:4", "torus:2x3"):
            with self.subTest(spec):
                filled = address_plan.fill_in(topology_spec.parse_spec(spec))
                lines = []
                for cable in filled.cables:
                    for end in cable.ends:
                        far = cable.other_end(end.node).address
                        lines.append(f'lab exec {end.node} -- "$PY" -c "$REACH" {far}')
                output = self.run_lab([spec], "\n".join(lines))
                self.assertEqual([line.split()[1] for line in output.splitlines()], ["ECONNREFUSED"] * len(lines))

    def test_only_neighbours_are_reachable_without_forwarding(self) -> None:
        output = self.run_lab(["line:3"], 'lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2 10.7.1.1 10.7.1.2')
        self.assertEqual(self.reach(output), {
            "10.7.0.2": "ECONNREFUSED", "10.7.1.1": "ENETUNREACH", "10.7.1.2": "ENETUNREACH"})

    def test_kernel_forwarding(self) -> None:
        output = self.run_lab(["ring:5", "--forwarding"], """
            lab exec n0 -- "$PY" -c "$REACH" 10.7.1.2 10.7.2.1 10.7.2.2 10.7.3.1 10.7.4.1
            lab topology --routed n0-n2 >"$LAB_DIR/routed"; cat "$LAB_DIR/routed" >&2
            grep -q 'routed = true' "$LAB_DIR/routed"
            grep -q '"n0".*"to-n1".*"10.7.0.1"}.*"n2".*"to-n1".*"10.7.1.2"' \
                "$LAB_DIR/routed" """)
        self.assertEqual(set(self.reach(output).values()), {"ECONNREFUSED"})

    def test_forwarding_comes_back_with_a_mended_cable(self) -> None:
        output = self.run_lab(["line:3", "--forwarding"],
                              'lab cut c0; lab mend c0; lab exec n0 -- "$PY" -c "$REACH" 10.7.1.2')
        self.assertEqual(self.reach(output), {"10.7.1.2": "ECONNREFUSED"})

    def test_management_network_joins_all_nodes_and_the_control_namespace(self) -> None:
        output = self.run_lab(["line:3"], 'lab exec n0 -- "$PY" -c "$REACH" 10.6.0.3 "$LAB_CONTROL_ADDRESS"')
        self.assertEqual(self.reach(output), {"10.6.0.3": "ECONNREFUSED", "10.6.0.254": "ECONNREFUSED"})

    def test_file_with_parallel_cables_and_long_names(self) -> None:
        text = """cluster = "den"
[[node]]
name = "the.first-of-the-nodes"
relay_port = 7001
[[node]]
name = "b"
[[cable]]
ends = [{node = "the.first-of-the-nodes"}, {node = "b"}]
[[cable]]
ends = [{node = "b"}, {node = "the.first-of-the-nodes"}]
[[cable]]
name = "given"
ends = [{node = "b", interface = "x1", address = "10.7.0.8"}, {node = "the.first-of-the-nodes", address = "10.7.0.9"}]
rate_mbps = 100
"""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "den.toml")
            path.write_text(text, encoding="utf-8")
            output = self.run_lab([str(path)], """
                lab topology
                lab exec b -- tc qdisc show dev x1 | grep -q 'tbf.*rate 100Mbit'
                lab exec b -- "$PY" -c "$REACH" 10.7.0.9 10.7.1.1 10.7.2.2 | grep -c ECONNREFUSED | grep -qx 3 """)
        topology = topology_file.parse_topology("written", output)
        self.assertEqual((topology.cluster, topology.nodes[0].relay_port), ("den", 7001))
        first, second = "the.first-of-the-nodes", "b"
        self.assertEqual([cable.name for cable in topology.cables],
                         [f"{first}-{second}", f"{second}-{first}", "given"])
        self.assertEqual(topology.cables[2].ends[0], topology_spec.End("b", "x1", "10.7.0.8"))


class CommandTest(LabTestCase):
    def test_exit_status_passes_through(self) -> None:
        self.run_lab(["line:2"], "exit 37", status=37)
        self.run_lab(["line:2"], "kill -KILL $$", status=137)
        self.run_lab(["line:2"], "lab exec n0 -- sh -c 'exit 38'", status=38)
        self.run_lab(["line:2"], "lab exec n0 -- /no/such/command", status=127)
        self.assertEqual(lab("run", "line:2", "--", "/no/such/command").returncode, 127)

    def test_environment(self) -> None:
        output = self.run_lab(["line:2", "--sysctl", "net.ipv4.tcp_congestion_control=reno"], """
            test -n "$LAB" -a -d "$LAB_DIR" -a -r "$LAB_TOPOLOGY"
            lab topology | cmp - "$LAB_TOPOLOGY"
            lab exec n1 -- sh -c 'echo $CABLEWAY_NODE $CABLEWAY_PORTS $LAB_NODE_INDEX $LAB_NODE_ADDRESS
                ls /sys/class/net | tr "\\n" " "
                cat /proc/sys/net/ipv4/tcp_congestion_control /sys/class/net/to-n0/mtu'""")
        self.assertEqual(output.split(), ["n1", "to-n0,10.7.0.0/16", "1", "10.6.0.2", "lo", "mg0", "to-n0", "reno", "9000"])

    def test_each(self) -> None:
        text = "lab each -- sh -c 'echo {} $CABLEWAY_NODE; printf end; exit $LAB_NODE_INDEX'"
        output = self.run_lab(["line:3"], text, status=2)
        self.assertEqual(sorted(output.splitlines()), sorted(
            line for n in range(3) for line in (f"n{n} | n{n} n{n}", f"n{n} | end")))
        self.assertEqual(self.run_lab(["line:3"], "lab each --nodes n2 -- echo {}"), "n2 | n2\n")

    def test_unknown_node_or_cable(self) -> None:
        done = lab("run", "line:2", "--", LAB, "exec", "n7", "--", "true")
        self.assertEqual((done.returncode, done.stderr), (2, "lab: node 'n7': no such node; name one of n0, n1\n"))
        done = lab("run", "line:2", "--", LAB, "cut", "c7")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cable 'c7': no such cable; name one of c0 (n0-n1)", done.stderr)
        done = lab("run", "line:2", "--", LAB, "cut", "c0", "--one-way", "n7")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--one-way n7: cable c0 joins n0 and n1", done.stderr)

    def test_env_file_gives_access_from_another_terminal(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "env")
            inside = subprocess.Popen([sys.executable, LAB, "run", "line:2", "--env-file", str(path), "--", "cat"],
                                      stdin=subprocess.PIPE)
            try:
                wait_until(lambda: path.exists() and path.stat().st_size > 0, "the env file")
                text = f". {path}; {sys.executable} {LAB} exec n1 -- sh -c 'echo $CABLEWAY_NODE'"
                done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, timeout=DEADLINE_S,
                                      check=False)
                self.assertEqual((done.stdout, done.returncode), ("n1\n", 0), done.stderr)
            finally:
                inside.communicate(timeout=DEADLINE_S)
            self.assertEqual(inside.returncode, 0)


class CutTest(LabTestCase):
    def test_cut_and_mend(self) -> None:
        output = self.run_lab(["line:2"], """
            states() { lab each -- sh -c 'cat /sys/class/net/to-n*/carrier 2>/dev/null || echo none' | sort; }
            lab cut n1-n0; lab show | grep -q 'cut (no carrier)'; states
            lab mend c0; states; lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2""")
        self.assertEqual(output.splitlines(), ["n0 | none", "n1 | none", "n0 | 1", "n1 | 1", "10.7.0.2 ECONNREFUSED"])

    def test_silent_cut_keeps_the_carrier(self) -> None:
        for options in ([], ["--rate", "100mbit"]):
            output = self.run_lab(["line:2", *options], """
                lab cut c0 --silent; lab exec n0 -- cat /sys/class/net/to-n1/carrier
                lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2
                lab mend c0
                for try in 1 2 3 4 5 6; do  # an address look-up that began during the cut may still have to fail
                    if lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2 | grep -q ECONNREFUSED; then echo mended; break; fi
                done
                lab exec n0 -- tc qdisc show dev to-n1""")
            lines = output.splitlines()
            self.assertEqual(lines[0], "1")
            self.assertIn(lines[1].split()[1], ("silence", "EHOSTUNREACH"))
            self.assertEqual(lines[2], "mended")
            self.assertIn("tbf" if options else "noqueue", lines[3])

    def test_one_way_cut(self) -> None:
        output = self.run_lab(["line:2"], """
            count() { lab exec $1 -- cat /sys/class/net/$2/statistics/rx_packets; }
            ask() { lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2 >/dev/null; }
            ask; lab cut c0 --one-way n1
            a=$(count n0 to-n1) b=$(count n1 to-n0); ask
            echo $(($(count n0 to-n1) - a)) $(($(count n1 to-n0) - b))""")
        to_n0, to_n1 = (int(word) for word in output.split())
        self.assertEqual(to_n0, 0)
        self.assertGreater(to_n1, 0)


class PlugTest(LabTestCase):
    def test_plug_and_unplug(self) -> None:
        output = self.run_lab(["ring:4"], """
            lab plug n0-n2 --rate 100mbit
            lab exec n0 -- "$PY" -c "$REACH" 10.7.4.2
            lab exec n0 -- tc qdisc show dev to-n2 | grep -o 'rate [^ ]*'
            lab exec n2 -- printenv CABLEWAY_PORTS
            lab plug n2-n0; lab exec n2 -- "$PY" -c "$REACH" 10.7.5.2; lab cut c5; lab show | grep -c 'no carrier'
            lab unplug c4; lab unplug n0-n1
            lab exec n0 -- sh -c 'cd /sys/class/net; echo *'
            lab topology | grep -c '^name = "c'
            lab shape c1 --rate 10mbit; lab mend c5; lab exec n2 -- "$PY" -c "$REACH" 10.7.5.2""")
        self.assertEqual(output.splitlines(), [
            "10.7.4.2 ECONNREFUSED", "rate 100Mbit", "to-n1,to-n3,to-n0,10.7.0.0/16", "10.7.5.2 ECONNREFUSED", "1",
            "lo mg0 to-n2-2 to-n3", "4", "10.7.5.2 ECONNREFUSED"])

    def test_bad_pairs(self) -> None:
        for words in (["plug", "n0"], ["plug", "n0-n0"], ["plug", "n0-n9"], ["plug", "n0-n1", "--rate", "fast"]):
            done = lab("run", "line:2", "--", LAB, *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, "expected A-B, two of n0, n1|rate 'fast'")

    def test_unplugged_delay_line(self) -> None:
        output = self.run_lab(["ring:3", "--delay", "1ms"], """
            lab unplug c2; lab exec n0 -- sh -c 'cd /sys/class/net; echo *'; lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2""")
        self.assertEqual(output.splitlines(), ["lo mg0 to-n1", "10.7.0.2 ECONNREFUSED"])


class AddressingTest(LabTestCase):
    def test_switch_joins_all_its_nodes(self) -> None:
        output = self.run_lab(["switch:3"], """
            lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2 10.7.0.3
            lab cut n1-s0; lab exec n0 -- "$PY" -c "$REACH" 10.7.0.3""")
        self.assertEqual(output.splitlines(), ["10.7.0.2 ECONNREFUSED", "10.7.0.3 ECONNREFUSED", "10.7.0.3 ECONNREFUSED"])

    def test_ipv6(self) -> None:
        """A cut keeps the addresses, and the management network has none: a node must not find neighbours there."""
        addresses = 'lab exec n0 -- ip -br address | sed -E "s/fe80[^ ]*/fe80/; s/@[^ ]*//" | tr -s " "'
        output = self.run_lab(["line:2", "--addresses", "ipv6"], f"""
            lab cut c0; lab mend c0; {addresses}; lab exec n0 -- "$PY" -c "$REACH" fd00:7::2""")
        self.assertEqual([line.strip() for line in output.splitlines()][1:], [
            "mg0 UP 10.6.0.1/24", "to-n1 UP fd00:7::1/64 fe80", "fd00:7::2 ECONNREFUSED"])
        output = self.run_lab(["line:2", "--addresses", "link-local"], f"""{addresses}
            lab exec n0 -- printenv CABLEWAY_PORTS""")
        self.assertEqual([line.strip() for line in output.splitlines()][1:], [
            "mg0 UP 10.6.0.1/24", "to-n1 UP fe80", "to-n1,fe80::/10"])


def namespaces_in_use() -> set[str]:
    """Every namespace that a process is in or a mount holds, as the kernel names them: net:[4026531840]."""
    found: set[str] = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            found |= {os.readlink(path / "ns" / kind) for kind in ("net", "mnt", "pid")}
            found |= set(re.findall(r"net:\[\d+\]", (path / "mountinfo").read_text(encoding="utf-8")))
        except OSError:
            continue
    return found


class LeavesNothingTest(LabTestCase):
    def start(self, mark: str, *options: str) -> tuple[subprocess.Popen[str], set[str]]:
        """A lab with something running in every node; returns it and its namespaces."""
        text = """
            lab each -- sleep 1000 &
            (setsid sh -c 'trap "" INT TERM HUP; sleep 1000' &)
            for name in self:net self:mnt self:pid; do readlink /proc/self/ns/${name#self:}; done
            for node in $LAB_NODES; do lab exec $node -- readlink /proc/self/ns/net; done
            until test $(lab each -- true; pgrep -xc sleep) -ge 4; do sleep 0.05; done
            echo ready; wait"""
        process = subprocess.Popen([sys.executable, LAB, "run", "ring:3", *options, "--", *script(text)],
                                   stdout=subprocess.PIPE, text=True, env=os.environ | {"LAB_TEST_MARK": mark})
        names = set()
        assert process.stdout is not None
        for line in process.stdout:
            if line == "ready\n":
                return process, names
            names.add(line.strip())
        raise AssertionError(f"the lab ended with {process.wait()} before it was ready")

    def check_ended_by(self, signal_number: int, statuses: tuple[int, ...], *options: str) -> None:
        mark = uuid.uuid4().hex
        self.addCleanup(kill_processes_with, mark)
        links = interfaces()
        process, names = self.start(mark, *options)
        self.assertEqual(len(names), 6)
        self.assertLessEqual(names, namespaces_in_use())
        process.send_signal(signal_number)
        self.assertIn(process.wait(DEADLINE_S), statuses)
        assert process.stdout is not None
        process.stdout.close()
        wait_until(lambda: not processes_with(mark), "end of all processes", 60)
        wait_until(lambda: not names & namespaces_in_use(), "end of all namespaces", 60)
        self.assertEqual(interfaces(), links)

    def test_sigint(self) -> None:
        self.check_ended_by(signal.SIGINT, (130,))

    def test_sigterm(self) -> None:
        self.check_ended_by(signal.SIGTERM, (143,))

    def test_sigkill(self) -> None:
        self.check_ended_by(signal.SIGKILL, (-9,))

    def test_sigkill_with_delay_lines(self) -> None:
        self.check_ended_by(signal.SIGKILL, (-9,), "--delay", "1ms")

    def test_killed_while_building(self) -> None:
        for number, wait_s in ((signal.SIGKILL, 0.0), (signal.SIGINT, 0.05), (signal.SIGKILL, 0.1),
                               (signal.SIGTERM, 0.2), (signal.SIGINT, 0.3)):
            mark = uuid.uuid4().hex
            self.addCleanup(kill_processes_with, mark)
            process = subprocess.Popen([sys.executable, LAB, "run", "torus:8x8", "--", "sleep", "1000"],
                                       stderr=subprocess.PIPE, env=os.environ | {"LAB_TEST_MARK": mark})
            wait_until(lambda mark=mark: len(processes_with(mark)) > 1, "start of the lab's first process")
            time.sleep(wait_s)
            process.send_signal(number)
            _, errors = process.communicate(timeout=DEADLINE_S)
            self.assertIn(process.returncode, (-number, 128 + number))
            self.assertNotIn(b"Traceback", errors)
            wait_until(lambda mark=mark: not processes_with(mark), "end of all processes", 60)

    def test_normal_end(self) -> None:
        mark = uuid.uuid4().hex
        started = time.monotonic()
        done = lab("run", "ring:4", "--", "sh", "-c", "lab each -- sleep 1000 & sleep 0.3; readlink /proc/self/ns/net",
                   env=os.environ | {"LAB_TEST_MARK": mark})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - started, 60, "it waited for processes that still ran")
        wait_until(lambda: not processes_with(mark), "end of all processes", 60)
        wait_until(lambda: done.stdout.strip() not in namespaces_in_use(), "end of the control namespace", 60)


def interfaces() -> list[str]:
    """This namespace's interfaces; labs in their own namespaces do not change them."""
    return sorted(os.listdir("/sys/class/net"))


class ParallelTest(LabTestCase):
    def test_two_labs_do_not_collide(self) -> None:
        text = """
            lab cut c0; sleep 1; lab show | grep -c 'no carrier'
            lab exec n1 -- "$PY" -c "$REACH" 10.7.1.2 10.7.0.1; ls "$LAB_DIR" | wc -l"""
        command = [sys.executable, LAB, "run", "ring:3", "--rate", "500mbit", "--", *script(text)]
        labs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        outputs = [process.communicate(timeout=DEADLINE_S)[0] for process in labs]
        self.assertEqual([process.returncode for process in labs], [0, 0, 0])
        self.assertEqual(len(set(outputs)), 1)
        self.assertEqual(outputs[0].splitlines()[:3], ["1", "10.7.1.2 ECONNREFUSED", "10.7.0.1 ENETUNREACH"])

    def test_a_lab_in_a_lab(self) -> None:
        output = self.run_lab(["line:2"], "lab run ring:3 -- lab each -- echo {}; lab each -- echo {}")
        self.assertEqual(sorted(output.splitlines()), ["n0 | n0", "n0 | n0", "n1 | n1", "n1 | n1", "n2 | n2"])


class BackgroundTest(LabTestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.mark = uuid.uuid4().hex
        self.addCleanup(kill_processes_with, self.mark)
        self.environment = os.environ | {"XDG_RUNTIME_DIR": self.folder.name, "LAB_TEST_MARK": self.mark}
        self.environment.pop("LAB", None)

    def check(self, *words: str, status: int = 0) -> str:
        done = lab(*words, env=self.environment)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def test_up_enter_down(self) -> None:
        self.addCleanup(lab, "down", "one", env=self.environment)
        self.check("up", "ring:3", "--name", "one")
        self.assertRegex(self.check("list"), r"^one  ring:3  pid \d+\n$")
        self.assertIn("already", self.check("up", "ring:3", "--name", "one", status=2))
        text = "echo $CABLEWAY_NODE; exit 5"
        self.assertEqual(self.check("enter", "one", "n2", "--", "sh", "-c", text, status=5), "n2\n")
        self.assertEqual(self.check("exec", "--lab", "one", "n1", "--", *python(REACH, "10.7.1.2")),
                         "10.7.1.2 ECONNREFUSED\n")
        self.check("cut", "--lab", "one", "c1")
        self.assertIn("cut (no carrier)", self.check("show", "--lab", "one"))
        self.check("down", "one")
        self.assertEqual(self.check("list"), "")
        self.assertIn("no such lab is up", self.check("down", "one", status=2))

    def test_failure_is_reported(self) -> None:
        self.assertIn("sysctl net.no.such=1", self.check("up", "ring:3", "--name", "two", "--sysctl", "net.no.such=1",
                                                         status=2))
        self.assertEqual(self.check("list"), "")

    def test_interrupted_up_leaves_no_lab(self) -> None:
        interrupted = 0
        for wait_s in (0.0, 0.1, 0.3):
            process = subprocess.Popen([sys.executable, LAB, "up", "torus:8x8", "--name", "four"],
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       env=self.environment)
            wait_until(lambda: len(processes_with(self.mark)) > 1, "start of the lab's first process")
            time.sleep(wait_s)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=DEADLINE_S)
            if "lab four is up" in output:  # on a busy machine this may happen before the signal arrives
                self.check("down", "four")
            else:
                self.assertEqual(process.returncode, -signal.SIGINT, output)
                interrupted += 1
            wait_until(lambda: not processes_with(self.mark), "end of all processes", 60)
        self.assertGreater(interrupted, 0)
        self.assertEqual(self.check("list"), "")

    def test_dead_lab_is_not_listed(self) -> None:
        self.check("up", "line:2", "--name", "three")
        output = lab("run", "line:2", "--", LAB, "list", env=self.environment)  # the lab's pid is meaningless in this pid namespace
        self.assertEqual((output.stdout, output.returncode), ("", 0))
        match = re.fullmatch(r"three  line:2  pid (\d+)\n", self.check("list"))
        assert match is not None
        os.kill(int(match[1]), signal.SIGKILL)
        wait_until(lambda: self.check("list") == "", "the list to be empty")


@unittest.skipUnless(os.geteuid() == 0, "needs root, to become the user nobody")
@unittest.skipUnless(shutil.which("setpriv"), "needs setpriv (util-linux)")
class UnprivilegedTest(unittest.TestCase):
    DROP = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", 'exec "$@"', "sh"]

    def works(self, *words: str) -> bool:
        return subprocess.run([*self.DROP, *words], capture_output=True, check=False).returncode == 0

    def as_nobody(self, *words: str) -> subprocess.CompletedProcess[str]:
        if not self.works("test", "-x", LAB):
            self.skipTest(f"user nobody cannot read {LAB}")
        recent = "import sys; sys.exit(sys.version_info < (3, 11))"
        usable = [path for path in (sys.executable, "/usr/bin/python3") if self.works(path, "-c", recent)]
        if not usable:
            self.skipTest(f"user nobody can run neither {sys.executable} nor a /usr/bin/python3 of 3.11 or later")
        words = tuple(usable[0] if word == sys.executable else word.replace(f"PY={sys.executable}", f"PY={usable[0]}")
                      for word in words)
        done = subprocess.run([*self.DROP, usable[0], LAB, *words], capture_output=True, text=True, timeout=DEADLINE_S,
                              check=False, cwd="/")
        if done.returncode == 77 and "run with sudo" in done.stderr:
            self.skipTest(done.stderr.strip())
        return done

    def test_everything_works_without_root(self) -> None:
        done = self.as_nobody("run", "ring:4", "--rate", "1gbit", "--forwarding", "--", *script("""
            test $(id -u) = 0; lab show >/dev/null; lab each -- ls /sys/class/net >/dev/null
            lab exec n0 -- "$PY" -c "$REACH" 10.7.0.2 10.7.1.2
            lab cut c0 --silent; lab mend c0; lab cut c1; lab mend c1
            lab shape c2 --rate 10mbit; exit 9"""))
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertEqual(done.stdout.splitlines(), ["10.7.0.2 ECONNREFUSED", "10.7.1.2 ECONNREFUSED"])


@unittest.skipUnless(shutil.which("unshare") and shutil.which("setpriv"), "needs unshare and setpriv (util-linux)")
class ForbiddenTest(unittest.TestCase):
    def test_reports_that_namespaces_are_forbidden(self) -> None:
        forbid = 'echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
        command = ["unshare", "-Ur", "sh", "-ec", forbid, "sh", sys.executable, LAB, "run", "line:2", "--", "true"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertRegex(done.stderr, "^lab: this system does not let this user make namespaces .*run with sudo")


if __name__ == "__main__":
    main()
