"""The nodes of the lab that this process is in: starts, kills and queries them, changes their interfaces and cables, and
runs collperf on them. For tests: failures raise AssertionError with the end of the logs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import lab_case  # adds the lab's modules to sys.path
from joined_ports import JoinedPorts, joined_ports
from lab_state import LAB_DIR, load_state
from namespaces import in_network
from topology_spec import Topology

READY_S = 20.0
# For tests that never silence a neighbour: a node that a busy machine does not schedule for a second must not be lost.
STEADY = {"HOLD_MS": "20000"}
PATIENCE_S = 30.0  # for a busy machine; an idle one needs less than a tenth of it
_POLL_S = 0.05
_LOG_LINES = 25
_PORT = 29500


def hops_between(joined: set[JoinedPorts], source: str) -> dict[str, int]:
    """The number of hops to every node that can be reached, this one included."""
    hops, queue = {source: 0}, deque([source])
    while queue:
        node = queue.popleft()
        for (first, _), (second, _) in joined:
            for here, there in ((first, second), (second, first)):
                if here == node and there not in hops:
                    hops[there] = hops[node] + 1
                    queue.append(there)
    return hops


class NoAnswer(AssertionError):
    """A running node has not answered in time."""


class LabNodes:
    def __init__(self, build: Path) -> None:
        self.build = build
        self.names = load_state().topology.node_names()
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._settings: dict[str, dict[str, str]] = {}
        self._starts = 0
        self._next_port = _PORT

    def __enter__(self) -> LabNodes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for daemon in self._daemons.values():
            daemon.kill()
            daemon.wait()
        if kind is not None:
            for path in sorted(LAB_DIR.glob("*.log")):
                lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
                print("\n".join(f"{path.stem} | {line}" for line in lines[-_LOG_LINES:]))

    # Nodes

    def start(self, *names: str, **settings: str) -> None:
        """Starts a cablewayd in each (default: in all) and waits until it is ready; it may not have found its neighbours yet.
        Settings without their prefix: start("n0", HOLD_MS="500")."""
        for name in names or self.names:
            self._settings[name] = {f"CABLEWAY_{key}": value for key, value in settings.items()}
            receive, send = os.pipe()
            with open(receive, "rb", buffering=0) as answers:
                self._daemons[name] = self.popen(name, [self.build / "bin/cablewayd", "--ready-fd", str(send)],
                                                 log=f"cablewayd-{name}", pass_fds=[send])
                os.close(send)
                readable, _, _ = select.select([answers], [], [], READY_S)
                answer = answers.read(4096) if readable else b""
            if answer != b"ready\n":
                raise AssertionError(f"cablewayd of {name} is not up: {answer!r}")

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Returns the exit status of its process."""
        daemon = self._daemons.pop(name)
        daemon.send_signal(number)
        return daemon.wait(PATIENCE_S)

    def signal(self, name: str, number: int) -> None:
        self._daemons[name].send_signal(number)

    def pid(self, name: str) -> int:
        return self._daemons[name].pid

    def running(self) -> list[str]:
        return [name for name in self.names if name in self._daemons]

    def check_alive(self) -> None:
        for name, daemon in self._daemons.items():
            if daemon.poll() is not None:
                raise AssertionError(f"cablewayd of {name} ended with {daemon.returncode}")

    def log(self, name: str) -> str:
        return self.text(f"cablewayd-{name}")

    @staticmethod
    def text(log: str) -> str:
        """The output of a process of popen()."""
        return (LAB_DIR / f"{log}.log").read_text(encoding="utf-8", errors="replace")

    # Commands in a node

    def popen(self, name: str, command: list[Any], log: str = "", **options: Any) -> subprocess.Popen[bytes]:
        """Runs with the settings that the node was started with. Output goes to the log of that name, else to pipes."""
        environment = os.environ | load_state().node_environment(name) | self._settings.get(name, {})
        if log:
            with open(LAB_DIR / f"{log}.log", "ab") as file, in_network(name):
                return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                        env=environment, **options)
        with in_network(name):
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    env=environment, **options)

    def run(self, name: str, *command: Any) -> str:
        """Returns its stdout; raises AssertionError if it fails."""
        process = self.popen(name, [str(word) for word in command])
        out, errors = process.communicate(timeout=PATIENCE_S)
        if process.returncode != 0:
            kind = NoAnswer if b"did not answer within" in errors else AssertionError
            raise kind(f"{command} in {name} ended with {process.returncode}: {errors.decode()}")
        return out.decode()

    def ip(self, name: str, *lines: str) -> None:
        """Runs ip's commands, such as "address flush dev to-n1"."""
        for line in lines:
            self.run(name, "ip", *line.split())

    def python(self, name: str, source: str, *arguments: str) -> str:
        return self.run(name, sys.executable, "-c", source, *arguments)

    @staticmethod
    def lab(*words: str) -> None:
        done = lab_case.lab(*words)
        if done.returncode != 0:
            raise AssertionError(f"lab {' '.join(words)}: {done.stderr}")

    # Node state

    def cableway(self, name: str, *words: str) -> Any:
        return json.loads(self.run(name, self.build / "bin/cableway", *words, "--json"))

    def doctor(self, name: str, *words: str) -> tuple[int, list[dict[str, Any]]]:
        """The exit status and the findings of `cableway doctor` on the node."""
        process = self.popen(name, [self.build / "bin/cableway", "doctor", "--json", *words])
        out, errors = process.communicate(timeout=PATIENCE_S)
        assert not errors, errors
        return process.returncode, json.loads(out)["findings"]

    def cables(self, name: str) -> set[JoinedPorts]:
        found = set()
        for cable in self.cableway(name, "topology")["cables"]:
            first, second = sorted((end["node"], end["interface"]) for end in cable["ends"])
            found.add((first, second))
        return found

    def addresses(self, name: str) -> set[str]:
        """The addresses in use on the cables of this node's topology."""
        return {end["address"] for cable in self.cableway(name, "topology")["cables"] for end in cable["ends"]}

    def problems(self, name: str) -> list[str]:
        """In the form of the log: "CODE text"."""
        return [f"{problem['code']} {problem['text']}" for problem in self.cableway(name, "status")["problems"]]

    def events(self, name: str, *codes: str) -> list[dict[str, Any]]:
        """The events with these codes, oldest first."""
        wanted = [word for code in codes for word in ("--code", code)]
        return self.cableway(name, "events", "--severity", "debug", *wanted)["events"]

    def count_logged(self, name: str, *codes: str) -> int:
        """Lines of the log that have one of these codes."""
        return len(re.findall(rf"\] (?:{'|'.join(codes)}) ", self.log(name)))

    def relay_memory(self, name: str) -> dict[str, int]:
        status = self.cableway(name, "status")
        return status["relay_memory"] | {"circuits": status["relayed"]["circuits_open"]}

    def relayed_bytes(self, names: list[str]) -> int:
        return sum(self.cableway(name, "status")["relayed"]["bytes"] for name in names)

    def sent_bytes(self, name: str, interface: str) -> int:
        return self._counter(name, interface, 9)

    def received_bytes(self, name: str, interface: str) -> int:
        return self._counter(name, interface, 1)

    def _counter(self, name: str, interface: str, column: int) -> int:
        lines = self.run(name, "cat", "/proc/net/dev").splitlines()  # /sys may show another namespace's interfaces
        return next(int(line.split()[column]) for line in lines if line.split()[0] == f"{interface}:")

    @staticmethod
    def topology() -> Topology:
        return load_state().topology

    # Waiting

    def wait_until(self, condition: Callable[[], bool], what: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(NoAnswer):
                if condition():
                    return
            self.check_alive()
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {PATIENCE_S:g} s: {what()}")
            time.sleep(_POLL_S)

    def wait_for_cables(self, expected: set[JoinedPorts] | None = None, names: list[str] | None = None) -> None:
        """Waits until every running node, or each of `names`, has exactly these cables; default: all of the lab."""
        wanted = joined_ports(self.topology()) if expected is None else expected
        for name in names or self.running():
            self.wait_until(lambda name=name: self.cables(name) == wanted,
                            lambda name=name: f"{name} has {sorted(self.cables(name))}, expected {sorted(wanted)};"
                                              f" its problems are {self.problems(name)}")

    def cables_without(self, *left_out: str) -> set[JoinedPorts]:
        """All cables of the lab except those between two nodes, "n0-n1"."""
        return {(first, second) for first, second in joined_ports(self.topology())
                if not {f"{first[0]}-{second[0]}", f"{second[0]}-{first[0]}"} & set(left_out)}

    def wait_for_problem(self, name: str, pattern: str) -> None:
        """Waits for a problem whose "CODE text" matches; the log must have it, too."""
        self.wait_until(lambda: any(re.search(pattern, text) for text in self.problems(name)),
                        lambda: f"a problem of {name} that matches '{pattern}'; it has {self.problems(name)}")
        if not re.search(pattern, self.log(name)):
            raise AssertionError(f"the log of {name} does not contain '{pattern}'")

    def wait_for_no_problem(self, *names: str) -> None:
        for name in names or self.running():
            self.wait_until(lambda name=name: not self.problems(name),
                            lambda name=name: f"an end of the problems of {name}: {self.problems(name)}")

    def check_routes(self) -> None:
        """Waits until every running node has a shortest path to every node over the cables that it has. The cables are
        queried again each time, since routes and cables take two queries."""
        for name in self.running():
            self.wait_until(lambda name=name: self._hops(name) == hops_between(self.cables(name), name),
                            lambda name=name: f"routes of {name} that match its cables: {self._hops(name)}; expected "
                                              f"{hops_between(self.cables(name), name)}")

    def _hops(self, name: str) -> dict[str, int]:
        return {name: 0} | {route["destination"]: route["hops"] for route in self.cableway(name, "routes")["routes"]}

    # Traffic

    def start_ranks(self, names: list[str], *options: str) -> Ranks:
        """collperf with one rank on each of the nodes."""
        self._next_port += 1
        self._starts += 1
        report = Path(tempfile.mkdtemp(dir=LAB_DIR)) / "report.json"
        address = load_state().node_environment(names[0])["LAB_NODE_ADDRESS"]
        processes = []
        logs = {name: f"collperf-{self._starts}-{name}" for name in names}
        for rank, name in enumerate(names):
            command = [self.build / "bin/collperf", "--plugin", self.build / "lib/libnccl-net-cableway.so",
                       "--rank", str(rank), "--ranks", str(len(names)), "--rendezvous", f"{address}:{self._next_port}",
                       "--timeout", "20", "--idle-us", "100", *options]
            extra = ["--json", report] if rank == 0 else []
            processes.append(self.popen(name, [*command, *extra], log=logs[name]))
        return Ranks(processes, report, logs)

    def check_traffic(self, names: list[str] | None = None, counted: list[str] | None = None) -> int:
        """Every pair of the nodes (default: all that run) exchanges data; every byte is checked. Returns the bytes that the
        nodes in `counted` (default: all that run) relayed meanwhile."""
        relays = counted or self.running()
        before = self.relayed_bytes(relays)
        self.start_ranks(names or self.running(), "--workload", "all_to_all", "--sizes", "2M", "-w", "0", "--iters", "0",
                         "--check", "2").finish()
        return self.relayed_bytes(relays) - before


class Ranks:
    """collperf's processes."""

    def __init__(self, processes: list[subprocess.Popen[bytes]], report: Path, logs: dict[str, str]) -> None:
        self._processes, self._report, self._logs = processes, report, logs
        self.names = list(logs)

    def log(self, name: str) -> str:
        """The output of the rank on that node; of all of them, if there are several."""
        return LabNodes.text(self._logs[name])

    def running(self) -> bool:
        return any(process.poll() is None for process in self._processes)

    def kill(self, name: str) -> None:
        process = self._processes[self.names.index(name)]
        process.kill()
        process.wait(PATIENCE_S)

    def finish(self) -> int:
        """Waits for all ranks to succeed. Returns the bytes verified."""
        deadline = time.monotonic() + 2 * PATIENCE_S
        for process in self._processes:
            process.wait(max(0.1, deadline - time.monotonic()))
        report = json.loads(self._report.read_text(encoding="utf-8")) if self._report.exists() else {}
        if any(process.returncode for process in self._processes) or not report.get("bytes_verified"):
            raise AssertionError(f"ranks ended with {[process.returncode for process in self._processes]}: {report}")
        return report["bytes_verified"]
