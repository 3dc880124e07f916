#!/usr/bin/env python3
"""System test of failover over real verbs, in guests with soft-RoCE (tools/lab/softroce): fifty faults under verified load, one
after another, and sixteen where one of the two paths has a hop over TCP. No byte is lost, doubled or wrong, no flow is stuck,
and memory, descriptors and RDMA objects stay as they were.

Usage: verbs_failover_test.py --build DIR [TEST...]. The programs in DIR are run. Exit status 77 where QEMU or the guests'
kernel is missing.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import guest_nodes_case
from guest_nodes import GuestRanks
from guest_nodes_case import RATE, NodesTestCase

_KINDS = 8  # of faults
_RUN_S = 150  # of one job: starting one takes long in emulated guests
_LAST_FAULT_S = 15  # before its end
_FLOWING_PACKETS = 500  # of 4 KiB
_USED_BYTES = 256 << 10
_MOST_LOOKS = 6
_MOST_GROWTH_BYTES = 8 << 20
_MOST_NEW_DESCRIPTORS = 2

_FOOTPRINT = """\
pid=$(pidof cablewayd); awk '/^VmRSS:/ { print $2 }' /proc/$pid/status; ls /proc/$pid/fd | wc -l; rdma resource show"""


@dataclass(frozen=True)
class Footprint:
    """The footprint of a node: its cablewayd, and its host's RDMA objects."""

    resident_bytes: int
    descriptors: int
    queue_pairs: int
    regions: int

    def is_within(self, first: Footprint) -> bool:
        return (self.resident_bytes <= first.resident_bytes + _MOST_GROWTH_BYTES
                and self.descriptors <= first.descriptors + _MOST_NEW_DESCRIPTORS
                and (self.queue_pairs, self.regions) == (first.queue_pairs, first.regions))


class FailoverTest(NodesTestCase):
    OPTIONS = ("ring:4", *RATE)
    CABLES = 4
    FAULTS = 50
    JOB: ClassVar[dict[str, str]] = {"CABLEWAY_PATH_WAIT": "30"}
    RELAYS = ("n1", "n3")

    def footprint(self, name: str) -> Footprint:
        resident, descriptors, *objects = self.nodes.run(name, "sh", "-c", _FOOTPRINT).splitlines()
        counts = {kind: sum(map(int, re.findall(rf"\b{kind} (\d+)", "\n".join(objects)))) for kind in ("qp", "mr")}
        return Footprint(int(resident) * 1024, int(descriptors), counts["qp"], counts["mr"])

    def job(self, multipath: str) -> GuestRanks:
        return self.nodes.ranks(["n0", "n2"], "--workload", "sendrecv,0-1", "--sizes", "1M", "--channels", "1",
                                "-w", "1", "--iters", "1", "--check-all", "--seconds", str(_RUN_S),
                                settings=self.JOB | {"CABLEWAY_MULTIPATH": multipath})

    def wait_for_data(self, ranks: GuestRanks) -> None:
        sent = self.nodes.sent_rdma_packets("n0")
        self.nodes.wait_until(lambda: self.nodes.sent_rdma_packets("n0") > sent + _FLOWING_PACKETS or not ranks.running(),
                              lambda: f"data flows on:\n{ranks.text()}")

    def relay_in_use(self, number: int, multipath: str, ranks: GuestRanks) -> str:
        """Returns a relay that the flow's data goes through: the two in turns, if both do. A flow with one path that has used both
        is on its way back to its best path."""
        used: list[str] = []
        for _ in range(_MOST_LOOKS):
            before = self.relayed()
            self.wait_for_data(ranks)
            used = self.grown(before)
            if len(used) == 1 or (used and multipath == "all") or not ranks.running():
                break
        self.assertTrue(used or not ranks.running(), "no relay has the flow's data")
        return used[number // _KINDS % len(used)] if used else self.RELAYS[0]

    def relayed(self) -> dict[str, int]:
        return {relay: self.nodes.relayed_bytes(relay) for relay in self.RELAYS}

    def grown(self, before: dict[str, int]) -> list[str]:
        """Returns the relays that have relayed the flow's data since then. A restarted relay counts from 0."""
        return [relay for relay, now in self.relayed().items() if now > before[relay] + _USED_BYTES]

    def signal(self, relay: str, name: str) -> None:
        self.nodes.run(relay, "sh", "-c", f"kill -{name} $(pidof cablewayd)")

    def flap(self, cable: str) -> None:
        for _ in range(2):
            self.lab.check("cut", cable)
            self.lab.check("mend", cable)
        self.lab.check("cut", cable)

    def fault(self, number: int, multipath: str, ranks: GuestRanks) -> None:
        """Causes a fault on the flow's path under load; returns once data flows over the other path and the cluster is complete
        again."""
        relay = self.relay_in_use(number, multipath, ranks)
        other = next(name for name in self.RELAYS if name != relay)
        first_hop = bool((number + number // _KINDS) % 2)  # else the second one
        far_end = "n0" if first_hop else "n2"
        cable = f"n0-{relay}" if first_hop else f"{relay}-n2"
        mend: Callable[[], object] = lambda: self.lab.check("mend", cable)
        kinds: tuple[tuple[Callable[[], object], Callable[[], object]], ...] = (
            (lambda: self.lab.check("cut", cable), mend),
            (lambda: self.nodes.kill(relay), lambda: self.nodes.start(relay, **self.SETTINGS)),
            (lambda: self.lab.check("cut", cable, "--silent"), mend),
            (lambda: self.lab.check("cut", cable), mend),
            (lambda: self.signal(relay, "STOP"), lambda: self.signal(relay, "CONT")),
            (lambda: self.flap(cable), mend),
            (lambda: self.nodes.cableway(relay, "drain", relay),
             lambda: self.nodes.cableway(relay, "undrain", relay)),
            (lambda: self.lab.check("cut", cable, "--one-way", far_end), mend),
        )
        assert len(kinds) == _KINDS
        cause, undo = kinds[number % _KINDS]
        relayed = self.nodes.relayed_bytes(other)
        cause()
        try:
            self.nodes.wait_until(lambda: self.nodes.relayed_bytes(other) > relayed + _USED_BYTES or not ranks.running(),
                                  lambda: f"data flows on over {other}:\n{ranks.text()}")
        finally:
            undo()
        self.nodes.wait_for_cables(self.CABLES)

    def run_of_faults(self, multipath: str, first: int) -> tuple[int, int]:
        """Runs one job, and faults for as long as it runs: returns their number, and the bytes that were verified."""
        ranks = self.job(multipath)
        self.wait_for_data(ranks)
        until = time.monotonic() + _RUN_S - _LAST_FAULT_S
        number = first
        while time.monotonic() < until and ranks.running():
            self.fault(number, multipath, ranks)
            number += 1
        output = ranks.finish()
        return number - first, int(re.search(r"(\d+) bytes verified", output)[1])  # type: ignore[index]

    def test_faults_lose_nothing(self) -> None:
        faults = verified = 0
        before: dict[str, Footprint] = {}
        for multipath in itertools.cycle(("all", "off")):
            done, its_bytes = self.run_of_faults(multipath, faults)
            self.assertGreater(done, 0)
            faults, verified = faults + done, verified + its_bytes
            before = before or {name: self.footprint(name) for name in self.nodes.names}
            if faults >= self.FAULTS:
                break
        print(f"{faults} faults, {verified / 1e6:.0f} MB verified; ", end="", flush=True)
        for name, first in before.items():
            with self.subTest(name):
                self.nodes.wait_until(lambda name=name, first=first: self.footprint(name).is_within(first),  # type: ignore[misc]
                                      lambda name=name, first=first: f"{self.footprint(name)} of {name} is as {first}")


class MixedFailoverTest(FailoverTest):
    """The path through n1 has a hop over RDMA and one over TCP, that through n3 has RDMA only."""

    OPTIONS = ("ring:4", *RATE, "--no-rdma", "c1")
    FAULTS = 2 * _KINDS
    SETTINGS = {"TRANSPORT": "auto"}
    JOB = FailoverTest.JOB | {"CABLEWAY_TRANSPORT": "auto"}


if __name__ == "__main__":
    guest_nodes_case.main("verbs_failover_test.py")
