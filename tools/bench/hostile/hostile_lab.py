"""The lab in which attacks are measured: four honest nodes in a line with one key, and an attacker with two cables to the
second of them, which relays. This process starts all processes itself."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "failover")]

from bench_error import BenchError
from lab_processes import LabProcess, start_node
from node_process import NodeProcess, lab_state
from release_build import ROOT

sys.path.insert(0, str(ROOT / "tools/lab"))

from namespaces import in_network  # noqa: E402  (the lab's own modules)

HONEST = ("n0", "n1", "n2", "n3")
ATTACKER, RELAY = "x", "n1"
SOURCE, DESTINATION = "n0", "n2"  # of the traffic
JOB = ("n3", "n0")  # new jobs, unless an attack has others: through both relays, against the traffic
_CABLES = (("n0", "n1"), ("n1", "n2"), ("n2", "n3"), (ATTACKER, RELAY), (ATTACKER, RELAY))
RATE = "500mbit"
_JOB_LIMIT_S = 20.0
_POLL_S = 0.02
_FIRST_PORT = 29500
_REASON_CHARACTERS = 300


def topology_text() -> str:
    """The lab's topology file."""
    lines = [f'[[node]]\nname = "{node}"' for node in (*HONEST, ATTACKER)]
    for place, (a, b) in enumerate(_CABLES):
        lines.append(f'[[cable]]\nname = "c{place}"\nends = [{{ node = "{a}" }}, {{ node = "{b}" }}]')
    return "\n".join(lines) + "\n"


def why_failed(rank: LabProcess) -> str:
    """The last message of the plugin, or of the rank; empty if it has succeeded."""
    try:
        rank.check_status()
    except BenchError as error:
        words = str(error).rpartition("NET/Cableway: ")[2].splitlines()
        return f"{rank.name}: {(words or ['no output'])[-1][:_REASON_CHARACTERS]}"
    return ""


class HostileLab:
    """The nodes of the lab that this process is in, between __enter__ and __exit__."""

    def __init__(self, build: Path, scratch: Path) -> None:
        self.build, self.scratch = build, scratch
        self.key_file = scratch / "key"
        self.key_file.touch(0o600)
        self.key_file.write_text(secrets.token_hex(32), encoding="ascii")
        self.daemons: dict[str, LabProcess] = {}
        self._state = lab_state()
        self._next_port = _FIRST_PORT

    def __enter__(self) -> HostileLab:
        for node in HONEST:
            self.start(node)
        return self

    def __exit__(self, *_: object) -> None:
        for node in list(self.daemons):
            self.stop(node)

    # Processes

    def start(self, node: str) -> None:
        # A group of everybody, for local users that take sessions.
        settings = {"CABLEWAY_KEY_FILE": str(self.key_file), "CABLEWAY_LOG": "info", "CABLEWAY_SESSION_GROUP": "*"}
        self.daemons[node] = start_node(node, [str(self.build / "bin/cablewayd")], settings, "", NodeProcess)

    def stop(self, node: str) -> None:
        self.daemons.pop(node).stop()

    def kill(self, node: str) -> None:
        """Ends the node without a leaving hello to its neighbours."""
        os.kill(self.daemons[node].pid, 9)
        self.stop(node)

    def start_ranks(self, nodes: tuple[str, str], report: Path, *options: str) -> list[LabProcess]:
        """collperf, which sends from the first node to the second one and checks every byte."""
        self._next_port += 1
        address = self._state.node_environment(nodes[0])["LAB_NODE_ADDRESS"]
        command = [str(self.build / "bin/collperf"), "--plugin", str(self.build / "lib/libnccl-net-cableway.so"),
                   "--ranks", "2", "--rendezvous", f"{address}:{self._next_port}", "--workload", "sendrecv,0-1",
                   "--channels", "1", "--idle-us", "100", "--timeout", str(int(_JOB_LIMIT_S)), "--json", str(report), *options]
        settings = {"CABLEWAY_KEY_FILE": str(self.key_file), "CABLEWAY_LOG": "warning"}
        return [NodeProcess(node, [*command, "--rank", str(rank)], settings) for rank, node in enumerate(nodes)]

    def job_s(self, nodes: tuple[str, str] = JOB) -> tuple[float, str]:
        """How long a job takes that moves 64 KiB and checks them, from the start of its processes until they have ended; and
        why it failed."""
        began = time.monotonic()
        ranks = self.start_ranks(nodes, self.scratch / "job.json", "--sizes", "64K", "-w", "0", "--iters", "0",
                                 "--check", "1")
        try:
            while any(rank.running() for rank in ranks) and time.monotonic() < began + 2 * _JOB_LIMIT_S:
                time.sleep(_POLL_S / 4)
            took = time.monotonic() - began
            for rank in ranks:
                if rank.running():
                    return took, f"{rank.name} was not done after {took:.0f} s"
                if reason := why_failed(rank):
                    return took, reason
            return took, ""
        finally:
            for rank in ranks:
                rank.stop()

    # The lab

    def cables_of_attacker(self) -> list[tuple[str, str, str]]:
        """The interface, the address and the relay's address of each of the attacker's cables."""
        cables = self._state.topology.cables_of(ATTACKER)
        return [(cable.end_at(ATTACKER).interface, cable.end_at(ATTACKER).address, cable.end_at(RELAY).address)
                for cable in cables]

    def addresses(self, *nodes: str) -> list[str]:
        return [end.address for cable in self._state.topology.cables for end in cable.ends if end.node in nodes]

    def honest_cables(self) -> set[frozenset[tuple[str, str]]]:
        """The two ends of each cable between honest nodes: node and interface."""
        return {frozenset((end.node, end.interface) for end in cable.ends) for cable in self._state.topology.cables
                if ATTACKER not in cable.nodes()}

    def in_node(self, node: str, *command: str) -> str:
        with in_network(node):
            done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False,
                                  env=os.environ | self._state.node_environment(node))
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)} on {node} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def cableway(self, node: str, *words: str) -> Any:
        return json.loads(self.in_node(node, str(self.build / "bin/cableway"), *words, "--json"))
