"""What the honest nodes know of each other, and what has changed between two times."""

from __future__ import annotations

import time
from dataclasses import dataclass

from bench_error import BenchError
from hostile_lab import HONEST, HostileLab

_POLL_S = 0.05
_KNOWN_S = 20.0
# Problems that stay for a while after their cause has ended, by design, and for how long.
PROBLEMS_THAT_STAY = {
    "TOPOLOGY_CROWDED": "10 s", "NAME_DEFENDED": "10 s", "CONNECTIONS_FLOODED": "1 min",
    "SESSION_NAME_TAKEN": "until the node starts again",
    **dict.fromkeys(("KEY_DIFFERS", "CLUSTER_DIFFERS", "VERSION_DIFFERS", "NAME_TAKEN", "HOLD_TOO_LONG",
                     "ADVERTISEMENT_REFUSED"), "5 s")}


@dataclass(frozen=True)
class NodeState:
    cables: frozenset[str]    # between honest nodes
    reached: frozenset[str]   # honest nodes
    problems: frozenset[str]  # codes


def _cable_name(ends: frozenset[tuple[str, str]]) -> str:
    return "-".join(f"{node}.{interface}" for node, interface in sorted(ends))


def read_state(lab: HostileLab) -> dict[str, NodeState]:
    """By node."""
    true_cables = lab.honest_cables()
    states = {}
    for node in HONEST:
        known = {frozenset((end["node"], end["interface"]) for end in cable["ends"])
                 for cable in lab.cableway(node, "topology")["cables"]}
        reached = {route["destination"] for route in lab.cableway(node, "routes")["routes"]}
        problems = {problem["code"] for problem in lab.cableway(node, "status")["problems"]}
        states[node] = NodeState(frozenset(_cable_name(cable) for cable in known & true_cables),
                                 frozenset(reached & set(HONEST)), frozenset(problems))
    return states


def await_whole(lab: HostileLab) -> dict[str, NodeState]:
    """Waits until every honest node knows all true cables, reaches all others and has no problem."""
    everything = len(lab.honest_cables()), len(HONEST) - 1
    deadline = time.monotonic() + _KNOWN_S
    while True:
        states = read_state(lab)
        if all((len(state.cables), len(state.reached)) == everything and not state.problems for state in states.values()):
            return states
        if time.monotonic() > deadline:
            raise BenchError(f"the honest nodes did not find each other in {_KNOWN_S:.0f} s: {states}")
        time.sleep(_POLL_S)


def differences(before: dict[str, NodeState], now: dict[str, NodeState]) -> list[str]:
    """What is missing now, or is a problem now that none of PROBLEMS_THAT_STAY is."""
    lines = []
    for node, then in before.items():
        lines += [f"{node} lacks cable {cable}" for cable in sorted(then.cables - now[node].cables)]
        lines += [f"{node} has no path to {other}" for other in sorted(then.reached - now[node].reached)]
        lines += [f"{node} has {code}" for code in sorted(now[node].problems - then.problems - set(PROBLEMS_THAT_STAY))]
    return lines


def staying(before: dict[str, NodeState], now: dict[str, NodeState]) -> list[str]:
    """The codes of new problems that may stay."""
    found = {code for node, then in before.items() for code in now[node].problems - then.problems}
    return sorted(found & set(PROBLEMS_THAT_STAY))
