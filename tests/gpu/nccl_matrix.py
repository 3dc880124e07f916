#!/usr/bin/env python3
"""One rank of the GPU test: runs the operations of a plan over NCCL through torch.distributed and checks every result.

    nccl_matrix.py PLAN.json EVENTS.jsonl

The plan (see matrix_plan.py) names configurations, each a set of NCCL_* variables and a list of cells (operation and
size). NCCL reads NCCL_ALGO and NCCL_PROTO whenever it creates a communicator, so each configuration gets its own
process group in the same process. Every iteration, timed ones included, has its own input and its own output buffer; all
outputs are poisoned before and compared on the GPU after. Ranks agree on iteration counts, and meet before each
measurement, through a TCP store on the management network, never through the transport under test.
"""

from __future__ import annotations

import datetime
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import test_pattern
from rank_meeting import Events, Meeting, machine_facts, own_device, run_rank
from traffic_counters import difference, sent_bytes, tcp_anomalies

_GROUP_TIMEOUT = datetime.timedelta(seconds=150)
_TOGETHER_LIMIT_S, _TOGETHER_POLL_S = 40.0, 0.05
_CHOICE = re.compile(r"NCCL INFO (\w+): (\d+) Bytes -> Algo (\w+) proto (\w+) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}")


class NcclChoices:
    """The algorithm and protocol of each operation, from the log of rank 0's NCCL."""

    def __init__(self, path: str | None) -> None:
        self._path, self._offset = path, 0

    def since_last_time(self) -> list[str]:
        if self._path is None or not os.path.exists(self._path):
            return []
        with open(self._path, "rb") as log:
            log.seek(self._offset)
            text = log.read()
            self._offset += len(text)
        found = _CHOICE.findall(text.decode(errors="replace"))
        return sorted({f"{algorithm}/{protocol}/{int(high) - int(low) + 1}ch"
                       for _, _, algorithm, protocol, low, high in found})


class Rank:
    def __init__(self, plan: dict[str, Any], events: Events) -> None:
        import torch
        import torch.distributed as dist
        self.torch, self.dist, self.plan, self.events = torch, dist, plan, events
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.device = own_device(torch, plan["device"], self.rank)
        events.record("imported", torch=torch.__version__)
        test_pattern.check_against_definition(torch, self.device)
        arena_elements = max(self._cell_elements(cell) for config in plan["configs"] for cell in config["cells"])
        self.inputs = torch.empty(arena_elements, dtype=torch.int32, device=self.device)
        self.outputs = torch.empty(arena_elements, dtype=torch.int32, device=self.device)
        self.meeting = Meeting(dist, self.rank, self.ranks)
        self.choices = NcclChoices(os.environ.get("NCCL_DEBUG_FILE") if self.rank == 0 else None)
        self.next_iteration = 1
        self.last_time: dict[str, tuple[int, float]] = {}
        if self.rank == 0:
            events.record("machine", **machine_facts(torch, self.device))

    def _cell_elements(self, cell: dict[str, Any]) -> int:
        return test_pattern.element_count(cell["op"], cell["size"], self.ranks) * (cell["most"] + 1)

    def synchronize(self) -> None:
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    def run(self) -> None:
        if self.rank == 0:
            self._wait_for_other_jobs()
        self.meeting.barrier()
        for config in self.plan["configs"]:
            self._run_config(config)
        self.meeting.leave()
        self.events.record("done")

    def _wait_for_other_jobs(self) -> None:
        """Waits for the jobs that have to run at the same time: each creates a file when it is ready, this job first."""
        files = [Path(name) for name in self.plan.get("together", [])]
        if files:
            files[0].touch()
        until = time.monotonic() + _TOGETHER_LIMIT_S
        while not all(file.exists() for file in files) and time.monotonic() < until:
            time.sleep(_TOGETHER_POLL_S)

    def _run_config(self, config: dict[str, Any]) -> None:
        name = config["name"]
        # All ranks take the same decision, before any of them waits for the others inside NCCL.
        if self.meeting.decide(f"start/{name}", time.monotonic() > self.plan["stop_at"]):
            self.events.record("skipped", config=name)
            return
        self.events.record("config", config=name, env=config["env"])
        for variable in self.plan["chosen_variables"]:
            os.environ.pop(variable, None)
        os.environ.update(config["env"])
        began = time.monotonic()
        # No device_id: with it PyTorch creates groups by splitting one communicator, which keeps the first one's choices.
        self.dist.init_process_group(self.plan["backend"], rank=self.rank, world_size=self.ranks,
                                     store=self.dist.PrefixStore(f"group/{name}", self.meeting.store),
                                     timeout=_GROUP_TIMEOUT)
        self.last_time = {}
        self._run_cells(config)
        self.meeting.barrier()
        self.events.record("closing", config=name)
        self.dist.destroy_process_group()
        self.meeting.barrier()  # the store ends with rank 0; until all have left, they may use it
        self.events.record("closed", config=name, seconds=time.monotonic() - began)

    def _run_cells(self, config: dict[str, Any]) -> None:
        for number, cell in enumerate(config["cells"]):
            if not self._run_cell(config, f"{config['name']}/{number}", cell):
                self.events.record("no_time", config=config["name"], op=cell["op"], size=cell["size"])

    def _tables(self, cell: dict[str, Any], row_count: int, kind: str) -> tuple[Any, Any]:
        """Views of the arenas with one row an iteration."""
        operation, dtype = cell["op"], getattr(self.torch, kind)
        elements = test_pattern.element_count(operation, cell["size"], self.ranks)

        def view(arena: Any, width: int) -> Any:
            return arena[:row_count * width].view(dtype).view(row_count, width)

        inputs = view(self.inputs, test_pattern.input_elements(operation, elements, self.ranks))
        outputs = view(self.outputs, test_pattern.output_elements(operation, elements, self.ranks))
        return inputs, outputs

    def _prepare(self, cell: dict[str, Any], row_count: int, kind: str) -> tuple[Any, Any, int]:
        inputs, outputs = self._tables(cell, row_count, kind)
        first = self.next_iteration
        self.next_iteration += row_count
        test_pattern.poison(outputs, kind)
        if cell["op"] in test_pattern.IN_PLACE:
            inputs = outputs
        if cell["op"] == "broadcast":
            if self.rank == 0:
                test_pattern.fill(self.torch, outputs, 0, first, kind)
        else:
            test_pattern.fill(self.torch, inputs, self.rank, first, kind)
        self.synchronize()
        return inputs, outputs, first

    def _mark(self) -> Any:
        """A timestamp in the stream of operations, for _between()."""
        if self.device.type != "cuda":
            return time.perf_counter()
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _between(self, earlier: Any, later: Any) -> float:
        return earlier.elapsed_time(later) / 1e3 if self.device.type == "cuda" else later - earlier

    def _timed(self, cell: dict[str, Any], rows: int, kind: str) -> dict[str, Any]:
        """Runs `rows` iterations on fresh data; returns seconds for each (the mean, and the slowest), wrong elements,
        bytes that left this node, and unexpected counts of its TCP."""
        operation = cell["op"]
        inputs, outputs, first = self._prepare(cell, rows, kind)
        pairs = [(inputs[row], outputs[row]) for row in range(rows)]
        self.meeting.barrier()
        sent_before, tcp_before = _counters()
        self.meeting.barrier()
        began = time.perf_counter()
        marks = [self._mark()]
        for given, result in pairs:
            test_pattern.collective(self.dist, operation, given, result)
            marks.append(self._mark())
        self.synchronize()
        seconds = (time.perf_counter() - began) / rows
        self.meeting.barrier()
        sent_after, tcp_after = _counters()
        elements = test_pattern.element_count(operation, cell["size"], self.ranks)
        segments = test_pattern.expected(operation, self.rank, self.ranks, elements)
        wrong = test_pattern.count_wrong(self.torch, outputs, segments, first, kind)
        return {"seconds": seconds, "slowest": max(map(self._between, marks, marks[1:])), "wrong": wrong,
                "sent": difference(sent_before, sent_after), "tcp": difference(tcp_before, tcp_after),
                "checked": rows * sum(part.length for part in segments) * test_pattern.ELEMENT_BYTES}

    def _run_cell(self, config: dict[str, Any], key: str, cell: dict[str, Any]) -> bool:
        """Returns False if no time is left."""
        operation, size, kind = cell["op"], cell["size"], config["kind"]
        known = self.last_time.get(operation)
        estimate = known[1] * size / known[0] if known and known[0] >= self.plan["proportional_from"] else None
        if self.meeting.decide(f"go/{key}", time.monotonic() + cell["least"] * (estimate or 0) > self.plan["stop_at"]):
            return False
        self.events.record("cell", config=config["name"], op=operation, size=size)
        checked = wrong = 0
        fixed = cell["least"] == cell["most"]
        if not fixed and (estimate is None or size < self.plan["no_warm_up_from"]):
            warm = self._timed(cell, 1, kind)
            if operation not in self.last_time:  # the first one set up connections
                wrong, checked = warm["wrong"], warm["checked"]
                warm = self._timed(cell, 1, kind)
            wrong, checked, estimate = wrong + warm["wrong"], checked + warm["checked"], warm["seconds"]
            self.events.record("warm", config=config["name"], op=operation, size=size, seconds=estimate)
        wanted = 0 if fixed else round(cell["budget_s"] / max(estimate, 1e-6))
        rows = self.meeting.decide(f"rows/{key}", max(cell["least"], min(cell["most"], wanted)))
        result = self._timed(cell, rows, kind)
        self.last_time[operation] = (size, result["seconds"])
        elements = test_pattern.element_count(operation, size, self.ranks)
        self.events.record("result", config=config["name"], op=operation, size=size, kind=kind,
                        bytes=elements * test_pattern.ELEMENT_BYTES, iterations=rows, seconds=result["seconds"],
                        wrong=wrong + result["wrong"], checked=checked + result["checked"], sent=result["sent"],
                        slowest=result["slowest"], tcp=result["tcp"], chosen=self.choices.since_last_time())
        return True


def _counters() -> tuple[dict[str, int], dict[str, int]]:
    dev, snmp, netstat = (Path("/proc/net", name).read_text(encoding="ascii") for name in ("dev", "snmp", "netstat"))
    return sent_bytes(dev), tcp_anomalies(snmp, netstat)


if __name__ == "__main__":
    sys.exit(run_rank(lambda plan, events: Rank(plan, events).run()))
