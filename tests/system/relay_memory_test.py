#!/usr/bin/env python3
"""System test of the relay memory: 50 communicators all-to-all on a ring of eight, so that 450 circuits pass through each
node on cables that are too slow for them, and all of it stays within what a node was told.

Usage: relay_memory_test.py --build DIR [TEST...]. Exit status 77 where this system can hold no lab.
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
from lab_nodes import LabNodes, Ranks

CHANNELS = 50
MIB = 2**20
# Room for 480 circuits and 30 leases (docs/decisions/0007); 450 circuits come.
RELAY_MEMORY = 480 * MIB
_SOCKET_MEMORY = re.compile(r"skmem:\(r(\d+),rb(\d+),t\d+,tb(\d+),f\d+,w(\d+),")
_SAMPLE_S = 0.25


@dataclass
class Sample:
    """What the kernel says of one node's data sockets and pipes. Bytes."""
    sockets: int = 0
    held: int = 0  # in receive and send queues, with the kernel's overhead
    limits: int = 0  # what these queues may hold
    in_pipes: int = 0


def sample_sockets(nodes: LabNodes, name: str) -> Sample:
    """Those of cablewayd's connections."""
    sample = Sample()
    lines = nodes.run(name, "ss", "-H", "-O", "-t", "-n", "-p", "-m", "state", "established").splitlines()
    for line in lines:
        if f"pid={nodes.pid(name)}," not in line or not (found := _SOCKET_MEMORY.search(line)):
            continue
        received, receive_limit, send_limit, queued = map(int, found.groups())
        sample.sockets += 1
        sample.held += received + queued
        sample.limits += max(received, receive_limit) + max(queued, send_limit)
    return sample


def bytes_in_pipes(pid: int) -> int:
    """Through each pipe's reading end, opened once more: nobody is disturbed by that."""
    total = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):  # it may be closed at any moment
            if not os.readlink(entry.path).startswith("pipe:") or os.stat(entry.path, follow_symlinks=False).st_mode & 0o200:
                continue
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_NONBLOCK)
            try:
                total += struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0]
            finally:
                os.close(descriptor)
    return total


class RelayMemoryTest(unittest.TestCase):
    def check_sample(self, nodes: LabNodes, name: str) -> tuple[Sample, dict[str, int]]:
        before = nodes.relay_memory(name)
        sample = sample_sockets(nodes, name)
        sample.in_pipes = bytes_in_pipes(nodes.pid(name))
        after = nodes.relay_memory(name)
        # Circuits come and leases come and go meanwhile, so the larger of the two is what counts.
        stated = (max(before["floor_bytes"], after["floor_bytes"])
                  + max(before["leased_bytes"], after["leased_bytes"]))
        self.assertLessEqual(stated, RELAY_MEMORY)
        self.assertLessEqual(sample.held + sample.in_pipes, RELAY_MEMORY, name)
        return sample, after

    @in_lab("ring:8", "--rate", "100mbit")
    def test_fifty_communicators_on_a_ring_of_eight(self, nodes: LabNodes) -> None:
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # for the ranks, as any job has to
        nodes.start(RELAY_MEMORY=str(RELAY_MEMORY))
        nodes.wait_for_cables()
        began = time.monotonic()
        ranks = nodes.start_ranks(nodes.names, "--op", "all_to_all", "--channels", str(CHANNELS), "--sizes", "100M",
                                  "--step-bytes", "256K", "--warmup", "0", "--iters", "0", "--check-iters", "1")
        while ranks.running():
            for name in nodes.names:
                sample, memory = self.check_sample(nodes, name)
                print(f"{time.monotonic()-began:.2f}", name, sample, memory, flush=True)
            time.sleep(_SAMPLE_S)
        ranks.finish()


if __name__ == "__main__":
    main()
