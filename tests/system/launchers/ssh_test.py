#!/usr/bin/env python3
"""System test of a real sshd: collperf starts its ranks on the hosts of a lab over ssh, and ends them when it ends.

Usage: ssh_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from in_lab import in_lab, main
from lab_nodes import LabNodes
from lab_state import load_state
from other_programs import other_program

DEADLINE_S = 60
# Hosts of a lab share their files. Their sshd has users, and a folder for its own use, without a change of these.
_SSHD = """
set -e
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/shadow" /etc/shadow
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd
exec "$2" -D -e -r -f "$1/sshd_config"
"""
_FILES = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nsshd:x:65531:65534::/run/sshd:/usr/sbin/nologin\n",
    "shadow": "root:*:20000::::::\nsshd:!:20000::::::\n",
    "sshd_config": "HostKey {0}/host\nAuthorizedKeysFile {0}/user.pub\nStrictModes no\nUsePAM no\nPidFile none\n"
                   "PermitRootLogin prohibit-password\n",
    "ssh_config": "Host *\nIdentityFile {0}/user\nUserKnownHostsFile {0}/known\nStrictHostKeyChecking accept-new\n"
                  "BatchMode yes\nLogLevel ERROR\n",
}


def address_of(node: str) -> str:
    return load_state().node_environment(node)["LAB_NODE_ADDRESS"]


def ranks_at_work() -> list[str]:
    """The ranks of the lab, which has process numbers of its own."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if words[0].endswith(b"/collperf") and b"--launched" in words:
                found.append(folder.name)
    return found


def log_of(nodes: LabNodes, name: str) -> str:
    return nodes.text(f"sshd-{name}")


@contextmanager
def sshd_on(nodes: LabNodes, program: str, names: list[str]) -> Iterator[Path]:
    """The folder with the configuration of ssh."""
    with tempfile.TemporaryDirectory(prefix="cableway-sshd-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True, timeout=DEADLINE_S)
        for name, text in _FILES.items():
            (folder / name).write_text(text.format(folder), encoding="ascii")
        servers = [nodes.popen(name, ["unshare", "--mount", "sh", "-c", _SSHD, "sh", folder, program], log=f"sshd-{name}")
                   for name in names]
        try:
            nodes.wait_until(lambda: all("Server listening" in log_of(nodes, name) for name in names),
                             lambda: "".join(log_of(nodes, name) for name in names))
            yield folder
        finally:
            for server in servers:
                server.terminate()
                server.wait(DEADLINE_S)


def start_ranks(nodes: LabNodes, folder: Path, hosts: list[str], *words: str) -> subprocess.Popen[bytes]:
    return nodes.popen("n0", [nodes.build / "bin/collperf", "--plugin", nodes.build / "lib/libnccl-net-cableway.so", "--idle-us",
                              "100", "--hosts", ",".join(hosts), "--ssh", f"ssh -F {folder}/ssh_config", *words])


@unittest.skipUnless(shutil.which("ssh"), "no ssh here (openssh-client)")
class SshTest(unittest.TestCase):
    @in_lab("line:3")
    def test_ranks_on_three_hosts(self, nodes: LabNodes) -> None:
        program = other_program(self, "sshd")
        nodes.start()
        nodes.wait_for_cables()
        with sshd_on(nodes, program, nodes.names) as folder:
            hosts = [address_of(name) for name in nodes.names]
            ranks = start_ranks(nodes, folder, hosts, "--workload", "all_reduce:64K", "-n", "2", "-w", "1")
            out, errors = (stream.decode() for stream in ranks.communicate(timeout=DEADLINE_S))
            self.assertEqual(ranks.returncode, 0, out + errors)
            self.assertIn("# nRanks 3 ", out)
            self.assertIn("# Out of bounds values : 0 OK", out)
            for name in nodes.names:
                self.assertIn("Accepted publickey for root", log_of(nodes, name))
            for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                with self.subTest(how.name):
                    self.check_none_is_left(nodes, folder, hosts, how)

    def check_none_is_left(self, nodes: LabNodes, folder: Path, hosts: list[str], how: signal.Signals) -> None:
        ranks = start_ranks(nodes, folder, hosts, "--workload", "all_reduce:64M", "-n", "100000", "-w", "1")
        nodes.wait_until(lambda: len(ranks_at_work()) == 3, lambda: f"ranks: {ranks_at_work()}")
        os.kill(ranks.pid, how)
        nodes.wait_until(lambda: not ranks_at_work(), lambda: f"ranks are left: {ranks_at_work()}")
        ranks.communicate(timeout=DEADLINE_S)
        self.assertNotEqual(ranks.returncode, 0)

    @in_lab("line:2")
    def test_a_host_without_sshd(self, nodes: LabNodes) -> None:
        program = other_program(self, "sshd")
        nodes.start()
        with sshd_on(nodes, program, ["n0"]) as folder:
            ranks = start_ranks(nodes, folder, [address_of("n0"), address_of("n1")], "--workload", "all_reduce:64K")
            out, errors = (stream.decode() for stream in ranks.communicate(timeout=DEADLINE_S))
        self.assertNotEqual(ranks.returncode, 0, out)
        self.assertRegex(errors, f"host {re.escape(address_of('n1'))} failed with exit status 255, that of ssh when it cannot"
                                 r" connect(.|\n)*Connection refused")
        self.assertEqual(ranks_at_work(), [])


if __name__ == "__main__":
    main()
