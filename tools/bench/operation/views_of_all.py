"""The views of all nodes (`cableway status --all`), asked again and again in a lab with a node in each namespace. This script
runs inside the lab and prints the rounds as JSON.

Usage: views_of_all.py BUILD_DIR ROUNDS
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "failover")]

from bench_error import BenchError, exit_status
from lab_processes import LabProcess, start_node
from node_process import NodeProcess, lab_state
from release_build import ROOT

sys.path.insert(0, str(ROOT / "tools/lab"))

from namespaces import in_network  # noqa: E402  (the lab's own modules)

VIEWS = ("status", "ports", "flows", "doctor")
_FOUND_LIMIT_S = 120.0
_ROUND_LIMIT_S = 20.0
_PAUSE_S = 1.0  # between rounds, as a person asks; a node makes a view at most four times a second
_UNHEALTHY = 2  # doctor's exit status where it has findings of severity error


def _cableway(build: Path, node: str, *words: str) -> Any:
    with in_network(node):
        done = subprocess.run([build / "bin/cableway", *words, "--json"], capture_output=True, text=True, check=False,
                              timeout=_ROUND_LIMIT_S, env=os.environ | lab_state().node_environment(node))
    if done.returncode > _UNHEALTHY or not done.stdout:
        raise BenchError(f"cableway {' '.join(words)} on {node} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _await_topology(build: Path, node: str, cables: int) -> None:
    deadline = time.monotonic() + _FOUND_LIMIT_S
    while (found := len(_cableway(build, node, "topology")["cables"])) != cables:
        if time.monotonic() > deadline:
            raise BenchError(f"{node} has {found} of {cables} cables after {_FOUND_LIMIT_S:.0f} s: is the machine busy?")
        time.sleep(_PAUSE_S)


def _round(build: Path, node: str, view: str) -> dict[str, Any]:
    """`took_s` is the time of the command, from its start to its end; `missing` the nodes without an answer."""
    began = time.monotonic()
    shown = _cableway(build, node, view, "--all")["nodes"]
    return {"view": view, "took_s": time.monotonic() - began, "nodes": len(shown),
            "missing": sorted(name for name, each in shown.items() if "error" in each)}


def _run(build: Path, rounds: int) -> int:
    topology = lab_state().topology
    names = topology.node_names()
    daemons: list[LabProcess] = []
    try:
        for name in names:
            daemons.append(start_node(name, [str(build / "bin/cablewayd")], {"CABLEWAY_LOG": "warning"}, "", NodeProcess))
        for name in (names[0], names[-1]):
            _await_topology(build, name, len(topology.cables))
        results = []
        for _ in range(rounds):
            for view in VIEWS:
                results.append(_round(build, names[0], view))
                time.sleep(_PAUSE_S)
        json.dump(results, sys.stdout)
    finally:
        for daemon in daemons:
            daemon.stop()
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(Path(sys.argv[1]), int(sys.argv[2]))))
