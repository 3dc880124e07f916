#!/usr/bin/env python3
"""System test of the real Open MPI: mpirun starts collperf's ranks, on one node of a lab and on all of them. What ssh
does elsewhere, `lab exec` does here.

Usage: open_mpi_test.py --build DIR [TEST...]. Exit status 77 where this system has no mpirun, or cannot run a lab.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import lab_case
from in_lab import in_lab, main
from lab_nodes import LabNodes
from lab_state import LAB_DIR, load_state

DEADLINE_S = 90
# mpirun's words are those of the command that starts its daemon on the other host, which takes its name for the host's.
_AGENT = f"""#!/bin/sh
host=$1
shift
exec {sys.executable} {lab_case.LAB} exec "$host" -- unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
"""
_ON_HOST = 'hostname "$0"; exec "$@"'


def mpirun(nodes: LabNodes, *words: str) -> tuple[int, str]:
    """collperf, started by mpirun on n0 with these options. Its exit status, and what both print."""
    agent = LAB_DIR / "agent"
    agent.write_text(_AGENT, encoding="utf-8")
    agent.chmod(0o755)
    collperf = [nodes.build / "bin/collperf", "--plugin", nodes.build / "lib/libnccl-net-cableway.so", "--idle-us", "100",
                "--workload", "all_reduce:64K", "-n", "2", "-w", "1"]
    process = nodes.popen("n0", ["unshare", "--uts", "sh", "-c", _ON_HOST, "n0", "mpirun", "--allow-run-as-root", "--oversubscribe",
                                 "--mca", "plm_rsh_agent", str(agent), *words, *collperf])
    try:
        out, errors = process.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
        raise AssertionError(f"mpirun has not ended:\n{out.decode()}\n{errors.decode()}") from None
    return process.returncode, (out + errors).decode()


def address_of(node: str) -> str:
    return load_state().node_environment(node)["LAB_NODE_ADDRESS"]


class OpenMpiTest(unittest.TestCase):
    def check_ranks(self, ended: tuple[int, str], hosts: list[str]) -> None:
        status, output = ended
        self.assertEqual(status, 0, output)
        self.assertIn(f"# nRanks {len(hosts)} ", output)
        shown = [line.split()[8] for line in output.splitlines() if line.startswith("#  Rank ")]
        self.assertEqual(shown, hosts, output)
        self.assertIn("# Out of bounds values : 0 OK", output)

    @in_lab("line:2")
    def test_ranks_of_one_host_need_nothing_else(self, nodes: LabNodes) -> None:
        nodes.start("n0")
        self.check_ranks(mpirun(nodes, "-np", "3", "--host", "n0:3"), ["n0"] * 3)

    @in_lab("line:3")
    def test_ranks_of_several_hosts_need_the_address_of_rank_0(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        where = ["-np", "4", "--host", "n0:2,n1,n2"]
        self.check_ranks(mpirun(nodes, *where, "-x", f"MASTER_ADDR={address_of('n0')}"), ["n0", "n0", "n1", "n2"])
        status, output = mpirun(nodes, *where)
        self.assertNotEqual(status, 0)
        self.assertIn("Open MPI does not tell the host at which rank 0 listens", output)
        self.assertIn("mpirun -x MASTER_ADDR=HOST", output)


if __name__ == "__main__":
    if shutil.which("mpirun") is None:
        print("no mpirun here (openmpi-bin)")
        sys.exit(77)
    main()
