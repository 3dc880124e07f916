"""Cuts a cable while an all_reduce runs, and kills a relay under a flow that passes it: both go on over other paths."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo_failure import DemoFailure
from discovery import await_cables
from lab_nodes import LAB_DIR, LabNodes
from operations import output_path, rank_command, show_errors
from pause_watch import received_bytes, watch
from programs import Programs

_LOAD_S = 5.0
_FLOWING_BYTES = 4 << 20
_FLOWING_S = 15.0
_QUIET_S = 1.2  # a kernel that saw a link change in the second before reports a lost carrier up to a second late
_WATCH_S = 0.8  # after the fault
_END_S = 60.0
_POLL_S = 0.05
_CHECKED = ("--sizes", "1M", "--channels", "1", "-w", "1", "--iters", "8", "--check-all", "--seconds", f"{_LOAD_S:g}",
            "--idle-us", "100")


def connected(pairs: set[tuple[str, str]], first: str, second: str, without: str = "") -> bool:
    """Whether a path along the pairs of nodes leads from one to the other without crossing `without`."""
    reached, queue = {first}, [first]
    while queue:
        here = queue.pop()
        for pair in pairs:
            if here in pair:
                there = pair[0] if pair[1] == here else pair[1]
                if there not in reached and there != without:
                    reached.add(there)
                    queue.append(there)
    return second in reached


def cable_to_cut(names: list[str], pairs: set[tuple[str, str]]) -> tuple[str, str] | None:
    """Two consecutive ranks that share a cable and have another path between them; None if there are none."""
    for pair in zip(names, names[1:] + names[:1]):
        shared = pairs & {pair, pair[::-1]}
        if shared and connected(pairs - shared, *pair):
            return pair
    return None


def pair_to_relay(names: list[str], pairs: set[tuple[str, str]]) -> tuple[str, str] | None:
    """Two nodes that share no cable and stay connected whichever other node is missing; None if there are none."""
    for number, first in enumerate(names):
        for second in names[number + 1:]:
            if not pairs & {(first, second), (second, first)} and all(
                    connected(pairs, first, second, without) for without in names if without not in (first, second)):
                return first, second
    return None


@dataclass
class _Load:
    """collperf on some nodes, in the background."""

    names: list[str]
    processes: list[subprocess.Popen[bytes]]
    report: Path

    def pid(self, node: str) -> int:
        return self.processes[self.names.index(node)].pid

    def finish(self) -> int:
        """Returns the bytes verified."""
        deadline = time.monotonic() + _END_S
        for process in self.processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        failed = [rank for rank, process in enumerate(self.processes) if process.returncode != 0]
        if failed:
            show_errors(self.names, failed)
            raise DemoFailure(f"collperf in {', '.join(self.names[rank] for rank in failed)} failed;"
                              " its output is above")
        found: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        if found["wrong"] or not found["bytes_verified"]:
            raise DemoFailure(f"{found['wrong']} of {found['bytes_verified']} bytes are wrong")
        verified: int = found["bytes_verified"]
        print(f"  {verified / 1e6:.0f} MB verified meanwhile, 0 bytes wrong", flush=True)
        return verified


def _start_load(nodes: LabNodes, programs: Programs, names: list[str], *work: str) -> _Load:
    report = LAB_DIR / "collperf-failover.json"
    report.unlink(missing_ok=True)
    processes = []
    for rank, node in enumerate(names):
        extra = ["--json", report] if rank == 0 else []
        with open(output_path(rank), "wb") as output:
            command = [*rank_command(nodes, programs, rank, names), *work, *_CHECKED, *extra]
            processes.append(nodes.start(node, command, stdout=output, stderr=subprocess.STDOUT))
    return _Load(names, processes, report)


def _wait_for_data(load: _Load, node: str) -> None:
    def total() -> int:
        return sum(received_bytes(load.pid(node)).values())

    before, deadline = total(), time.monotonic() + _FLOWING_S
    while total() < before + _FLOWING_BYTES:
        if time.monotonic() > deadline or load.processes[0].poll() is not None:
            load.finish()
            raise DemoFailure(f"no data arrives at {node} within {_FLOWING_S:g} s")
        time.sleep(_POLL_S)


def _cut_a_cable(nodes: LabNodes, programs: Programs, first: str, second: str) -> int:
    print(f"\nA cable is cut while an all_reduce goes around all {len(nodes.names)} nodes, every byte checked:\n\n"
          f"$ lab cut {first}-{second}", flush=True)
    load = _start_load(nodes, programs, nodes.names, "--workload", "all_reduce,ring")
    _wait_for_data(load, second)
    time.sleep(_QUIET_S)
    cut = nodes.start_lab("cut", f"{first}-{second}")
    seen = watch(load.pid(second), lambda: cut.poll() is None, _WATCH_S)
    nodes.check_lab(cut, f"cut {first}-{second}")
    print(f"  {seen.longest_pause_s * 1e3:5.0f} ms  without data at {second}; then it came by {seen.arrives_by}", flush=True)
    nodes.check_lab(nodes.start_lab("mend", f"{first}-{second}"), f"mend {first}-{second}")
    return load.finish()


def _kill_a_relay(nodes: LabNodes, programs: Programs, first: str, second: str) -> int:
    print(f"\nA relay dies while {first} sends to {second}, which share no cable:", flush=True)
    load = _start_load(nodes, programs, [first, second], "--workload", "sendrecv,0-1")
    _wait_for_data(load, second)
    before = nodes.relayed_bytes()
    time.sleep(_QUIET_S)
    moved = dict(zip(nodes.names, (now - then for now, then in zip(nodes.relayed_bytes(), before))))
    relay = max(moved, key=lambda name: moved[name])
    print(f"\n$ kill -9 $(pidof cablewayd)      # in {relay}, through which most of it goes", flush=True)
    nodes.kill(relay)
    seen = watch(load.pid(second), lambda: False, _WATCH_S)
    print(f"  {seen.longest_pause_s * 1e3:5.0f} ms  without data at {second}; then it came by {seen.arrives_by}", flush=True)
    nodes.restart(relay)
    return load.finish()


def show_failover(nodes: LabNodes, programs: Programs) -> int:
    """Returns the bytes verified."""
    pairs = {(first[0], second[0]) for first, second in nodes.joined_ports()}
    verified = 0
    cable = cable_to_cut(nodes.names, pairs) if nodes.has_cables_between_nodes() else None
    if cable is None:
        print("\nNo cable here can be cut and leave another way.")
    else:
        verified += _cut_a_cable(nodes, programs, *cable)
        await_cables(nodes)
    pair = pair_to_relay(nodes.names, pairs)
    if pair is None:
        print("\nNo relay here can die and leave another way.")
    else:
        verified += _kill_a_relay(nodes, programs, *pair)
        await_cables(nodes)
    return verified
