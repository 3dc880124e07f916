#!/usr/bin/env python3
"""One rank of the test of abnormal ends: communicators aborted in the middle of an operation, and a rank that dies.

    nccl_abort.py PLAN.json EVENTS.jsonl     (plan: part, bound_s, size, device, and absent or killed: a rank)

part abort: one rank never enters an all_reduce that all others have entered, then all ranks call ncclCommAbort.
Once with established connections, once with a communicator whose first operation it is, so that the others are still
connecting (a non-blocking one: a blocking call could not be aborted by its own rank). A new communicator on the same nodes
must work after each.

part kill: one rank dies by SIGKILL while all are inside. The others wait for ncclCommGetAsyncError to report it, for
bound_s at most, and abort. The conductor expects this rank's exit status (-9).

How long each abort took goes into the events; scenario_verdict.py compares it with bound_s.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import test_pattern
from nccl_library import SUCCESS, Nccl
from rank_meeting import Events, Meeting, machine_facts, own_device, run_rank
from test_pattern import INT32

_INSIDE_S = 0.7  # before a rank aborts or dies; the all_reduces of the plan take longer on its cables
_INIT_S = 40.0
_POLL_S = 0.02
_NEW_SIZES = (1 << 10, 1 << 20)


class AbortRank:
    def __init__(self, plan: dict[str, Any], events: Events) -> None:
        import torch
        import torch.distributed as dist
        self.torch, self.plan, self.events = torch, plan, events
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.device = own_device(torch, plan["device"], self.rank)
        events.record("imported", torch=torch.__version__)
        test_pattern.check_against_definition(torch, self.device)
        self.nccl = Nccl()
        self.meeting = Meeting(dist, self.rank, self.ranks)
        self.stream = torch.cuda.Stream(self.device)
        self.iteration = self.made = 0
        if self.rank == 0:
            events.record("machine", **machine_facts(torch, self.device))

    def run(self) -> None:
        if self.plan["part"] == "abort":
            self._abort_twice()
        else:
            self._lose_one()
        self.meeting.leave(self.ranks - (self.plan["part"] == "kill"))
        self.events.record("done")

    def _communicator(self, blocking: bool = True) -> Any:
        self.made += 1
        key = f"id/{self.made}"
        if self.rank == 0:
            self.meeting.store.set(key, self.nccl.unique_id().hex())
        unique_id = bytes.fromhex(self.meeting.store.get(key).decode())
        return self.nccl.communicator(self.ranks, unique_id, self.rank, blocking, _INIT_S)

    def _buffer(self, size: int) -> Any:
        self.iteration += 1
        table = self.torch.empty((1, test_pattern.element_count("all_reduce", size, self.ranks)),
                                 dtype=self.torch.int32, device=self.device)
        test_pattern.fill(self.torch, table, self.rank, self.iteration, INT32)
        self.torch.cuda.synchronize()
        return table

    def _all_reduce(self, comm: Any, table: Any) -> int:
        return self.nccl.all_reduce(comm, table.data_ptr(), table.numel(), self.stream.cuda_stream)

    def _checked(self, comm: Any, step: str, size: int) -> None:
        self.events.record("cell", config=step, op="all_reduce", size=size)
        table = self._buffer(size)
        self._all_reduce(comm, table)
        self.stream.synchronize()
        segments = test_pattern.expected("all_reduce", self.rank, self.ranks, table.numel())
        wrong = test_pattern.count_wrong(self.torch, table, segments, self.iteration, INT32)
        self.events.record("checked", config=step, op="all_reduce", size=size, wrong=wrong, checked=table.numel() * 4)

    def _abort(self, comm: Any, step: str, **more: Any) -> None:
        self.events.record("aborting", config=step)
        began = time.monotonic()
        code = self.nccl.abort(comm)
        seconds = time.monotonic() - began
        self.stream.synchronize()  # the GPU kernel must have ended, too
        self.events.record("aborted", config=step, seconds=seconds, code=self.nccl.text(code), ok=code == SUCCESS,
                        stream_s=time.monotonic() - began - seconds, **more)

    def _abort_twice(self) -> None:
        for step, connected in (("inside", True), ("connecting", False)):
            comm = self._communicator(blocking=connected)
            if connected:  # the same size: another one may use other connections
                self._checked(comm, step, self.plan["size"])
            table = self._buffer(self.plan["size"])
            self.meeting.barrier()
            entered = self.rank != self.plan["absent"]
            if entered:
                self._all_reduce(comm, table)
            time.sleep(_INSIDE_S)
            state = self.nccl.text(self.nccl.async_error(comm))
            # An empty stream proves nothing while connecting: nothing has been enqueued yet.
            waiting = not self.stream.query() if connected else None
            self.events.record("inside", config=step, entered=entered, waiting=waiting, state=state)
            self.meeting.barrier()
            self._abort(comm, step, entered=entered)
            self.meeting.barrier()
            comm = self._communicator()
            for size in (*_NEW_SIZES, self.plan["size"]):
                self._checked(comm, f"{step}-new", size)
            self.nccl.destroy(comm)
            self.meeting.barrier()

    def _lose_one(self) -> None:
        killed, step = self.plan["killed"], "killed"
        comm = self._communicator()
        self._checked(comm, step, self.plan["size"])
        table = self._buffer(self.plan["size"])
        self.meeting.barrier()
        self._all_reduce(comm, table)
        time.sleep(_INSIDE_S)
        self.events.record("inside", config=step, entered=True, waiting=not self.stream.query())
        self.meeting.barrier()
        if self.rank == killed:
            self.events.record("killing", config=step)
            os.kill(os.getpid(), signal.SIGKILL)
        began = time.monotonic()
        while (code := self.nccl.async_error(comm)) == SUCCESS and time.monotonic() < began + self.plan["bound_s"]:
            time.sleep(_POLL_S)
        self.events.record("noticed", config=step, seconds=time.monotonic() - began, error=code != SUCCESS,
                        code=self.nccl.text(code), text=self.nccl.last_error(comm)[-300:])
        self._abort(comm, step, entered=True)


if __name__ == "__main__":
    sys.exit(run_rank(lambda plan, events: AbortRank(plan, events).run()))
