#!/usr/bin/env python3
"""System test of RDMA hops with real verbs: the nodes are guests with soft-RoCE (tools/lab/softroce). Data
integrity, and what ends a flow.

Usage: verbs_test.py --build DIR [TEST...]. The programs in DIR are run. Exit status 77 where QEMU or the guests' kernel
is missing.
"""

from __future__ import annotations

import re
import time
from typing import Any

import guest_nodes_case
from guest_nodes import GuestRanks
from guest_nodes_case import RATE, NodesTestCase

MTU_BYTES = 4096
# An unanswered queue pair fails after 7 times 1.07 s; the daemons declare a silent neighbour dead after 4 s, a lifeline
# after 8 s. Emulated guests need up to twice as long.
FAILED_WITHIN_S = 30.0
CHUNK = 64 << 10  # at relays
EDGES = ",".join(map(str, (1, 127, 128, 129, CHUNK - 1, CHUNK, CHUNK + 1, (4 << 20) + 1)))
ONCE = ("-w", "0", "--iters", "0", "--check", "1")


def found_between(one: str, other: str) -> str:
    """A pattern of a flow's failure that names the cable between the two nodes, as found at either end of it."""
    ends = "|".join(rf"{node} port to-{peer} \(cable to {peer} to-{node}" for node, peer in ((one, other), (other, one)))
    return rf"failed: node ({ends})\): "


class VerbsTestCase(NodesTestCase):
    """Emulated guests on two processors stand still for up to a second each. To the others that looks like a silent cable:
    pulses are off here, and hellos have more time. verbs_failover_test.py has pulses."""

    SETTINGS = {"PULSE_MS": "0", "HOLD_MS": "4000"}

    def check_every_operation(self, sizes: str) -> int:
        """Returns the bytes that rank 0 verified."""
        output = self.nodes.ranks(self.nodes.names, "--workload", "all", "--sizes", sizes, "--channels", "1", *ONCE).finish()
        for operation in ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "sendrecv"):
            self.assertIn(operation, output)
        return int(re.search(r"(\d+) bytes verified", output)[1])  # type: ignore[index]

    def flowing(self, source: str, destination: str, path_wait_s: int = 0) -> GuestRanks:
        """Starts ranks between which data flows for longer than any test waits. By default a flow fails with its last circuit."""
        before = self.nodes.sent_rdma_packets(source)
        ranks = self.nodes.ranks([source, destination], "--workload", "sendrecv,0-1", "--sizes", "1M",
                                 "--channels", "1", "-w", "1", "--iters", "4", "--seconds", "300",
                                 settings={"CABLEWAY_PATH_WAIT": str(path_wait_s), "CABLEWAY_MULTIPATH": "off"})
        self.addCleanup(ranks.close)
        self.nodes.wait_until(lambda: self.nodes.sent_rdma_packets(source) > before + 1000 or not ranks.running(),
                              lambda: f"data flows:\n{ranks.text()}")
        self.assertTrue(ranks.running(), ranks.text())
        return ranks

    def without_cable(self, cable: str) -> None:
        """Cuts it until the end of the test."""
        def mend() -> None:
            self.lab.check("mend", cable)
            self.nodes.wait_for_cables(self.CABLES)
            self.nodes.check_traffic()

        self.addCleanup(mend)
        self.lab.check("cut", cable)
        self.nodes.wait_for_cables(self.CABLES - 1)

    def check_still_flowing(self, ranks: GuestRanks, source: str) -> None:
        """Data still leaves over RDMA after a fault."""
        sent = self.nodes.sent_rdma_packets(source)
        self.nodes.wait_until(lambda: self.nodes.sent_rdma_packets(source) > sent + 1000 or not ranks.running(),
                              lambda: f"data flows on:\n{ranks.text()}")
        self.assertTrue(ranks.running(), ranks.text())
        ranks.close()


class SplitPortsTest(VerbsTestCase):
    """Two functions of each guest on one wire."""

    OPTIONS = ("twins:2", *RATE)
    CABLES = 2
    SETTINGS = VerbsTestCase.SETTINGS | {"HOLD_MS": "10000"}
    FUNCTIONS = ("to-w0", "to-w0-2")

    def check_shares(self) -> None:
        """Checks that a job of two channels fills both functions of both nodes equally, all of it over RDMA."""
        ports = [(name, port) for name in self.nodes.names for port in self.FUNCTIONS]
        before = {place: self.nodes.sent_bytes(*place) for place in ports}
        packets = {name: self.nodes.sent_rdma_packets(name) for name in self.nodes.names}
        self.nodes.ranks(self.nodes.names, "--workload", "all_reduce", "--sizes", "8M", "--channels", "2", *ONCE).finish()
        moved = {place: self.nodes.sent_bytes(*place) - bytes for place, bytes in before.items()}
        for name in self.nodes.names:
            first, second = (moved[name, port] for port in self.FUNCTIONS)
            self.assertLess(abs(first - second), 0.1 * max(first, second), moved)
            # One function alone sends half of them.
            self.assertGreater(self.nodes.sent_rdma_packets(name) - packets[name], 0.9 * (8 << 20) / MTU_BYTES)
            self.assertEqual(self.nodes.problems(name), [])
        shares = [round(100 * moved[name, self.FUNCTIONS[0]] / sum(moved[name, port] for port in self.FUNCTIONS), 1)
                  for name in self.nodes.names]
        print(f"share of the first function's bytes, sent by each node over RDMA: {shares} %; ", end="", flush=True)

    def test_two_channels_fill_both_functions(self) -> None:
        self.check_shares()

    def test_lost_hellos_and_an_unplugged_function(self) -> None:
        def lost() -> list[dict[str, Any]]:
            return [event for name in self.nodes.names for event in self.nodes.cableway(name, "events")["events"]
                    if event["code"] == "CABLE_LOST"]

        self.lab.check("cut", "c0", "--silent")  # for less than the hold time
        time.sleep(2.0)
        self.lab.check("mend", "c0")
        self.assertEqual(lost(), [])
        self.lab.check("cut", "c0")
        self.nodes.wait_for_cables(1)
        self.lab.check("mend", "c0")
        self.nodes.wait_for_cables(self.CABLES)
        self.assertEqual(len(lost()), 2, lost())
        # New flows use the cable once pulses have proved it.
        self.nodes.wait_until(lambda: not any(self.nodes.problems(name) for name in self.nodes.names),
                              lambda: f"no problem: {[self.nodes.problems(name) for name in self.nodes.names]}")
        self.check_shares()

    def test_the_doctor_tests_each_function_and_the_plug_over_rdma(self) -> None:
        findings = {each["about"]: each for each in self.nodes.doctor("n0") if each["measured"] is not None}
        self.assertEqual(sorted(findings), sorted([f"cable {port} to node n1" for port in self.FUNCTIONS] +
                                                  [f"plug {'+'.join(self.FUNCTIONS)} to node n1"]))
        for about, finding in findings.items():
            self.assertNotIn("tcp", finding["measured"]["over"], about)
            # Each cable carries 40 Mbit/s; guests may stall.
            for direction in ("to_mbps", "from_mbps"):
                self.assertGreater(finding["measured"][direction], 0, about)
                self.assertLessEqual(finding["measured"][direction], 100, about)


class TriangleTest(VerbsTestCase):
    OPTIONS = ("ring:3", *RATE)
    CABLES = 3

    def test_every_operation(self) -> None:
        before = {name: self.nodes.sent_rdma_packets(name) for name in self.nodes.names}
        self.check_every_operation("1,128,64K,300K")
        for name, packets in before.items():
            # Each rank sends at least the largest size once.
            self.assertGreater(self.nodes.sent_rdma_packets(name) - packets, 300 * 1024 // MTU_BYTES, name)

    def test_queued_data_is_not_retransmitted(self) -> None:
        sent, retransmitted = self.nodes.sent_rdma_packets("n0"), self.nodes.rdma_duplicate_requests("n1")
        # Eight connections have up to 1 MiB each in flight, which is 1.7 s at the cable's rate.
        self.nodes.ranks(["n0", "n1"], "--workload", "sendrecv,0-1", "--sizes", "8M", "--step-bytes", "1M",
                         "--in-flight", "8", "--channels", "8", *ONCE).finish()
        sent, retransmitted = self.nodes.sent_rdma_packets("n0") - sent, self.nodes.rdma_duplicate_requests("n1") - retransmitted
        self.assertGreater(sent, (8 << 20) // MTU_BYTES)
        # With a timeout of 67 ms more than half of them were retransmitted. Guests may stall, too.
        self.assertLess(retransmitted, sent / 20)

    def test_a_gid_that_disappears_ends_its_flows(self) -> None:
        self.without_cable("n0-n2")  # over which the flow would go on
        ranks = self.flowing("n0", "n1")
        self.nodes.run("n0", "ip", "address", "del", "10.7.0.1/24", "dev", "to-n1")
        try:
            self.assertRegex(ranks.expect_failure(seconds=FAILED_WITHIN_S), found_between("n0", "n1"))
            # The port's other address has a GID as well.
            self.nodes.wait_for_cables(self.CABLES - 1)
            before = self.nodes.sent_rdma_packets("n0")
            self.nodes.check_traffic(["n0", "n1"])
            self.assertGreater(self.nodes.sent_rdma_packets("n0"), before + (64 << 10) // MTU_BYTES)
        finally:
            self.nodes.run("n0", "ip", "address", "add", "10.7.0.1/24", "dev", "to-n1")

    def test_a_gid_that_moves_ends_no_flow(self) -> None:
        before = self.nodes.gid_index("n0", "to-n1")
        ranks = self.flowing("n0", "n1", path_wait_s=30)
        # The kernel keeps the old entry while a queue pair uses it, so the address gets another one. Soft-RoCE cannot send
        # from the old one any more, so the flow needs another circuit.
        self.nodes.run("n0", "sh", "-c", "ip address del 10.7.0.1/24 dev to-n1 && ip address add 10.7.0.1/24 dev to-n1")
        self.nodes.wait_until(lambda: self.nodes.gid_index("n0", "to-n1") not in (None, before),
                              lambda: "the GID has moved")
        # A hop is checked once a second.
        time.sleep(4)
        self.check_still_flowing(ranks, "n0")
        self.nodes.wait_for_cables(self.CABLES)
        self.nodes.check_traffic()

    def test_registrations_that_memory_locks_forbid(self) -> None:
        # The kernel exempts root from this limit unless root lacks that capability.
        bound = ("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=65536")
        limited = self.nodes.ranks(["n0", "n1"], "--workload", "sendrecv", "--sizes", "4M", *ONCE, prefix=bound)
        output = limited.expect_failure(seconds=FAILED_WITHIN_S)
        self.assertRegex(output, r"cannot register \d+ bytes of memory: .*this process may lock 64")
        self.nodes.check_traffic()

    def test_every_limit_on_objects_is_named(self) -> None:
        # What a sender creates on its device, in order: with a limit of `allowed` objects the next one is refused.
        needs = ("create a protection domain", "register 16384 bytes", "create a completion queue", "create a queue pair",
                 "register 4194304 bytes")
        for allowed, refused in enumerate(needs):
            with self.subTest(refused):
                prefix = self.nodes.rdma_objects_limited(["n0", "n1"], allowed)
                limited = self.nodes.ranks(["n0", "n1"], "--workload", "sendrecv,0-1", "--sizes", "4M",
                                           "--step-bytes", "4M", "--channels", "1", "--peer-grace", "2", *ONCE,
                                           prefix=prefix)
                output = limited.expect_failure(seconds=FAILED_WITHIN_S)
                self.assertRegex(output, rf"RDMA device rxe-to-n[01] cannot {refused}.*: raise rdma\.max")
        self.nodes.check_traffic()


class RingTest(VerbsTestCase):
    OPTIONS = ("ring:4", *RATE)
    CABLES = 4

    def test_every_operation_and_relays(self) -> None:
        packets = {name: self.nodes.sent_rdma_packets(name) for name in self.nodes.names}
        relayed = {name: self.nodes.relayed_bytes(name) for name in self.nodes.names}
        self.check_every_operation("1,128,64K,300K")
        for name in self.nodes.names:
            self.assertGreater(self.nodes.sent_rdma_packets(name) - packets[name], 300 * 1024 // MTU_BYTES, name)
        self.assertGreater(sum(self.nodes.relayed_bytes(name) - relayed[name] for name in self.nodes.names), 300 << 10)

    def test_size_edges_through_a_relay(self) -> None:
        relayed = sum(map(self.nodes.relayed_bytes, self.nodes.names))
        self.nodes.ranks(["n0", "n2"], "--workload", "sendrecv,opposite", "--sizes", EDGES, "--step-bytes",
                         "8M", "--channels", "1", *ONCE).finish()
        # Both ways.
        self.assertGreaterEqual(sum(map(self.nodes.relayed_bytes, self.nodes.names)) - relayed, 2 * (4 << 20))

    def test_64_mib_through_a_relay(self) -> None:
        relayed = sum(map(self.nodes.relayed_bytes, self.nodes.names))
        # 13.5 s on cables of 40 Mbit/s.
        self.nodes.ranks(["n0", "n2"], "--workload", "sendrecv,0-1", "--sizes", "64M", "--step-bytes", "64M",
                         "--channels", "1", *ONCE).finish()
        self.assertGreaterEqual(sum(map(self.nodes.relayed_bytes, self.nodes.names)) - relayed, 64 << 20)

    def test_32_messages_in_flight_through_a_relay(self) -> None:
        self.nodes.ranks(["n0", "n2"], "--workload", "sendrecv,0-1", "--sizes", "2M", "--step-bytes",
                         "16K", "--in-flight", "32", "--channels", "2", *ONCE).finish()

    # What ends a flow

    def relay(self) -> str:
        """The node that relays between n0 and n2 now."""
        relays = [name for name in ("n1", "n3") if self.nodes.cableway(name, "status")["circuits"]]
        self.assertEqual(len(relays), 1, relays)
        return relays[0]

    def test_a_cable_cut_silently_is_named(self) -> None:
        self.without_cable("n3-n0")  # over which the flow would go on
        ranks = self.flowing("n0", "n2")
        relay = self.relay()
        self.lab.check("cut", f"{relay}-n2", "--silent")
        cut = time.monotonic()
        try:
            ranks.expect_failure(seconds=FAILED_WITHIN_S)
            print(f"named after {time.monotonic() - cut:.1f} s, ", end="")
            for rank in ranks.ranks:
                self.assertRegex(rank.text(), found_between(relay, "n2"))
        finally:
            self.lab.check("mend", f"{relay}-n2")

    def test_a_cable_without_carrier_is_named(self) -> None:
        ranks = self.flowing("n0", "n1")
        self.lab.check("cut", "n0-n1")
        try:
            self.assertRegex(ranks.expect_failure(seconds=FAILED_WITHIN_S), found_between("n0", "n1"))
        finally:
            self.lab.check("mend", "n0-n1")
        self.nodes.wait_for_cables(self.CABLES)
        self.nodes.check_traffic()

    def test_a_killed_relay_is_named_at_both_ends(self) -> None:
        ranks = self.flowing("n0", "n2")
        relay = self.relay()
        self.nodes.kill(relay)
        ranks.expect_failure(seconds=FAILED_WITHIN_S)
        for rank in ranks.ranks:
            self.assertRegex(rank.text(), found_between(relay, rank.node))
        self.nodes.check_traffic([name for name in self.nodes.names if name != relay])
        self.nodes.start(relay, **self.SETTINGS)
        self.nodes.wait_for_cables(self.CABLES)
        self.nodes.check_traffic()

    def test_a_killed_relay_is_a_pause(self) -> None:
        ranks = self.flowing("n0", "n2", path_wait_s=30)
        relay = self.relay()
        self.nodes.kill(relay)
        self.check_still_flowing(ranks, "n0")
        self.nodes.start(relay, **self.SETTINGS)
        self.nodes.wait_for_cables(self.CABLES)

    def test_a_cable_without_carrier_is_a_pause(self) -> None:
        ranks = self.flowing("n0", "n1", path_wait_s=30)
        self.lab.check("cut", "n0-n1")
        try:
            self.check_still_flowing(ranks, "n0")
        finally:
            self.lab.check("mend", "n0-n1")
        self.nodes.wait_for_cables(self.CABLES)
        self.nodes.check_traffic()

    def check_killed_rank(self, killed: int) -> None:
        nodes = ["n0", "n2"]
        ranks = self.flowing(*nodes)
        relay = self.relay()
        self.nodes.kill_command(nodes[killed], "collperf")
        output = ranks.expect_failure(nodes[killed], seconds=FAILED_WITHIN_S)
        self.assertRegex(output, found_between(relay, nodes[killed]))
        self.nodes.check_traffic()

    def test_a_killed_receiver_ends_the_sender(self) -> None:
        self.check_killed_rank(1)

    def test_a_killed_sender_ends_the_receiver(self) -> None:
        self.check_killed_rank(0)


class MixedPathTest(VerbsTestCase):
    """One hop over RDMA, one over TCP."""

    OPTIONS = ("line:3", *RATE, "--no-rdma", "c1")
    CABLES = 2
    SETTINGS = VerbsTestCase.SETTINGS | {"TRANSPORT": "auto"}
    AUTO = {"CABLEWAY_TRANSPORT": "auto"}

    def test_bytes_are_right_both_ways(self) -> None:
        packets, relayed = self.nodes.sent_rdma_packets("n0"), self.nodes.relayed_bytes("n1")
        backward = self.nodes.sent_rdma_packets("n1")
        self.nodes.ranks(["n0", "n2"], "--workload", "sendrecv,opposite", "--sizes", EDGES, "--step-bytes", "8M",
                         "--channels", "1", *ONCE, settings=self.AUTO).finish()
        for name, before in (("n0", packets), ("n1", backward)):
            self.assertGreater(self.nodes.sent_rdma_packets(name) - before, (4 << 20) // MTU_BYTES, name)
        self.assertGreaterEqual(self.nodes.relayed_bytes("n1") - relayed, 2 * (4 << 20))

    def test_a_relay_that_cannot_create_a_queue_pair(self) -> None:
        self.nodes.check_traffic(settings=self.AUTO)
        with self.nodes.no_more_rdma_objects("n1"):
            ranks = self.nodes.ranks(["n0", "n2"], "--workload", "sendrecv", "--sizes", "64K", *ONCE, settings=self.AUTO)
            output = ranks.expect_failure(seconds=FAILED_WITHIN_S)
            self.assertRegex(output, r"node n1.*RDMA device rxe-to-n0 cannot .*: raise rdma\.max")
        self.nodes.check_traffic(settings=self.AUTO)

    def port(self, interface: str) -> dict[str, Any]:
        """A port of n1 as `cableway ports` shows it."""
        ports = self.nodes.cableway("n1", "ports")["ports"]
        return next(port for port in ports if port["interface"] == interface)

    def wait_for_event(self, code: str, port: str) -> None:
        def events() -> list[tuple[str, str | None]]:
            return [(event["code"], event["fields"].get("port")) for event in self.nodes.cableway("n1", "events")["events"]]

        self.nodes.wait_until(lambda: (code, port) in events(), lambda: f"{code} of {port} among {events()}")

    def test_device_events_are_reported(self) -> None:
        self.assertEqual((self.port("to-n2")["transport"], self.port("to-n2")["transport_reason"]),
                         ("tcp", "no RDMA device behind to-n2"))
        port = self.port("to-n0")
        self.assertEqual((port["transport"], port["rdma_device"], port["rdma_mtu"]), ("rdma", "rxe-to-n0", MTU_BYTES))
        self.lab.check("cut", "n0-n1")
        try:
            self.wait_for_event("RDMA_PORT_ERROR", "to-n0")
            self.nodes.wait_until(lambda: self.port("to-n0")["transport"] == "refused", lambda: self.port("to-n0"))
            self.assertIn("rxe-to-n0 behind to-n0 is not active", self.port("to-n0")["transport_reason"])
        finally:
            self.lab.check("mend", "n0-n1")
        self.wait_for_event("RDMA_PORT_ACTIVE", "to-n0")
        self.nodes.wait_until(lambda: self.port("to-n0")["transport"] == "rdma", lambda: self.port("to-n0"))
        self.nodes.wait_for_cables(self.CABLES)

    def test_a_removed_device_is_closed_and_found_again(self) -> None:
        node, interface = "n1", "to-n0"
        # Soft-RoCE removes a device once no process has it open.
        self.nodes.run(node, "rdma", "link", "delete", f"rxe-{interface}")
        self.nodes.wait_until(lambda: self.port(interface)["rdma_device"] is None, lambda: self.port(interface))
        self.assertEqual(self.port(interface)["transport_reason"], f"RDMA device rxe-{interface} behind {interface} is gone")
        self.nodes.run(node, "rdma", "link", "add", f"rxe-{interface}", "type", "rxe", "netdev", interface)
        self.nodes.wait_until(lambda: self.port(interface)["transport"] == "rdma", lambda: self.port(interface))
        self.nodes.wait_for_cables(self.CABLES)
        self.nodes.check_traffic(["n0", "n1"], settings=self.AUTO)

    def test_verbs_refuses_a_cable_without_rdma(self) -> None:
        self.assertEqual(self.nodes.sent_rdma_packets("n2"), 0)
        ranks = self.nodes.ranks(["n1", "n2"], "--workload", "sendrecv", "--sizes", "64K", *ONCE)
        output = ranks.expect_failure(seconds=FAILED_WITHIN_S)
        self.assertRegex(output, r"CABLEWAY_TRANSPORT is verbs, and the port with address 10\.7\.1\.[12] has no RDMA device")


if __name__ == "__main__":
    guest_nodes_case.main("verbs_test.py")
