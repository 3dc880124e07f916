#!/usr/bin/env python3
"""System test of measured latencies: nodes in namespaces measure the cables whose delays the lab has set.

Usage: latency_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import unittest

from in_lab import in_lab, main, report_figure
from lab_nodes import STEADY, LabNodes

_WITHIN = 0.2
# What a busy host's interrupts and schedulers add to every measurement, and a published latency keeps of it.
_HOST_US = 50


def latencies(nodes: LabNodes, name: str) -> dict[str, float | None]:
    """Of every cable in a node's topology, by the nodes that it joins, in microseconds."""
    return {"-".join(sorted(end["node"] for end in cable["ends"])): cable["latency_us"]
            for cable in nodes.cableway(name, "topology")["cables"]}


def is_near(latency_us: float | None, delay_us: int) -> bool:
    return latency_us is not None and abs(latency_us - delay_us) <= _WITHIN * delay_us + _HOST_US


class LatencyTest(unittest.TestCase):
    def wait_for(self, nodes: LabNodes, delays_us: dict[str, int]) -> None:
        """Waits until each node has these latencies: one measured while the machine was busy is too high at first."""
        def are_near(measured: dict[str, float | None]) -> bool:
            return measured.keys() == delays_us.keys() and all(
                is_near(measured[cable], delay) for cable, delay in delays_us.items())
        for name in nodes.names:
            nodes.wait_until(lambda name=name: are_near(latencies(nodes, name)),
                             lambda name=name: f"{name} has {latencies(nodes, name)}, expected {delays_us} (us)")
        measured = {cable: round(latency or 0) for cable, latency in latencies(nodes, "n0").items()}
        report_figure(f"measured {measured} us for {delays_us}")

    @in_lab("ring:3", "--delay", "200us")
    def test_200_us(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        self.wait_for(nodes, {"n0-n1": 200, "n1-n2": 200, "n0-n2": 200})
        # The topology has a cable's latency as soon as one of its ends has measured it.
        nodes.wait_until(lambda: is_near(self.own_latency(nodes), 200),
                         lambda: f"n0 measures {self.own_latency(nodes)}, expected 200 (us)")
        self.assertRegex(nodes.run("n0", nodes.build / "bin/cableway", "ports"), r"there, [0-9.]+ us one way; last\s+heard")

    @staticmethod
    def own_latency(nodes: LabNodes) -> float | None:
        return nodes.cableway("n0", "ports")["ports"][0]["neighbours"][0]["latency_us"]

    @in_lab("line:3", "--delay", "2ms")
    def test_2_ms_and_a_cable_that_becomes_shorter(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        self.wait_for(nodes, {"n0-n1": 2000, "n1-n2": 2000})
        nodes.lab("shape", "n1-n2", "--delay", "500us")
        self.wait_for(nodes, {"n0-n1": 2000, "n1-n2": 500})
        path = nodes.cableway("n0", "path", "n0", "n2")["paths"][0]
        self.assertEqual(len(path["hops"]), 2)
        self.assertAlmostEqual(path["latency_us"], sum(hop["latency_us"] for hop in path["hops"]))
        self.assertAlmostEqual(path["latency_us"], 2500, delta=500)

    @in_lab("line:2", "--delay", "1ms", "--addresses", "link-local")
    def test_link_local_addresses(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        self.wait_for(nodes, {"n0-n1": 1000})

    @in_lab("line:2", "--delay", "1ms")
    def test_not_known_at_first(self, nodes: LabNodes) -> None:
        nodes.start(HELLO_MS="2000", HOLD_MS="20000")  # eight hellos after the cable is up take a while
        nodes.wait_for_cables()
        for name in nodes.names:
            self.assertEqual(latencies(nodes, name), {"n0-n1": None})
        neighbour = nodes.cableway("n0", "ports")["ports"][0]["neighbours"][0]
        self.assertIsNone(neighbour["latency_us"])
        self.assertIn("latency -", nodes.run("n0", nodes.build / "bin/cableway", "ports"))


if __name__ == "__main__":
    main()
