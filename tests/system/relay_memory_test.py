#!/usr/bin/env python3
"""System test of the relay memory: 50 communicators all-to-all on a ring of eight, so that 450 circuits pass through
each node on cables that are too slow for them. The kernel memory of the circuits stays within the configured limit.

Usage: relay_memory_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import resource
import struct
import termios
import time
import unittest
from dataclasses import dataclass

from in_lab import in_lab, main
from lab_nodes import STEADY, LabNodes

COMMUNICATORS = 50
# Of the pairs of a ring of eight, nine have their path through a given node, in each communicator and with both paths
# of opposite nodes used equally.
CIRCUITS = 9 * COMMUNICATORS
RELAY_MEMORY = 1250 * 2**20  # 465 circuits and 128 leases (docs/decisions/0007)
_SOCKET = re.compile(r"ino:(\d+) .*skmem:\(r(\d+),rb(\d+),t\d+,tb(\d+),f\d+,w(\d+),")
_PIPE_SIZE = 1032  # F_GETPIPE_SZ
_FLOOR_PIPE, _WIDE_PIPE = 64 * 2**10, 256 * 2**10
_SAMPLE_S = 0.2


@dataclass
class KernelMemory:
    """The kernel's figures for cablewayd's connections and pipes, in bytes."""
    held: int = 0  # in queues, with the kernel's overhead, and in pipes
    limit: int = 0  # what the queues and pipes may hold
    pipes: int = 0  # of that, the pipes


def kernel_memory(nodes: LabNodes, name: str) -> KernelMemory:
    memory, sockets = KernelMemory(), set()
    for entry in os.scandir(f"/proc/{nodes.pid(name)}/fd"):
        with contextlib.suppress(OSError):  # it may be closed at any moment
            kind, _, inode = os.readlink(entry.path).strip("]").partition(":[")
            if kind == "socket":
                sockets.add(inode)
            elif kind == "pipe" and entry.stat(follow_symlinks=False).st_mode & 0o400:
                add_pipe(memory, entry.path)
    for line in nodes.run(name, "ss", "-HOtnem", "state", "established").splitlines():
        if (found := _SOCKET.search(line)) and found[1] in sockets:
            received, receive_limit, send_limit, queued = (int(number) for number in found.groups()[1:])
            memory.held += received + queued
            memory.limit += max(received, receive_limit) + max(queued, send_limit)
    return memory


def add_pipe(memory: KernelMemory, path: str) -> None:
    """Reads the pipe's figures through its read end, opened again, which does not disturb the relay."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        memory.held += struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0]
        size = fcntl.fcntl(descriptor, _PIPE_SIZE)
        memory.limit += size
        memory.pipes += size
    finally:
        os.close(descriptor)


class RelayMemoryTest(unittest.TestCase):
    def check_node(self, nodes: LabNodes, name: str, idle_pipes: int) -> bool:
        """Returns whether all circuits were open, so that the limits could be checked, too: a connection that is being
        set up has large limits and empty queues. `idle_pipes`: bytes that its pipes hold without any circuit."""
        before, kernel, after = nodes.relay_memory(name), kernel_memory(nodes, name), nodes.relay_memory(name)
        self.assertLessEqual(kernel.held, RELAY_MEMORY, name)
        self.assertLessEqual(before["floor_bytes"] + before["leased_bytes"], RELAY_MEMORY)
        complete = before["circuits"] == after["circuits"] == CIRCUITS
        if complete:
            self.assertLessEqual(kernel.limit, RELAY_MEMORY, name)
            self.assertGreater(kernel.limit, 0)
            # Each lease may have moved from one circuit to another while the pipes were read one by one.
            self.assertLessEqual(kernel.pipes, idle_pipes + CIRCUITS * _FLOOR_PIPE +
                                 2 * after["leases"] * (_WIDE_PIPE - _FLOOR_PIPE), name)
        return complete

    @in_lab("ring:8", "--rate", "100mbit")
    def test_fifty_communicators_on_a_ring_of_eight(self, nodes: LabNodes) -> None:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # the ranks', which have 700 connections each
        # A queue of 16 MiB takes 1.3 s of such a cable: pulses behind it come too late. One circuit for each flow: their
        # number is checked.
        nodes.start(RELAY_MEMORY=str(RELAY_MEMORY), **STEADY, PULSE_MS="0", MULTIPATH="off")
        nodes.wait_for_cables()
        idle_pipes = {name: kernel_memory(nodes, name).pipes for name in nodes.names}
        ranks = nodes.start_ranks(nodes.names, "--workload", "all_to_all", "--channels", str(COMMUNICATORS),
                                  "--sizes", "100M", "--step-bytes", "256K", "-w", "0", "--iters", "0",
                                  "--check", "1")
        complete = set()
        while ranks.running():
            complete |= {name for name in nodes.names if self.check_node(nodes, name, idle_pipes[name])}
            time.sleep(_SAMPLE_S)
        self.assertGreater(ranks.finish(), 0)
        for name in nodes.names:
            self.check_end(nodes, name)
        # A sample takes more than a second where eight nodes share two CPUs with all their ranks.
        self.assertGreaterEqual(len(complete), 1, "no node was seen with all circuits")

    def check_end(self, nodes: LabNodes, name: str) -> None:
        nodes.wait_until(lambda: nodes.relay_memory(name)["circuits"] == nodes.relay_memory(name)["leased"] == 0,
                         lambda: f"an end of the circuits of {name}: {nodes.relay_memory(name)}")
        status = nodes.cableway(name, "status")
        # On a busy host some set-ups find no room, and take the other way around the ring.
        self.assertAlmostEqual(status["relayed"]["circuits_opened"], CIRCUITS, delta=CIRCUITS // 4)
        self.assertEqual(status["relayed"]["circuits_broken"], 0)
        self.assertEqual(status["relay_memory"]["leased_max"], status["relay_memory"]["leases"])
        self.assertGreater(status["relay_memory"]["waits"], 0)
        self.assertGreater(nodes.count_logged(name, "LEASES_EXHAUSTED"), 0)


if __name__ == "__main__":
    main()
