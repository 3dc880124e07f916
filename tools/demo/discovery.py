"""Watches the nodes find each other, and plugs in one more cable for them to find."""

from __future__ import annotations

import json
import time
from typing import Any

from demo_failure import DemoFailure
from lab_nodes import JoinedPorts, LabNodes

_FOUND_S = 12.0
_POLL_S = 0.05
_SIGN_OF_LIFE_S = 0.25  # between lines of progress


def _cables_of(view: dict[str, Any]) -> set[JoinedPorts]:
    """The output of `cableway topology --json`."""
    found = set()
    for cable in view["cables"]:
        ports = sorted((end["node"], end["interface"]) for end in cable["ends"])
        found.add((ports[0], ports[1]))
    return found


def _fail(nodes: LabNodes, node: str, missing: set[JoinedPorts]) -> None:
    status = json.loads(nodes.cableway(node, "status", "--json"))
    for problem in status["problems"]:
        print(f"{node} | {problem['text']}")
    (first, first_port), (second, second_port) = min(missing)
    raise DemoFailure(f"{node} has not found {len(missing)} cables within {_FOUND_S:g} s, such as"
                      f" {first} {first_port} - {second} {second_port}")


def await_cables(nodes: LabNodes) -> None:
    """Waits until every node has found every cable of the lab, and no other. Prints the progress."""
    expected, began, shown, said = nodes.joined_ports(), time.monotonic(), 0.0, ""
    while True:
        found = {name: _cables_of(json.loads(nodes.cableway(name, "topology", "--json"))) for name in nodes.names}
        passed = time.monotonic() - began
        behind = [name for name in nodes.names if found[name] != expected]
        if not behind:
            print(f"  {passed * 1000:5.0f} ms  all {len(nodes.names)} nodes know all {len(expected)} cables", flush=True)
            return
        line = ", ".join(f"{name} {len(found[name] & expected)}" for name in nodes.names)
        if line != said and passed - shown >= _SIGN_OF_LIFE_S:
            print(f"  {passed * 1000:5.0f} ms  of {len(expected)} cables know {line}", flush=True)
            shown, said = passed, line
        if passed > _FOUND_S:
            _fail(nodes, behind[0], expected - found[behind[0]])
        time.sleep(_POLL_S)


def _hops(nodes: LabNodes) -> dict[tuple[str, str], int]:
    """The hops between every two nodes, the smaller name first."""
    hops = {}
    for name in nodes.names:
        for route in json.loads(nodes.cableway(name, "routes", "--json"))["routes"]:
            hops[min(name, route["destination"]), max(name, route["destination"])] = route["hops"]
    return hops


def plug_in_a_chord(nodes: LabNodes) -> None:
    """Plugs one more cable in between the two nodes that are farthest apart, and shows every path that it shortens."""
    before = _hops(nodes)
    (first, second), farthest = max(before.items(), key=lambda entry: entry[1])
    if farthest == 1:
        print("\nEvery two nodes share a cable, so one more would make no way shorter.")
        return
    print(f"\nOne more cable, between {first} and {second}, without informing the nodes:\n\n$ lab plug {first}-{second}",
          flush=True)
    nodes.plug(first, second)
    await_cables(nodes)
    after = _hops(nodes)
    shorter = [f"{a} - {b} {before[a, b]}, now {hops}" for (a, b), hops in after.items() if hops < before[a, b]]
    print(f"  shorter ways, in cables: {'; '.join(shorter[:4])}{'; ..' if len(shorter) > 4 else ''}", flush=True)
    if after[first, second] != 1 or any(hops > before[pair] for pair, hops in after.items()):
        raise DemoFailure(f"{first} and {second} share a cable now, and {after[first, second]} lie between them")
