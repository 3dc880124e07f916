"""The common part of tests of flows that outlive their circuits: a job under load, the fault, and the measured pause."""

from __future__ import annotations

import re
import signal
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from in_lab import report_figure
from lab_nodes import PATIENCE_S, STEADY, LabNodes, Ranks

FLOWING_BYTES = 10_000_000
FLOW = ("--workload", "sendrecv,0-1", "--sizes", "1M", "--channels", "1", "-w", "1", "--check-all",
        "--iters", "1")
# The ranks do not meet between operations, so each end of the flow always waits for the other end.
ENDLESS = ("--workload", "sendrecv,0-1", "--sizes", "1M", "--channels", "1", "-w", "0",
           "--iters", "1000000")
_SECONDS = 5
# The longest time between the failures of a flow's ends.
_APART_S = 1.0
# The kernel reports a lost carrier up to a second late if another link of any namespace has changed in the second before.
_KERNELS_PAUSE_S = 1.0

# Prints the longest time in which fewer than 500 kB of data arrived at this node's ports, until it is ended. A cable of 500
# Mbit/s carries that in 8 ms. Pulses and hellos of four cables are less than 1.2 MB/s.
_LONGEST_PAUSE = """
import signal, sys, time
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
def received():
    with open("/proc/net/dev", encoding="ascii") as table:
        return sum(int(line.split()[1]) for line in table if line.lstrip().startswith("to-"))
mark, since, longest = received(), time.monotonic(), 0.0
print("begun", flush=True)
while not ended:
    now, total = time.monotonic(), received()
    longest = max(longest, now - since)
    mark = min(mark, total)  # an interface that is removed takes its count with it
    if total > mark + 500_000 + 1_200_000 * (now - since):
        mark, since = total, now
    time.sleep(0.002)
print(longest)
"""


def wait_for_data(nodes: LabNodes, name: str, interface: str) -> None:
    before = nodes.received_bytes(name, interface)
    nodes.wait_until(lambda: nodes.received_bytes(name, interface) > before + FLOWING_BYTES,
                     lambda: f"data at {name} through {interface}")


def cable_shares(nodes: LabNodes, name: str, interfaces: tuple[str, ...], rate_bytes: float, seconds: float) -> list[float]:
    """The bytes that arrive at this node through each interface in that time, as shares of a cable's rate."""
    before = [nodes.received_bytes(name, each) for each in interfaces]
    time.sleep(seconds)
    return [(nodes.received_bytes(name, each) - bytes_before) / seconds / rate_bytes
            for each, bytes_before in zip(interfaces, before)]


def lose_and_return(nodes: LabNodes, source: str, port: str, receiver: str, other: str, its_own: str) -> None:
    """Takes the source's port down until data comes through the receiver's other interface, then brings it up until data
    comes through the interface of its own cable again."""
    nodes.run(source, "ip", "link", "set", port, "down")
    wait_for_data(nodes, receiver, other)
    nodes.run(source, "ip", "link", "set", port, "up")
    wait_for_data(nodes, receiver, its_own)


def busy_relay(nodes: LabNodes, names: list[str]) -> str:
    """The node of these that relays data now."""
    before = {name: nodes.relayed_bytes([name]) for name in names}
    moved: dict[str, int] = {}

    def one_relays() -> bool:
        moved.update({name: nodes.relayed_bytes([name]) - before[name] for name in names})
        return max(moved.values()) > FLOWING_BYTES
    nodes.wait_until(one_relays, lambda: f"data through one of {names}: {moved}")
    return max(moved, key=lambda name: moved[name])


class FailoverCase(unittest.TestCase):
    def check_pause(self, nodes: LabNodes, ranks: Ranks, fault: Callable[[], None], at_most_s: float,
                    reroutes: bool = True) -> None:
        """Causes the fault under load: the ranks finish, and no pause is longer than `at_most_s`, as the receiver measures
        it and as the source's node reports it."""
        receiver = ranks.names[-1]
        watch = nodes.popen(receiver, [sys.executable, "-c", _LONGEST_PAUSE])
        assert watch.stdout is not None
        self.assertEqual(watch.stdout.readline(), b"begun\n")
        time.sleep(_KERNELS_PAUSE_S + 0.1)
        fault()
        time.sleep(1)
        ended_before = not ranks.running()
        watch.send_signal(signal.SIGTERM)
        self.assertFalse(ended_before, ranks.log(receiver))
        pause = float(watch.communicate(timeout=PATIENCE_S)[0])
        verified = ranks.finish()
        report_figure(f"nothing moved for {1000 * pause:.0f} ms, {verified / 1e6:.0f} MB verified")
        self.assertLess(pause, at_most_s)
        self.check_reroutes(nodes, ranks.names[0], at_most_s, reroutes)

    def check_reroutes(self, nodes: LabNodes, source: str, at_most_s: float, reroutes: bool) -> None:
        events = nodes.events(source, "FLOW_REROUTED")
        self.assertEqual(bool(events), reroutes, events)
        pauses_ms = [float(event["fields"]["pause_ms"]) for event in events]
        if reroutes:
            report_figure(f"{source} reports pauses of {', '.join(f'{pause:.0f}' for pause in pauses_ms)} ms")
            nodes.wait_until(lambda: bool(nodes.events(source, "CIRCUIT_RETIRED")),
                             lambda: f"the circuits that ended, at {source}")
        for event, pause_ms in zip(events, pauses_ms):
            # 0 if the ranks met at that moment and the flow had nothing to send.
            self.assertLess(pause_ms, 1000 * at_most_s, event)
            self.assertNotEqual(event["fields"]["reason"], "", event)
            self.assertRegex(event["fields"]["new_path"], rf"^{source} -> ")

    def failures(self, ranks: Ranks, names: list[str], since: float, within_s: float) -> dict[str, str]:
        """Why each rank has failed; all must fail within that time, and within a second of each other."""
        found: dict[str, str] = {}
        after: list[float] = []
        while len(found) < len(names):
            for name in names:
                failed = re.search(r" failed: (.*)", ranks.log(name))
                if failed and name not in found:
                    found[name] = failed[1]
                    after.append(time.monotonic() - since)
            if time.monotonic() > since + within_s + 10:
                raise AssertionError(f"only {found} have failed: {[ranks.log(name) for name in names]}")
            time.sleep(0.01)
        report_figure("failed after " + ", ".join(f"{1000 * each:.0f} ms" for each in after))
        self.assertLess(after[-1], within_s, found)
        self.assertLess(after[-1] - after[0], _APART_S, found)
        return found

    def start_endless(self, nodes: LabNodes, ranks_on: list[str], **settings: str) -> Ranks:
        nodes.start(**(STEADY | settings))
        nodes.wait_for_cables()
        return nodes.start_ranks(ranks_on, *ENDLESS)

    def start(self, nodes: LabNodes, ranks_on: list[str], seconds: float = _SECONDS, **settings: str) -> Ranks:
        nodes.start(**(STEADY | settings))
        nodes.wait_for_cables()
        return nodes.start_ranks(ranks_on, *FLOW, "--seconds", str(seconds))
