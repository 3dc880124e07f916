#!/usr/bin/env python3
"""Test of the switch of labs of guests (tools/lab/guests/ethernet_switch.py), between plain sockets: no guest, no namespace."""

from __future__ import annotations

import math
import os
import signal
import socket
import struct
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import lab_case  # noqa: F401  (adds the lab's modules to sys.path)

from guests.ethernet_switch import AddressTable, start_switch
from shaping import QUEUE_BYTES, Shape
from guests.switch_port import SwitchPort, wire_port
from guests.token_bucket import TokenBucket

_PATIENCE_S = 20.0
_ALL = b"\xff" * 6
_GROUP = bytes.fromhex("3333000000fb")


def address(host: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, host])


def frame(target: bytes, sender: bytes, payload: bytes = b"") -> bytes:
    return target + sender + b"\x88\xb5" + payload


class AddressTableTest(unittest.TestCase):
    def test_the_last_port_of_an_address_is_found(self) -> None:
        table: AddressTable[str] = AddressTable()
        self.assertIsNone(table.find(address(1)))
        table.learn(address(1), "a")
        table.learn(address(2), "b")
        self.assertEqual((table.find(address(1)), table.find(address(2))), ("a", "b"))
        table.learn(address(1), "c")
        self.assertEqual(table.find(address(1)), "c")

    def test_a_full_table_evicts_what_it_learnt_first(self) -> None:
        table: AddressTable[str] = AddressTable(max_addresses=3)
        for host in (1, 2, 3):
            table.learn(address(host), "a")
        table.learn(address(1), "b")  # moved: learnt again
        table.learn(address(3), "a")  # known: nothing to learn
        table.learn(address(4), "a")
        table.learn(address(5), "a")
        self.assertEqual([table.find(address(host)) for host in range(1, 6)], ["b", None, None, "a", "a"])


class TokenBucketTest(unittest.TestCase):
    def test_burst_then_rate(self) -> None:
        bucket = TokenBucket(rate_bps=8000, burst_bytes=3000)  # 1000 bytes a second
        now = 5000.0
        for _ in range(3):
            self.assertEqual(bucket.wait_s(1000, now), 0.0)
            bucket.spend(1000)
        self.assertAlmostEqual(bucket.wait_s(1000, now), 1.0)
        self.assertAlmostEqual(bucket.wait_s(500, now + 0.25), 0.25)
        self.assertEqual(bucket.wait_s(1000, now + 1.5), 0.0)
        bucket.spend(1000)
        self.assertAlmostEqual(bucket.wait_s(1000, now + 1.5), 0.5)

    def test_a_pause_fills_it_no_further_than_the_burst(self) -> None:
        bucket = TokenBucket(rate_bps=8000, burst_bytes=3000)
        self.assertEqual(bucket.wait_s(3000, 1e6), 0.0)
        bucket.spend(3000)
        self.assertAlmostEqual(bucket.wait_s(3000, 1e6), 3.0)


class SwitchPortTest(unittest.TestCase):
    """Time is passed in by the test."""

    def joined(self, shape: Shape) -> tuple[SwitchPort, socket.socket]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        port = SwitchPort(ours, shape)
        self.addCleanup(port.close)
        self.addCleanup(theirs.close)
        theirs.setblocking(False)
        return port, theirs

    def arrived(self, port: socket.socket) -> list[int]:
        """The numbers of the frames that have arrived."""
        numbers = []
        while True:
            try:
                numbers.append(struct.unpack_from("!I", port.recv(64 << 10))[0])
            except BlockingIOError:
                return numbers

    def offer(self, port: SwitchPort, number: int, size: int, now: float) -> None:
        port.offer(memoryview(struct.pack("!I", number).ljust(size, b"\0")), now)

    def test_frames_wait_for_the_rate_in_order(self) -> None:
        port, far = self.joined(Shape(rate_bps=8000, burst_bytes=3000))
        for number in range(5):
            self.offer(port, number, 1000, now=0.0)
        self.assertEqual(self.arrived(far), [0, 1, 2])
        self.assertAlmostEqual(port.wait_s(0.0), 1.0)
        port.deliver(0.9)
        self.assertEqual(self.arrived(far), [])
        port.deliver(1.1)
        self.offer(port, 5, 10, now=1.1)  # tokens suffice for it, but it must not overtake
        self.assertEqual(self.arrived(far), [3])
        port.deliver(3.0)
        self.assertEqual(self.arrived(far), [4, 5])
        self.assertEqual(port.wait_s(3.0), math.inf)

    def test_the_queue_is_bounded_and_drops_at_its_tail(self) -> None:
        size = 32 << 10
        port, far = self.joined(Shape(rate_bps=8000, burst_bytes=size))
        capacity = 1 + QUEUE_BYTES // size  # one leaves at once
        for began in (0.0, 1e6):  # after a full queue has emptied, it accepts as much again
            for number in range(capacity + 9):
                self.offer(port, number, size, began)
            numbers = self.arrived(far)
            for turn in range(1, capacity):
                port.deliver(began + 100.0 * turn)
                numbers += self.arrived(far)
            self.assertEqual(numbers, list(range(capacity)))
            self.assertEqual(port.wait_s(began + 100.0 * capacity), math.inf)

    def test_waits_for_a_peer_that_does_not_read(self) -> None:
        port, far = self.joined(Shape())
        count = 2000  # more than its socket buffers
        for number in range(count):
            self.offer(port, number, 1000, now=0.0)
        self.assertTrue(port.blocked)
        self.assertEqual(port.wait_s(0.0), math.inf)
        numbers: list[int] = []
        while port.blocked:
            numbers += self.arrived(far)
            port.deliver(0.0)
        self.assertEqual(numbers + self.arrived(far), list(range(count)))


class SwitchTest(unittest.TestCase):
    """A switch's process, and a plain socket at each of its three ports."""

    def start(self, *shapes: Shape) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._folder = Path(folder.name)
        pid = start_switch([wire_port(self._folder / f"{number}.switch", self._folder / str(number), shape)
                            for number, shape in enumerate(shapes)])
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.hosts = [self.plug_in(number) for number in range(len(shapes))]

    def plug_in(self, number: int) -> socket.socket:
        host = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(host.close)
        host.bind(str(self._folder / str(number)))
        host.settimeout(_PATIENCE_S)
        return host

    def send(self, host: int, *frames: bytes) -> None:
        for each in frames:
            self.hosts[host].sendto(each, str(self._folder / f"{host}.switch"))

    def expect(self, host: int, *frames: bytes) -> None:
        """These frames arrive next, so no other frame arrived before them."""
        for each in frames:
            self.assertEqual(self.hosts[host].recv(64 << 10), each)

    def test_groups_and_unknown_addresses_are_flooded(self) -> None:
        self.start(Shape(), Shape(), Shape())
        frames = [frame(_ALL, address(0), b"1"), frame(_GROUP, address(0), b"2"), frame(address(9), address(0), b"3")]
        self.send(0, *frames)
        self.expect(1, *frames)
        self.expect(2, *frames)
        mark = frame(_ALL, address(1))
        self.send(1, mark)
        self.expect(0, mark)  # and none of its own frames

    def test_a_known_address_is_not_flooded(self) -> None:
        self.start(Shape(), Shape(), Shape())
        hello = frame(_ALL, address(2))
        self.send(2, hello)
        self.expect(0, hello)
        self.expect(1, hello)
        private, mark = frame(address(2), address(0), b"private"), frame(_ALL, address(0))
        self.send(0, private, mark)
        self.expect(2, private, mark)
        self.expect(1, mark)

    def test_a_moved_address_is_learnt_again(self) -> None:
        self.start(Shape(), Shape(), Shape())
        for host in (2, 1):
            hello = frame(_ALL, address(7), bytes([host]))
            self.send(host, hello)
            self.expect(0, hello)
            self.expect(3 - host, hello)
        private, mark = frame(address(7), address(0)), frame(_ALL, address(0))
        self.send(0, private, mark)
        self.expect(1, private, mark)
        self.expect(2, mark)

    def test_frames_that_are_not_forwarded(self) -> None:
        """A frame between two addresses behind one port, one too short for Ethernet, and one whose sender is a group."""
        self.start(Shape(), Shape(), Shape())
        hello, mark = frame(_ALL, address(7)), frame(_ALL, address(0), b"mark")
        self.send(0, hello, frame(address(7), address(0)), b"", _ALL + address(0) + b"\x88", frame(_ALL, _GROUP), mark)
        self.expect(1, hello, mark)
        to_group = frame(_GROUP, address(1))  # still flooded, although a group was a sender before
        self.send(1, to_group)
        self.expect(0, to_group)
        self.expect(2, hello, mark, to_group)

    def test_rate_of_a_port(self) -> None:
        """The egress port's rate applies, and no other."""
        self.start(Shape(), Shape(rate_bps=8_000_000, burst_bytes=64 << 10), Shape())
        frames = [frame(_ALL, address(0), struct.pack("!I", number).ljust(4200, b"\0")) for number in range(80)]
        began = time.monotonic()
        self.send(0, *frames[:40])
        self.expect(2, *frames[:40])
        self.send(0, *frames[40:])
        self.expect(2, *frames[40:])
        self.expect(1, *frames)
        # Of 337 KB, 64 KiB pass at once and the rest at 1 MB/s.
        self.assertGreater(time.monotonic() - began, 0.27)

    def test_a_host_that_reads_late_gets_everything(self) -> None:
        self.start(Shape(), Shape(), Shape())
        frames = [frame(_ALL, address(0), struct.pack("!I", number).ljust(4200, b"\0")) for number in range(400)]
        for each in frames:
            self.send(0, each)
            self.expect(1, each)
        self.expect(2, *frames)

    def test_hosts_come_and_go(self) -> None:
        self.start(Shape(), Shape(), Shape())
        first, second = frame(_ALL, address(0), b"1"), frame(_ALL, address(0), b"2")
        self.hosts[2].close()
        self.send(0, first)
        self.expect(1, first)
        self.send(0, second)
        self.expect(1, second)

    def test_a_host_that_comes_late(self) -> None:
        self.start(Shape(), Shape())
        (self._folder / "1").rename(self._folder / "later")
        lost, mark = frame(_ALL, address(0), b"lost"), frame(_ALL, address(0), b"mark")
        self.send(0, lost)
        answer = frame(_ALL, address(1))
        self.hosts[1].sendto(answer, str(self._folder / "1.switch"))
        self.expect(0, answer)  # by now the switch has handled the first
        (self._folder / "later").rename(self._folder / "1")
        self.send(0, mark)
        self.expect(1, mark)


if __name__ == "__main__":
    unittest.main(verbosity=2)
