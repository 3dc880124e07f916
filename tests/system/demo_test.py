#!/usr/bin/env python3
"""System test of tools/demo.sh: success, failure and interruption.

Usage: demo_test.py --build DIR [TEST...]. DIR has what the demo runs. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
DEMO = str(TOOLS / "demo.sh")
DEADLINE_S = 170
CHECK_EVERY_S = 0.05
LONGEST_PAUSE_MS = 3000  # on a busy machine
LONGEST_S = 120  # an idle machine needs a quarter of it
OPERATIONS = ("all_reduce ring", "all_reduce tree", "all_gather", "reduce_scatter", "broadcast", "all_to_all",
              "sendrecv opposite")

build = ""  # set from the command line


def demo(*words: str, build_folder: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DEMO, "--build", build_folder or build, *words], capture_output=True, text=True,
                          timeout=DEADLINE_S, check=False)


def last_line(output: str) -> str:
    return output.splitlines()[-1]


class RunTest(unittest.TestCase):
    def run_demo(self, *words: str) -> tuple[str, int, int]:
        """Returns the output, the bytes verified and the bytes relayed."""
        done = demo(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        found = re.fullmatch(r"demo: ok, (\d+) bytes verified, (\d+) relayed, ([0-9.]+) s", last_line(done.stdout))
        self.assertIsNotNone(found, done.stdout)
        assert found is not None
        self.assertLess(float(found[3]), LONGEST_S)
        return done.stdout, int(found[1]), int(found[2])

    def rows(self, output: str) -> dict[str, list[list[float]]]:
        """The numbers of each operation's rows: size, time, busbw, wrong, then the bytes each node relayed."""
        found = {}
        for operation in OPERATIONS:
            lines = [line for line in output.splitlines() if line.startswith(f"{operation} ")]
            found[operation] = [[float(number) for number in re.findall(r" ([0-9.]+)\b", line)] for line in lines]
        return found

    def check_table(self, output: str, nodes: int, relayed: int) -> dict[str, list[list[float]]]:
        rows = self.rows(output)
        for operation, lines in rows.items():
            self.assertEqual(len(lines), 2, operation)
            for line in lines:
                self.assertEqual(len(line), 4 + nodes, line)
                self.assertGreater(line[1], 0)
                self.assertEqual(line[3], 0)
        shown = sum(sum(line[4:]) for lines in rows.values() for line in lines)
        self.assertAlmostEqual(shown, relayed / 2**20, delta=0.005 * 14 * nodes)
        return rows

    def test_ring(self) -> None:
        output, verified, relayed = self.run_demo()
        self.assertRegex(output, r"\d+ ms  all 4 nodes know all 4 cables\n")
        self.assertIn("n0-n1  n0    to-n1      10.7.0.1  n1  to-n0      10.7.0.2 ", output)
        self.assertIn("  n0  ->  n1, n3 directly; n2 via n1 or n3\n", output)
        self.assertGreater(verified, 0)
        self.assertGreater(relayed, 0)
        rows = self.check_table(output, 4, relayed)
        # A ring's neighbours need no relay. A part of large data takes the other way around, whose cables are idle.
        few, much = rows["all_gather"]
        self.assertEqual(sum(few[4:]), 0)
        self.assertGreater(sum(much[4:]), 0)
        self.assertTrue(all(count > 0 for line in rows["sendrecv opposite"] for count in line[4:]))
        self.assertRegex(output, r"\$ lab plug n0-n2\n(.*\n)* +\d+ ms  all 4 nodes know all 5 cables\n")
        self.assertIn("  shorter ways, in cables: n0 - n2 2, now 1\n", output)
        self.check_failover(output, "n0-n1", "it came by to-n2", "n1 sends to n3")

    def check_failover(self, output: str, cable: str, detour: str, relayed: str) -> None:
        pauses = [int(pause) for pause in re.findall(r"^ +(\d+) ms  without data at ", output, re.MULTILINE)]
        self.assertEqual(len(pauses), 2, output)
        self.assertLess(max(pauses), LONGEST_PAUSE_MS)
        self.assertRegex(output, rf"\$ lab cut {cable}\n +\d+ ms  without data at \w+; then {detour}\n")
        self.assertIn(f"A relay dies while {relayed}, which share no cable:", output)
        self.assertEqual(len(re.findall(r"^  \d+ MB verified meanwhile, 0 bytes wrong$", output, re.MULTILINE)), 2)

    def test_line(self) -> None:
        output, verified, relayed = self.run_demo("--topology", "line:4", "--rate", "none")
        self.assertIn("  n0  ->  n1 directly; n2 via n1; n3 via n1-n2\n", output)
        self.assertGreater(verified, 0)
        rows = self.check_table(output, 4, relayed)
        for line in rows["all_to_all"]:
            self.assertEqual([count > 0 for count in line[4:]], [False, True, True, False])
        self.assertIn("$ lab plug n0-n3\n", output)
        self.assertIn("shorter ways, in cables: n0 - n3 3, now 1\n", output)
        self.check_failover(output, "n0-n1", "it came by to-n2", "n0 sends to n2")

    def test_neighbours_need_no_relay(self) -> None:
        for topology in ("mesh:3", "switch:3"):
            with self.subTest(topology):
                output, verified, relayed = self.run_demo("--topology", topology, "--rate", "none")
                self.assertGreater(verified, 0)
                self.assertRegex(output, "all 3 nodes know all 3 cables")
                self.assertIn("Every two nodes share a cable here, so nothing had to be relayed", output)
                self.assertEqual("flows of much data also used paths through other nodes" in output, relayed > 0)
                self.assertIn("so one more would make no way shorter", output)
                rows = self.check_table(output, 3, relayed)
                self.assertEqual(sum(rows["all_gather"][0][4:]), 0)

    def test_file(self) -> None:
        """Names, addresses and rates from a file; the slow cable makes the larger size smaller."""
        text = 'cluster = "garage"\n' + "".join(f'[[node]]\nname = "{name}"\n' for name in ("spark-a", "spark-b", "spark-c"))
        for number, (a, b, rate) in enumerate((("spark-a", "spark-b", 500), ("spark-b", "spark-c", 50))):
            text += (f'[[cable]]\nends = [{{node = "{a}", address = "10.9.{number}.1"}},'
                     f' {{node = "{b}", address = "10.9.{number}.2"}}]\nrate_mbps = {rate}\n')
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            output, _, relayed = self.run_demo("--topology", file.name)
        self.assertIn("10.9.1.2", output)
        self.assertIn("  spark-a  ->  spark-b directly; spark-c via spark-b\n", output)
        rows = self.check_table(output, 3, relayed)
        self.assertLess(max(line[0] for line in rows["all_gather"]), 1024)  # KiB


class RefusalTest(unittest.TestCase):
    def check_refused(self, reason: str, exit_status: int, *words: str, build_folder: str | None = None) -> str:
        done = demo(*words, build_folder=build_folder)
        self.assertEqual(done.returncode, exit_status, done.stdout + done.stderr)
        self.assertRegex(last_line(done.stdout), f"^demo: FAILED: .*{reason}")
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout

    def test_bad_topology(self) -> None:
        self.check_refused("spec 'ring:2': a ring has 3 to 64 nodes", 2, "--topology", "ring:2")
        self.check_refused("no-such-file.toml", 2, "--topology", "no-such-file.toml")
        self.check_refused("rate 'fast'", 2, "--rate", "fast")
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[[node]]\nname = "n 0"\n')
            file.flush()
            self.check_refused(f"{re.escape(file.name)}:[12]: ", 2, "--topology", file.name)

    def test_bad_argument(self) -> None:
        done = demo("--topologie", "ring:4")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--topologie", done.stderr)

    def test_nothing_built(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.check_refused("cablewayd, .*: not built in ", 1, build_folder=folder)

    def check_replaced(self, scripts: dict[str, str], reason: str, output: str) -> None:
        """Runs with a build folder in which some programs are shell scripts."""
        with tempfile.TemporaryDirectory() as folder:
            for path in ("bin/cablewayd", "bin/cableway", "bin/collperf", "lib/libnccl-net-cableway.so"):
                target = Path(folder, path)
                target.parent.mkdir(exist_ok=True)
                target.symlink_to(Path(build, path).resolve())
            for program, text in scripts.items():
                script = Path(folder, "bin", program)
                script.unlink()
                script.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
                script.chmod(0o755)
            self.assertRegex(self.check_refused(reason, 1, "--topology", "ring:3", build_folder=folder), output)

    def test_program_output_is_shown(self) -> None:
        self.check_replaced({"collperf": "echo 'collperf[0] plugin WARN out of luck'; exit 3"},
                            "all_reduce ring: collperf in n0, n1, n2 failed", "out of luck")
        self.check_replaced({"cablewayd": "echo 'cablewayd: out of luck' >&2; exit 1"},
                            "cablewayd of n0 is not up", "out of luck")

    def test_nodes_that_do_not_find_each_other(self) -> None:
        scripts = {program: f'CABLEWAY_CLUSTER="of-$CABLEWAY_NODE" exec {Path(build, "bin", program).resolve()} "$@"'
                   for program in ("cablewayd", "cableway")}
        self.check_replaced(scripts, "n0 has not found 3 cables within 12 s, such as n0 to-n1 - n1 to-n0",
                            r"n0 \| a node at .* is of another cluster than of-n0")


def marked_processes(mark: str) -> list[Path]:
    """The /proc folders of the processes whose environment carries the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (path / "environ").read_bytes():
                found.append(path)
        except OSError:
            continue
    return found


def namespaces_of(paths: list[Path]) -> set[str]:
    """The namespaces that the processes or their mounts hold, as the kernel names them."""
    found: set[str] = set()
    for path in paths:
        try:
            found |= {os.readlink(path / "ns" / kind) for kind in ("net", "mnt", "pid", "user")}
            found |= set(re.findall(r"net:\[\d+\]", (path / "mountinfo").read_text(encoding="utf-8")))
        except OSError:
            continue
    return found


class InterruptTest(unittest.TestCase):
    def wait_until(self, condition: object, what: str) -> None:
        deadline = time.monotonic() + 20
        while not condition():  # type: ignore[operator]
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(CHECK_EVERY_S)

    def interrupt(self, signal_number: int, await_line: str) -> tuple[int, str]:
        """Interrupts a demo once it has printed a line that starts with `await_line`; returns its exit status and last
        line."""
        mark = uuid.uuid4().hex
        process = subprocess.Popen([DEMO, "--build", build], stdout=subprocess.PIPE, text=True,
                                   env=os.environ | {"DEMO_TEST_MARK": mark})
        assert process.stdout is not None
        try:
            line = ""
            for line in process.stdout:
                if line.startswith(await_line):
                    break
            own = namespaces_of(marked_processes(mark)) - namespaces_of([Path("/proc/self")])
            self.assertGreaterEqual(len(own), 4 + 2, line)  # of four nodes, and of the lab itself
            process.send_signal(signal_number)
            for line in process.stdout:
                pass
            exit_status = process.wait(DEADLINE_S)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        self.wait_until(lambda: not marked_processes(mark), "end of all processes")
        everything = list(Path("/proc").glob("[0-9]*"))
        self.wait_until(lambda: not own & namespaces_of(everything), "end of all namespaces")
        return exit_status, line

    def test_sigint(self) -> None:
        exit_status, line = self.interrupt(signal.SIGINT, "all_reduce ring")
        self.assertEqual(exit_status, 130)
        self.assertEqual(line, "demo: FAILED: interrupted by SIGINT\n")

    def test_sigterm(self) -> None:
        exit_status, line = self.interrupt(signal.SIGTERM, "Who reaches whom")
        self.assertEqual(exit_status, 143)
        self.assertEqual(line, "demo: FAILED: interrupted by SIGTERM\n")

    def test_sigkill(self) -> None:
        exit_status, line = self.interrupt(signal.SIGKILL, "all_reduce tree")
        self.assertEqual(exit_status, -signal.SIGKILL)
        self.assertNotIn("demo: ok", line)


def main() -> None:
    global build
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: demo_test.py --build DIR [TEST...]")
    build = sys.argv[2]
    del sys.argv[1:3]
    probe = subprocess.run([sys.executable, TOOLS / "lab" / "lab", "run", "line:2", "--", "true"], capture_output=True,
                           text=True, check=False)
    if probe.returncode == 77:
        print(f"skipped: {probe.stderr.strip()}")
        sys.exit(77)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
