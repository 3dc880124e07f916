#!/usr/bin/env python3
"""System test of floods on a relay: by set-ups that hang, by connections that send nothing, and by set-ups to TCP ports where
no process accepts circuits. n0 floods; the circuits of n2, and those of n0's own processes, open meanwhile.

Usage: relay_flood_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import contextlib
import resource
import socket
import sys
import threading
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from in_lab import in_lab, main, report_figure
from lab_nodes import STEADY, LabNodes, in_network
from played_circuits import PlayedPath, connect, path_between, played_process, read_answer, seconds_until_open, set_up

_SOON_S = 10.0  # for a busy machine; an idle one needs a twentieth of it
_TRIES = 20


@contextlib.contextmanager
def idle_connections(path: PlayedPath, per_second: int) -> Iterator[list[int]]:
    """Opens so many connections a second to the path's relay that send nothing, and keeps them. Yields how many so far."""
    opened, end = [0], threading.Event()

    def run() -> None:
        kept: list[socket.socket] = []
        with in_network(path.nodes[0]):
            began = time.monotonic()
            while not end.is_set():
                while opened[0] < (time.monotonic() - began) * per_second and not end.is_set():
                    with contextlib.suppress(OSError):
                        kept.append(connect(path, 5.0))
                    opened[0] += 1
                    if len(kept) > 900:
                        kept.pop(0).close()
                time.sleep(0.005)
        for each in kept:
            each.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield opened
    finally:
        end.set()
        thread.join()


class RelayFloodTest(unittest.TestCase):
    def start_line(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        self.there = path_between(nodes, "n0", "n1", "n2")
        self.back = path_between(nodes, "n2", "n1", "n0")

    def opens_at_once(self, port: int) -> str:
        """One attempt, which a process would repeat. Empty: it has opened; else why not."""
        time.sleep(0.1)
        try:
            with in_network("n0"), connect(self.there, 5.0) as connection:
                connection.sendall(set_up(self.there, port))
                return read_answer(connection)
        except OSError as error:
            return f"no connection: {error}"

    def check_opens(self, path: PlayedPath, port: int, what: str) -> None:
        seconds, reason = seconds_until_open(path, port, 60.0)
        report_figure(f"{what}: {seconds:.2f} s")
        self.assertEqual(reason, "")
        self.assertLess(seconds, _SOON_S)

    @in_lab("line:3")
    def test_set_ups_that_hang(self, nodes: LabNodes) -> None:
        """1,200 at once, to a process that never answers, with the greatest budget."""
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # this process holds all of them
        self.start_line(nodes)
        with played_process("n2") as hangs, played_process("n0") as destination, contextlib.ExitStack() as flood:
            destination.serve()
            self.check_opens(self.back, destination.port, "without a flood")
            with in_network("n0"):
                frame = set_up(self.there, hangs.port)
                began = time.monotonic()
                for _ in range(1200):
                    flood.enter_context(connect(self.there, 5.0)).sendall(frame)
                report_figure(f"1,200 set-ups in {time.monotonic() - began:.2f} s")
            time.sleep(1.0)  # the relay has read all of them
            self.check_opens(self.back, destination.port, "from the other neighbour")
            with played_process("n2") as answers:
                answers.serve()
                self.check_opens(self.there, answers.port, "from the neighbour that floods")
            nodes.wait_until(lambda: nodes.cableway("n1", "status")["relayed"]["setups_refused"] > 500,
                             lambda: nodes.cableway("n1", "status")["relayed"])
        nodes.check_alive()

    @in_lab("line:3")
    def test_connections_that_send_nothing(self, nodes: LabNodes) -> None:
        self.start_line(nodes)
        with played_process("n2") as destination:
            destination.serve()
            for rate in (100, 1000):
                with idle_connections(self.there, rate) as opened:
                    time.sleep(6.0)  # longer than a set-up may take
                    tries = [self.opens_at_once(destination.port) for _ in range(_TRIES)]
                    report_figure(f"of {_TRIES} circuits at {rate} connections a second opened: {tries.count('')}")
                    self.assertGreaterEqual(tries.count(""), _TRIES - 2, tries)
                    self.check_opens(self.there, destination.port, f"with further tries, after {opened[0]} of them")
            found = [each for each in nodes.doctor("n1")[1] if each["code"] == "CONNECTIONS_FLOODED"]
            self.assertEqual(len(found), 1, nodes.problems("n1"))
            self.assertRegex(found[0]["what"], r"^\d+ connections a second to TCP port 7470 at 10.7.0.2 \(port to-n0\) "
                                               "brought no valid set-up, most of them from 10.7.0.1, an address of node n0")
            self.assertGreaterEqual(nodes.count_logged("n1", "CONNECTIONS_FLOODED"), 1, nodes.log("n1"))

    @in_lab("line:3")
    def test_ports_where_no_process_accepts_circuits(self, nodes: LabNodes) -> None:
        self.start_line(nodes)
        with played_process("n2", told=False) as other, played_process("n2") as told:
            told.serve()
            with in_network("n0"), connect(self.there, 10.0) as connection:
                connection.sendall(set_up(self.there, other.port))
                reason = read_answer(connection)
            self.assertIn(f"node n1 does not connect to TCP port {other.port} of node n2, which has not announced", reason)
            self.assertFalse(other.has_connections(), "the relay connected to a port that was not announced")
            self.check_opens(self.there, told.port, "to a port that was announced")
        nodes.check_traffic()


if __name__ == "__main__":
    main()
