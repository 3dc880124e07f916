"""Processes in the guests of a lab of tools/lab/softroce: nodes, collperf's ranks, perftest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench_error import BenchError
from lab_processes import LabProcess, wait_for_all

_ANSWER_S = 60
_UP_S = 90  # emulated, on a machine that may be busy
_POLL_S = 0.5
_SETTINGS = {"CABLEWAY_TRANSPORT": "verbs", "CABLEWAY_LOG": "warning", "CABLEWAY_RELAY_MEMORY": "256M"}
# The same for perftest as Cableway's default: 1.07 s. perftest's default, 14, is 67 ms: on these slow cables packets are
# queued longer than that, and are retransmitted.
_RC_TIMEOUT = 18
_IDLE_US = 200  # guests share the host's CPUs: polling in one slows all others
_FIRST_PORT = 29500
_PERFTEST_PORT = 18515


class GuestProcess(LabProcess):
    """A command in a guest. Its process ID is that of `softroce exec`, which forwards signals."""

    TOOL = "softroce"


def in_guest(node: str, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["softroce", "exec", node, "--", *command], capture_output=True, text=True,
                          timeout=_ANSWER_S, check=False)


def output_of(node: str, *command: str) -> str:
    done = in_guest(node, *command)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} on {node} failed: {done.stderr.strip()}")
    return done.stdout


def guests() -> list[str]:
    return os.environ["LAB_NODES"].split()


def management_address(node: str) -> str:
    return output_of(node, "printenv", "LAB_NODE_ADDRESS").strip()


def start_nodes(build: Path, stack: ExitStack, cables: int) -> None:
    """Starts a cablewayd in every guest, until the stack closes, and waits until each has all cables."""
    daemons = []
    for node in guests():
        daemons.append(GuestProcess(node, [str(build / "bin/cablewayd")], _SETTINGS))
        stack.callback(daemons[-1].stop)
    deadline = time.monotonic() + _UP_S
    for daemon, node in zip(daemons, guests()):
        while True:
            done = in_guest(node, str(build / "bin/cableway"), "topology", "--json")
            if done.returncode == 0 and len(json.loads(done.stdout)["cables"]) == cables:
                break
            if not daemon.running() or time.monotonic() > deadline:
                raise daemon.fail(f"has not found all cables: {done.stdout}{done.stderr}")
            time.sleep(_POLL_S)


class CollperfRuns:
    """Runs of collperf; those of one call run at the same time."""

    def __init__(self, build: Path) -> None:
        self._build, self._port = build, _FIRST_PORT

    def megabytes_per_s(self, limit_s: float, *runs: tuple[Sequence[str], Sequence[str]]) -> list[float]:
        """The rate of each run, given by the nodes of its ranks and collperf's options."""
        with ExitStack() as stack:
            ranks: list[LabProcess] = []
            firsts: list[LabProcess] = []
            for nodes, options in runs:
                self._port += 1
                address = management_address(nodes[0])
                for rank, node in enumerate(nodes):
                    report = ["--json", "-"] if rank == 0 else []
                    command = [str(self._build / "bin/collperf"), "--plugin",
                               str(self._build / "lib/libnccl-net-cableway.so"), "--rank", str(rank), "--ranks",
                               str(len(nodes)), "--rendezvous", f"{address}:{self._port}",
                               "--idle-us", str(_IDLE_US), *report, *options]
                    ranks.append(GuestProcess(node, command, _SETTINGS))
                    stack.callback(ranks[-1].stop)
                firsts.append(ranks[-len(nodes)])
            wait_for_all(ranks, limit_s, lambda: None)
            return [_rate(_report_in(first.output())) for first in firsts]


def _report_in(output: str) -> dict[str, Any]:
    """The output of collperf --json -, which warnings may surround."""
    return json.JSONDecoder().raw_decode(output[output.index("{"):])[0]


def _rate(report: dict[str, Any]) -> float:
    if not report["ok"] or not report["bytes_verified"]:
        raise BenchError(f"{report['wrong']} bytes wrong of {report['bytes_verified']} verified")
    return float(report["results"][0]["algbw_GBps"]) * 1e3


def _device_towards(node: str, address: str) -> tuple[str, int]:
    """The RDMA device of the interface with this address, and the index of the address's RoCE v2 GID."""
    for device in output_of(node, "ls", "/sys/class/infiniband").split():
        shown = output_of(node, "ibv_devinfo", "-v", "-d", device)
        if match := re.search(rf"GID\[\s*(\d+)\]:\s+::ffff:{re.escape(address)}, RoCE v2", shown):
            return device, int(match[1])
    raise BenchError(f"{node} has no RDMA device with the address {address}")


def average_mebibytes(output: str) -> float:
    """The value that ib_write_bw prints as BW average, in its MB/sec."""
    match = re.search(r"^ *65536\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", output, re.MULTILINE)
    # It prints 0 if it cannot determine the CPU's clock rate.
    if match is None or float(match[1]) == 0:
        raise BenchError(f"ib_write_bw printed no average:\n{output}")
    return float(match[1])


def ib_write_bw(sender: tuple[str, str], receiver: tuple[str, str], seconds: int) -> float:
    """MB/s of perftest's 64 KiB writes between two (node, address of its port), measured for `seconds`."""
    words = ["ib_write_bw", "-F", "-s", "65536", "-u", str(_RC_TIMEOUT), "-D", str(seconds), "-f", "2"]

    def command(end: tuple[str, str], *more: str) -> list[str]:
        device, index = _device_towards(*end)
        return [*words, "-d", device, "-x", str(index), *more]

    with ExitStack() as stack:
        server = GuestProcess(receiver[0], command(receiver), {})
        stack.callback(server.stop)
        client_command = command(sender, management_address(receiver[0]))
        deadline = time.monotonic() + _UP_S
        while f":{_PERFTEST_PORT}" not in output_of(receiver[0], "ss", "-Hltn"):
            if not server.running() or time.monotonic() > deadline:
                raise server.fail("does not listen")
            time.sleep(_POLL_S)
        client = GuestProcess(sender[0], client_command, {})
        stack.callback(client.stop)
        wait_for_all([server, client], _UP_S + seconds, lambda: None)
        return average_mebibytes(client.output()) * (1 << 20) / 1e6
