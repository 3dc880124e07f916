"""The demo outside the lab: builds what is missing, runs demo_in_lab.py in a lab, and prints the result.

    tools/demo.sh ── becomes this process
      ├─ tools/setup.sh, cmake, ninja ── where something is not built
      └─ tools/lab/lab run ── holds every namespace and every process of the demo
           └─ demo_in_lab.py ── reports its result through a pipe

The lab ends with its supervisor, which the kernel kills when this process dies, even by SIGKILL.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import children
from children import Interrupted
from demo_failure import DemoFailure
from programs import TREE, Programs, build_programs

_LAB = [sys.executable, str(TREE / "tools" / "lab" / "lab")]
_IN_LAB = str(Path(__file__).with_name("demo_in_lab.py"))
_DEFAULT_RATE = "1gbit"
_LAB_UNAVAILABLE = 77

_DESCRIPTION = """\
Shows Cableway at work on this machine: builds nodes (network namespaces) joined by cables, each its own subnet, starts
a cablewayd in each, waits until they have found each other, shows the topology and the routes that they found, runs
collectives over the plugin, every byte checked, plugs in one more cable, and cuts a cable and kills a relay under load. Nodes that share no cable reach each other
through the nodes between them. What is missing is installed (tools/setup.sh) and built first. Nothing is left behind,
however the demo ends."""

_EPILOG = """\
The last line is `demo: ok, BYTES bytes verified, BYTES relayed, TIME s`, or `demo: FAILED: WHY`; TIME is without building.
Exit status: 0 ok; 2 invalid arguments; 77 this system does not let this user make network namespaces;
130, 143 interrupted; 1 otherwise."""


@dataclass(frozen=True)
class _LabEnd:
    exit_status: int
    complaint: str  # the lab's own, empty where it has none
    result: dict[str, Any] | None  # the output of demo_in_lab.py


def _is_file(topology: str) -> bool:
    return ":" not in topology or "/" in topology or topology.endswith(".toml")


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/demo.sh", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topology", metavar="TOPOLOGY", default="ring:4",
                        help="line:N, ring:N, mesh:N, star:N, switch:N, torus:AxB, or a FILE that describes the lab's"
                             " cables (default: ring:4)")
    parser.add_argument("--rate", metavar="RATE",
                        help="of every cable in each direction, such as 200mbit; none for no limit"
                             f" (default: {_DEFAULT_RATE}; with a FILE, the rates in it)")
    parser.add_argument("--build", metavar="DIR", help="run what is built there, as it is (default: build/release,"
                                                       " brought up to date first)")
    return parser.parse_args(words)


def _rate_options(arguments: argparse.Namespace) -> list[str]:
    if arguments.rate:
        return [f"--rate={arguments.rate}"]
    return [] if _is_file(arguments.topology) else [f"--rate={_DEFAULT_RATE}"]


def _separate(errors: str) -> tuple[str, str]:
    """Splits standard error into the lab's complaint, which is its last line, and the rest."""
    lines = errors.splitlines()
    if not lines or not lines[-1].startswith("lab: "):
        return "", errors
    return lines[-1].removeprefix("lab: "), "".join(f"{line}\n" for line in lines[:-1])


def _run_lab(arguments: argparse.Namespace, command: list[str]) -> _LabEnd:
    """Runs the command, which finds a pipe for its result as descriptor `{result_fd}`, in a lab."""
    receive, send = os.pipe()
    words = [word.replace("{result_fd}", str(send)) for word in command]
    with tempfile.TemporaryFile() as errors, open(receive, "rb") as results:
        try:
            exit_status = children.run(
                [*_LAB, "run", arguments.topology, *_rate_options(arguments), "--", *words],
                stderr=errors, pass_fds=[send])
        finally:
            os.close(send)
        errors.seek(0)
        complaint, rest = _separate(errors.read().decode(errors="replace"))
        sys.stderr.write(rest)
        text = results.read()
    if exit_status == 0:
        complaint = ""
    return _LabEnd(exit_status, complaint, json.loads(text) if text else None)


def _check_lab(arguments: argparse.Namespace) -> None:
    """Refuses at once what would otherwise fail after minutes of building."""
    end = _run_lab(arguments, ["true"])
    if end.exit_status != 0:
        raise DemoFailure(end.complaint or f"the lab ended with {end.exit_status}", end.exit_status)


def _demo(arguments: argparse.Namespace) -> str:
    """Returns the last line of a successful demo."""
    programs = Programs(Path(arguments.build)) if arguments.build else build_programs(lambda: _check_lab(arguments))
    programs.check()
    began = time.monotonic()
    end = _run_lab(arguments, [sys.executable, _IN_LAB, "--result-fd", "{result_fd}", "--build", str(programs.folder)])
    if end.result is not None and "error" in end.result:
        raise DemoFailure(end.result["error"])
    if end.exit_status != 0 or end.result is None:
        raise DemoFailure(end.complaint or f"the lab ended with {end.exit_status}", end.exit_status or 1)
    return (f"demo: ok, {end.result['verified']} bytes verified, {end.result['relayed']} relayed,"
            f" {time.monotonic() - began:.1f} s")


def main(words: list[str]) -> int:
    arguments = _parse(words)
    children.raise_on_signals()
    try:
        last_line, exit_status = _demo(arguments), 0
    except DemoFailure as failure:
        last_line, exit_status = f"demo: FAILED: {failure}", failure.exit_status
    except Interrupted as interruption:
        last_line, exit_status = f"demo: FAILED: {interruption}", interruption.exit_status
    print(last_line, flush=True)
    return exit_status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # the reader of this program's output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
