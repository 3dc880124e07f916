#!/usr/bin/env python3
"""One rank with two communicators in use at the same time: two process groups of all ranks, each driven by its own
thread on its own stream, in opposite orders, so that different operations overlap.

    two_groups.py PLAN.json EVENTS.jsonl      (plan: backend, device, cells of {op, size, rows})

Everything that synchronizes the whole device (allocations, first uses of kernels and of connections) happens before
the threads start: two communicators that wait for each other through the device are the program's fault, not NCCL's.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import sys
import threading
import time
from typing import Any

import test_pattern
from rank_meeting import Events, Meeting, machine_facts, own_device, run_rank
from test_pattern import INT32

_GROUP_TIMEOUT = datetime.timedelta(seconds=120)
_ITERATIONS_APART = 1 << 20  # between the data of the two groups, so that one group's bytes are wrong in the other


class Lane:
    """One of the two groups, its stream, and its data: for each cell a table with one row per iteration, the first for
    the warm-up."""

    def __init__(self, owner: TwoGroups, number: int) -> None:
        self.owner, self.name = owner, f"group{number}"
        self.group = owner.dist.new_group(backend=owner.plan["backend"], timeout=_GROUP_TIMEOUT)
        self.stream = owner.torch.cuda.Stream(owner.device) if owner.cuda else None
        self.cells = owner.plan["cells"][::-1 if number else 1]
        self.first = 1 + number * _ITERATIONS_APART
        self.tables = [self._tables(cell) for cell in self.cells]
        self.error: BaseException | None = None
        self.began = self.ended = 0.0

    def _tables(self, cell: dict[str, Any]) -> tuple[Any, Any, int]:
        torch, owner, operation = self.owner.torch, self.owner, cell["op"]
        elements, rows = test_pattern.element_count(operation, cell["size"], owner.ranks), cell["rows"] + 1
        outputs = torch.empty((rows, test_pattern.output_elements(operation, elements, owner.ranks)),
                              dtype=torch.int32, device=owner.device)
        test_pattern.poison(outputs, INT32)
        inputs, first = outputs, self.first
        self.first += rows
        if operation not in (*test_pattern.IN_PLACE, "broadcast"):
            inputs = torch.empty((rows, test_pattern.input_elements(operation, elements, owner.ranks)),
                                 dtype=torch.int32, device=owner.device)
        if operation != "broadcast" or owner.rank == 0:
            test_pattern.fill(torch, inputs, owner.rank, first, INT32)
        return inputs, outputs, first

    def _run_rows(self, number: int, rows: range) -> None:
        inputs, outputs, _ = self.tables[number]
        for row in rows:
            test_pattern.collective(self.owner.dist, self.cells[number]["op"], inputs[row], outputs[row], self.group)

    def _on_stream(self) -> Any:
        return self.owner.torch.cuda.stream(self.stream) if self.stream else contextlib.nullcontext()

    def warm_up(self) -> None:
        with self._on_stream():
            for number, cell in enumerate(self.cells):
                self._run_rows(number, range(1))
                self.owner.synchronize()
                self.owner.events.record("warm", config=self.name, op=cell["op"], size=cell["size"])

    def work(self) -> None:
        """Runs all rows except the warm-up ones, in the calling thread."""
        try:
            if self.owner.cuda:
                self.owner.torch.cuda.set_device(self.owner.device)  # each thread has its own
            self.began = time.monotonic()
            with self._on_stream():
                for number, cell in enumerate(self.cells):
                    self.owner.events.record("cell", config=self.name, op=cell["op"], size=cell["size"])
                    self._run_rows(number, range(1, cell["rows"] + 1))
                    if self.stream:
                        self.stream.synchronize()
            self.ended = time.monotonic()
        except BaseException as error:  # noqa: BLE001  raised again in the main thread
            self.error = error

    def check(self) -> None:
        for cell, (_, outputs, first) in zip(self.cells, self.tables):
            elements = test_pattern.element_count(cell["op"], cell["size"], self.owner.ranks)
            segments = test_pattern.expected(cell["op"], self.owner.rank, self.owner.ranks, elements)
            wrong = test_pattern.count_wrong(self.owner.torch, outputs, segments, first, INT32)
            self.owner.events.record("checked", config=self.name, op=cell["op"], size=cell["size"], wrong=wrong,
                                  checked=outputs.numel() * outputs.element_size())


class TwoGroups:
    def __init__(self, plan: dict[str, Any], events: Events) -> None:
        import torch
        import torch.distributed as dist
        self.torch, self.dist, self.plan, self.events = torch, dist, plan, events
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.device = own_device(torch, plan["device"], self.rank)
        self.cuda = self.device.type == "cuda"
        events.record("imported", torch=torch.__version__)
        test_pattern.check_against_definition(torch, self.device)
        self.meeting = Meeting(dist, self.rank, self.ranks)
        if self.rank == 0:
            events.record("machine", **machine_facts(torch, self.device))

    def synchronize(self) -> None:
        if self.cuda:
            self.torch.cuda.synchronize()

    def run(self) -> None:
        self.dist.init_process_group(self.plan["backend"], rank=self.rank, world_size=self.ranks,
                                     store=self.dist.PrefixStore("group", self.meeting.store), timeout=_GROUP_TIMEOUT)
        lanes = [Lane(self, number) for number in range(2)]
        self.synchronize()
        for lane in lanes:
            self.meeting.barrier()
            lane.warm_up()
        self.meeting.barrier()
        # The store is one connection per rank, so no thread may use it from here until both threads have ended.
        threads = [threading.Thread(target=lane.work, name=lane.name, daemon=True) for lane in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for lane in lanes:
            if lane.error is not None:
                raise lane.error
            self.events.record("worked", config=lane.name, began=lane.began, ended=lane.ended)
        self.synchronize()
        self.meeting.barrier()
        for lane in lanes:
            lane.check()
        self.meeting.barrier()
        self.dist.destroy_process_group()
        self.meeting.leave()
        self.events.record("done")


if __name__ == "__main__":
    sys.exit(run_rank(lambda plan, events: TwoGroups(plan, events).run()))
