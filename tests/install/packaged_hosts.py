#!/usr/bin/env python3
"""The life of the package on the hosts of a lab, one root for each: installed and started, an all_reduce among them that
checks every byte, upgraded under the running nodes, a second all_reduce, purged. Nothing of it may be left then. Prints
the number of an operator's commands until the first all_reduce has ended, and the seconds that they took.

Usage, in a lab: packaged_hosts.py PACKAGE LATER ROOT...; ROOT i is the fresh root of node ni.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from debian_root import DebianRoot
from fake_systemd import ServingSystemd

LAB_FOLDER = Path(__file__).resolve().parents[2] / "tools" / "lab"
LAB = str(LAB_FOLDER / "lab")
sys.path.insert(0, str(LAB_FOLDER))

from address_plan import management_address  # noqa: E402

NODE_START_S = 20.0
NODE_STOP_S = 20.0


class PackagedHost:
    """A host by its root. `way`, a command that enters the host's network, is put before an operator's commands."""

    def __init__(self, name: str, root: DebianRoot, way: Sequence[str] = ()) -> None:
        self.name = name
        self.root = root
        self._way = list(way)
        self.commands = 0
        self._node: subprocess.Popen[str] | None = None
        self.systemd = ServingSystemd(self.root, self.start_node, self.stop_node)

    def command(self, *words: str) -> list[str]:
        return [*self._way, *self.root.command(*words)]

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
        self._node = self.start(*daemon.split())

    def stop_node(self) -> None:
        """As systemd does: SIGTERM, on which it ends by itself."""
        node = self._node
        assert node is not None
        os.kill(self.node_pid(), signal.SIGTERM)
        output, errors = node.communicate(timeout=NODE_STOP_S)
        self._node = None
        if node.returncode != 0:
            raise RuntimeError(f"{self.name}: cablewayd: exit status {node.returncode}\n{output}{errors}")

    def node_pid(self) -> int:
        """Of the daemon, beneath the programs that lead into the root."""
        assert self._node is not None
        deadline = time.monotonic() + NODE_START_S
        while time.monotonic() < deadline:
            pid = self._node.pid
            while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                pid = int(children[0])
            if Path(f"/proc/{pid}/comm").read_text().strip() == "cablewayd":
                return pid
            time.sleep(0.02)
        raise RuntimeError(f"{self.name}: no cablewayd runs")

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


def expect_asked(host: PackagedHost, expected: list[str], when: str) -> None:
    asked = host.systemd.take_asked()
    if asked != expected:
        sys.exit(f"{host.name}: {when} asked systemd for {asked}, expected {expected}")


def install(host: PackagedHost, package: Path) -> None:
    host.run("dpkg", "-i", f"/root/{package.name}")
    expect_asked(host, ["start"], "the installation")
    host.run("sh", "-c", f"printf 'node = \"{host.name}\"\nports = [\"10.7.0.0/16\"]\n' >/etc/cableway/cableway.toml")
    host.run("systemctl", "restart", "cablewayd")
    expect_asked(host, ["restart"], "the operator")


def upgrade(host: PackagedHost, later: Path) -> None:
    """Over the running node, which the scripts restart, as nothing uses it."""
    before = host.node_pid()
    host.run("dpkg", "-i", f"/root/{later.name}")
    expect_asked(host, ["restart"], "the upgrade")
    if host.node_pid() == before:
        sys.exit(f"{host.name}: the node of before the upgrade still runs")
    version = host.run("dpkg-query", "-W", "cableway")
    if "+later" not in version:
        sys.exit(f"{host.name}: the upgrade left {version}")


def purge(host: PackagedHost, before: dict[str, str]) -> None:
    host.run("dpkg", "--purge", "cableway")
    expect_asked(host, ["stop"], "the purge")
    now = host.root.contents()
    wrong = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if wrong:
        lines = (f"  {name}: {before.get(name, 'absent')}, now {now.get(name, 'absent')}\n" for name in wrong)
        sys.exit(f"{host.name}: after the purge these differ from before the installation:\n{''.join(lines)}")


def main() -> None:
    package, later, folders = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    hosts = [PackagedHost(f"n{number}", DebianRoot(Path(folder)), [sys.executable, LAB, "exec", f"n{number}", "--"])
             for number, folder in enumerate(folders)]
    fresh = [host.root.contents() for host in hosts]
    for host in hosts:
        host.root.bring(package)
        host.root.bring(later)
    began = time.monotonic()
    try:
        for host in hosts:
            install(host, package)
        await_nodes(hosts[-1], len(hosts))
        all_reduce(hosts)
        figure = f"{sum(host.commands for host in hosts)} commands, {time.monotonic() - began:.1f} s"
        for host in hosts:
            upgrade(host, later)
        await_nodes(hosts[-1], len(hosts))
        all_reduce(hosts)
        for host, before in zip(hosts, fresh):
            purge(host, before)
    finally:
        for host in hosts:
            host.end_node()
    print(figure)


if __name__ == "__main__":
    main()
