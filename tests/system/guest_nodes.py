"""A node in each guest of a GuestLab, and collperf's ranks on them: starts, kills and queries them. For tests: failures raise
AssertionError with the end of the logs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from softroce_case import COMMAND_S, SOFTROCE, GuestLab

PATIENCE_S = 60.0  # guests are emulated, and this machine may be busy
_POLL_S = 0.3
_LOG_LINES = 15
_PORT = 29500

# Guests share the host's processors: a busy wait in one slows down all others.
_SETTINGS = {"CABLEWAY_TRANSPORT": "verbs", "CABLEWAY_RELAY_MEMORY": "256M"}
_IDLE_US = 500

_COUNTER = "cat /sys/class/infiniband/*/ports/1/hw_counters/{} 2>/dev/null; true"


# The kernel's limit on RDMA objects (domains, registrations, queues) of each device, for a group of processes.
_GROUPS = "/sys/fs/cgroup"
_LIMITED = f"{_GROUPS}/limited"
_LIMIT = f"""set -e
[ -e {_GROUPS}/cgroup.procs ] || mount -t cgroup2 none {_GROUPS}
echo +rdma >{_GROUPS}/cgroup.subtree_control
mkdir -p {_LIMITED}
for device in /sys/class/infiniband/*; do echo "${{device##*/}} hca_object=$0" >{_LIMITED}/rdma.max; done"""


class GuestProcess:
    """A command in a guest. Its output goes to a file on the host."""

    def __init__(self, lab: GuestLab, node: str, command: list[str], settings: Mapping[str, str]) -> None:
        self.node = node
        self._output: IO[bytes] = tempfile.TemporaryFile()
        words = ["env", *(f"{key}={value}" for key, value in settings.items()), *command]
        self.process = subprocess.Popen([sys.executable, SOFTROCE, "exec", node, "--", *words], stdin=subprocess.DEVNULL,
                                        stdout=self._output, stderr=self._output, env=lab.environment)

    def text(self) -> str:
        self._output.seek(0)
        return self._output.read().decode(errors="replace")

    def running(self) -> bool:
        return self.process.poll() is None

    def wait(self, seconds: float) -> int:
        """Returns its exit status; raises AssertionError if it has not ended by then."""
        try:
            return self.process.wait(max(0.1, seconds))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end on {self.node} within {seconds:.0f} s:\n{self.text()}") from None

    def kill(self) -> None:
        """Kills the command as well, by SIGKILL."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self._output.close()


class GuestRanks:
    """collperf's processes, one on each of the nodes."""

    def __init__(self, ranks: list[GuestProcess]) -> None:
        self.ranks = ranks

    def running(self) -> bool:
        return any(rank.running() for rank in self.ranks)

    def text(self) -> str:
        return "\n".join(f"--- rank on {rank.node}\n{rank.text()}" for rank in self.ranks)

    def finish(self, seconds: float = 2 * PATIENCE_S) -> str:
        """Waits for all ranks to succeed. Returns the output of rank 0."""
        deadline = time.monotonic() + seconds
        statuses = [rank.wait(deadline - time.monotonic()) for rank in self.ranks]
        if any(statuses) or not re.search(r"collperf: ok, [1-9]\d* bytes verified", self.ranks[0].text()):
            raise AssertionError(f"ranks ended with {statuses}:\n{self.text()}")
        return self.ranks[0].text()

    def expect_failure(self, *left_out: str, seconds: float) -> str:
        """Waits for the ranks to end, except on the nodes left out; each has to report a failure, and none may hang.
        Returns their output."""
        deadline = time.monotonic() + seconds
        waited = [rank for rank in self.ranks if rank.node not in left_out]
        statuses = [rank.wait(deadline - time.monotonic()) for rank in waited]
        if any(status != 3 for status in statuses):
            raise AssertionError(f"ranks ended with {statuses}, expected 3 (failed) of each:\n{self.text()}")
        return "\n".join(rank.text() for rank in waited)

    def close(self) -> None:
        for rank in self.ranks:
            rank.close()


class GuestNodes:
    def __init__(self, lab: GuestLab, build: Path) -> None:
        self._lab, self._build = lab, build
        shown = lab.check("topology")
        self.names = re.findall(r'^name = "(n\d+)"', shown, re.MULTILINE)
        self._daemons: dict[str, GuestProcess] = {}
        self._all_ranks: list[GuestRanks] = []
        self._next_port = _PORT

    def stop(self) -> None:
        for ranks in self._all_ranks:
            ranks.close()
        for daemon in self._daemons.values():
            daemon.close()
        self._daemons.clear()

    # Nodes

    def start(self, *names: str, **settings: str) -> None:
        """Starts a cablewayd in each (default: in all) and waits until it answers; it may not have found its neighbours yet."""
        environment = _SETTINGS | {f"CABLEWAY_{key}": value for key, value in settings.items()}
        for name in names or self.names:
            command = [str(self._build / "bin/cablewayd")]
            self._daemons[name] = GuestProcess(self._lab, name, command, environment)
        for name in names or self.names:
            self.wait_until(lambda name=name: self._query(name, "status").returncode == 0, lambda name=name: f"{name} up")

    def kill(self, name: str) -> None:
        self.kill_command(name, "cablewayd")
        daemon = self._daemons.pop(name)
        daemon.wait(PATIENCE_S)
        daemon.close()

    def kill_command(self, name: str, command: str) -> None:
        """Sends SIGKILL."""
        self.run(name, "pkill", "-KILL", "-x", command)

    def check_alive(self) -> None:
        for name, daemon in self._daemons.items():
            if not daemon.running():
                raise AssertionError(f"cablewayd of {name} ended with {daemon.process.returncode}: {self.log(name)}")

    def log(self, name: str) -> str:
        return self._daemons[name].text()

    def logs(self) -> str:
        return "\n".join(f"{name} | {line}" for name in self._daemons
                         for line in self.log(name).splitlines()[-_LOG_LINES:])

    # Node state

    def _query(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return self._lab.do("exec", name, "--", str(self._build / "bin/cableway"), *words)

    def cableway(self, name: str, *words: str) -> Any:
        done = self._query(name, *words, "--json")
        if done.returncode != 0:
            raise AssertionError(f"cableway {' '.join(words)} in {name}: {done.stderr}")
        return json.loads(done.stdout)

    def doctor(self, name: str) -> list[dict[str, Any]]:
        """The findings of `cableway doctor` on the node, of any severity."""
        done = self._query(name, "doctor", "--json")
        if done.returncode not in (0, 1):
            raise AssertionError(f"cableway doctor in {name}: exit status {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)["findings"]

    def problems(self, name: str) -> list[str]:
        return [f"{problem['code']} {problem['text']}" for problem in self.cableway(name, "status")["problems"]]

    def relayed_bytes(self, name: str) -> int:
        return self.cableway(name, "status")["relayed"]["bytes"]

    def sent_bytes(self, name: str, interface: str) -> int:
        return int(self.run(name, "cat", f"/sys/class/net/{interface}/statistics/tx_bytes"))

    def sent_rdma_packets(self, name: str) -> int:
        return self._counted(name, "sent_pkts")

    def rdma_duplicate_requests(self, name: str) -> int:
        return self._counted(name, "duplicate_request")

    def _counted(self, name: str, counter: str) -> int:
        """The sum of a counter over all RDMA devices of the node."""
        return sum(map(int, self._lab.check("exec", name, "--", "sh", "-c", _COUNTER.format(counter)).split()))

    def gid_index(self, name: str, interface: str) -> int | None:
        """The index of the port's address in its device's GID table; None: RDMA cannot be used there now."""
        ports = self.cableway(name, "ports")["ports"]
        return next((port["gid_index"] for port in ports if port["interface"] == interface), None)

    def run(self, name: str, *words: str) -> str:
        return self._lab.check("exec", name, "--", *words)

    # Limits

    def rdma_objects_limited(self, names: list[str], objects: int) -> tuple[str, ...]:
        """A command prefix that limits a command on these nodes to this many objects of each RDMA device."""
        for name in names:
            self.run(name, "sh", "-c", _LIMIT, str(objects))
        return "sh", "-c", f'echo $$ >{_LIMITED}/cgroup.procs; exec "$@"', "sh"

    @contextmanager
    def no_more_rdma_objects(self, name: str) -> Iterator[None]:
        """Lets the node's cablewayd create no RDMA objects beyond those it has."""
        self.rdma_objects_limited([name], 0)
        move = "pidof cablewayd >{}/cgroup.procs"
        self.run(name, "sh", "-c", move.format(_LIMITED))
        try:
            yield
        finally:
            self.run(name, "sh", "-c", move.format(_GROUPS))

    # Waiting

    def wait_until(self, condition: Callable[[], bool], what: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.check_alive()
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {PATIENCE_S:g} s: {what()}\n{self.logs()}")
            time.sleep(_POLL_S)

    def wait_for_cables(self, count: int) -> None:
        """Waits until every running node has exactly `count` cables in its topology."""
        for name in self._daemons:
            self.wait_until(lambda name=name: len(self.cableway(name, "topology")["cables"]) == count,
                            lambda name=name: f"{name} should have {count} cables, and has"
                                              f" {self.cableway(name, 'topology')['cables']}")

    # Traffic

    def ranks(self, names: list[str], *options: str, settings: Mapping[str, str] | None = None,
              prefix: tuple[str, ...] = ()) -> GuestRanks:
        """collperf with one rank on each of the nodes; `prefix` goes before its command."""
        self._next_port += 1
        address = self.run(names[0], "printenv", "LAB_NODE_ADDRESS").strip()
        started = []
        for rank, name in enumerate(names):
            command = [*prefix, str(self._build / "bin/collperf"), "--plugin",
                       str(self._build / "lib/libnccl-net-cableway.so"), "--rank", str(rank), "--ranks", str(len(names)),
                       "--rendezvous", f"{address}:{self._next_port}", "--timeout", str(COMMAND_S), "--idle-us",
                       str(_IDLE_US), *options]
            started.append(GuestProcess(self._lab, name, command, _SETTINGS | {"CABLEWAY_LOG": "warning"} | (settings or {})))
        self._all_ranks.append(GuestRanks(started))
        return self._all_ranks[-1]

    def check_traffic(self, names: list[str] | None = None, **more: Any) -> str:
        """Every pair of the nodes exchanges data; every byte is checked."""
        return self.ranks(names or self.names, "--workload", "all_to_all", "--sizes", "64K", "--channels", "1", "-w", "0",
                          "--iters", "0", "--check", "1", **more).finish()
