"""The demo inside the lab: starts the nodes, watches them find each other, shows what they know, runs the operations,
prints the table, plugs in one more cable, cuts one, and kills a relay.

Writes {"verified": BYTES, "relayed": BYTES} or {"error": WHY} to the descriptor that it is given.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from demo_failure import DemoFailure
from demo_table import DemoTable
from discovery import await_cables, plug_in_a_chord
from failover import show_failover
from lab_nodes import LabNodes
from operations import Operation, choose_sizes, operations, run_operation
from programs import Programs
from routes_summary import has_relays, summary_line


def _show_topology(nodes: LabNodes) -> None:
    print(f"\n$ cableway topology\n{nodes.cableway(nodes.names[0], 'topology')}")


def _show_routes(nodes: LabNodes) -> bool:
    """Returns whether anything can be relayed."""
    print("Who reaches whom, as `cableway routes` shows in each node (there with cables and weights):")
    width = max(len(name) for name in nodes.names)
    relayed = False
    for name in nodes.names:
        view = json.loads(nodes.cableway(name, "routes", "--json"))
        relayed = relayed or has_relays(view)
        print(summary_line(view, width))
    print(flush=True)
    return relayed


def _run_operations(nodes: LabNodes, programs: Programs) -> tuple[int, int]:
    """Returns the bytes verified and the bytes relayed."""
    sizes = choose_sizes(nodes.slowest_mbps())
    table = DemoTable(nodes.names)
    print(f"One rank in each node, every byte checked, through {programs.plugin.name}:\n")
    print(table.header(), flush=True)
    verified = 0
    for size in sizes:
        for operation in operations():
            before = nodes.relayed_bytes()
            result = run_operation(nodes, programs, operation, size)
            after = nodes.settled_relayed_bytes()
            verified += result["bytes_verified"]
            print(table.row(operation.title, result, [new - old for old, new in zip(before, after)]), flush=True)
            if result["wrong"]:
                raise DemoFailure(f"{operation.title}: {result['wrong']} of {result['bytes_verified']} bytes are wrong")
    print(table.footer(), flush=True)
    return verified, sum(nodes.relayed_bytes())


def _what_was_relayed(relayed: int) -> str:
    return f"nothing had to be relayed{'; flows of much data also used paths through other nodes' if relayed else ''}"


def _demo(programs: Programs) -> tuple[int, int]:
    with LabNodes(programs) as nodes:
        print("\nA cablewayd in each node. It was given its name and its interfaces only:", flush=True)
        await_cables(nodes)
        _show_topology(nodes)
        relays = _show_routes(nodes)
        verified, relayed = _run_operations(nodes, programs)
        nodes.check_health()
        if not relays:
            print(f"\nEvery two nodes share a cable here, so {_what_was_relayed(relayed)}.")
        plug_in_a_chord(nodes)
        verified += show_failover(nodes, programs)
    if relays and relayed == 0:
        raise DemoFailure("no byte was relayed, although some nodes share no cable")
    return verified, relayed


def main() -> int:
    # An interrupted process prints nothing: the lab removes everything, and the process outside prints the result.
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    parser = argparse.ArgumentParser()
    parser.add_argument("--result-fd", type=int, required=True)
    parser.add_argument("--build", type=Path, required=True)
    arguments = parser.parse_args()
    os.set_inheritable(arguments.result_fd, False)
    try:
        verified, relayed = _demo(Programs(arguments.build))
        result = {"verified": verified, "relayed": relayed}
    except DemoFailure as failure:
        result = {"error": str(failure)}
    sys.stdout.flush()
    os.write(arguments.result_fd, json.dumps(result).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
