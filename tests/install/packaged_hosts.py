#!/usr/bin/env python3
"""Installs the package on the hosts of a lab, starts their nodes, and runs an all_reduce among them that checks every
byte. Prints the number of an operator's commands and the seconds that they took.

Usage, in a lab: packaged_hosts.py PACKAGE ROOT...; ROOT i is the fresh root of node ni.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from debian_root import DebianRoot

LAB_FOLDER = Path(__file__).resolve().parents[2] / "tools" / "lab"
LAB = str(LAB_FOLDER / "lab")
sys.path.insert(0, str(LAB_FOLDER))

from address_plan import management_address  # noqa: E402

NODE_START_S = 20.0


class PackagedHost:
    def __init__(self, number: int, folder: Path) -> None:
        self.name = f"n{number}"
        self.root = DebianRoot(folder)
        self.commands = 0
        self._node: subprocess.Popen[str] | None = None

    def command(self, *words: str) -> list[str]:
        return [sys.executable, LAB, "exec", self.name, "--", *self.root.command(*words)]

    def run(self, *words: str) -> str:
        """One command that an operator enters."""
        self.commands += 1
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{self.name}: {' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def start_node(self) -> None:
        """In place of systemd, which cannot run here: what the unit executes."""
        unit = (self.root.folder / "usr/lib/systemd/system/cablewayd.service").read_text()
        daemon = next(line.partition("=")[2] for line in unit.splitlines() if line.startswith("ExecStart="))
        self.commands += 1
        self._node = self.start(*daemon.split())

    def end_node(self) -> None:
        if self._node is not None:
            self._node.kill()
            self._node.communicate()


def await_nodes(host: PackagedHost, number: int) -> None:
    deadline = time.monotonic() + NODE_START_S
    while True:
        done = subprocess.run(host.command("cableway", "topology", "--json"), capture_output=True, text=True, timeout=30,
                              check=False)
        if done.returncode == 0 and done.stdout.count('"relay_port"') == number:
            return
        if time.monotonic() > deadline:
            sys.exit(f"{host.name} does not find {number} nodes:\n{done.stdout}{done.stderr}")
        time.sleep(0.1)


def all_reduce(hosts: list[PackagedHost]) -> None:
    """One of 1 MiB and one of 16 MiB, over the plugin that the loader finds by its name."""
    ranks = []
    for rank, host in enumerate(hosts):
        host.commands += 1
        ranks.append(host.start("collperf", "--plugin", "cableway", "--ranks", str(len(hosts)), "--rank", str(rank),
                                "--rendezvous", f"{management_address(0)}:29500", "--workload", "all_reduce",
                                "--sizes", "1M,16M"))
    for rank in ranks:
        output, errors = rank.communicate(timeout=120)
        if rank.returncode != 0:
            sys.exit(f"collperf: exit status {rank.returncode}\n{output}{errors}")


def main() -> None:
    package, folders = Path(sys.argv[1]), sys.argv[2:]
    hosts = [PackagedHost(number, Path(folder)) for number, folder in enumerate(folders)]
    for host in hosts:
        host.root.bring(package)
    began = time.monotonic()
    try:
        for host in hosts:
            host.run("dpkg", "-i", f"/root/{package.name}")
            host.run("sh", "-c", f"printf 'node = \"{host.name}\"\\nports = [\"10.7.0.0/16\"]\\n' >/etc/cableway/cableway.toml")
            host.start_node()
        await_nodes(hosts[-1], len(hosts))
        all_reduce(hosts)
    finally:
        for host in hosts:
            host.end_node()
    print(f"{sum(host.commands for host in hosts)} commands, {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
