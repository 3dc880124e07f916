#!/usr/bin/env python3
"""One rank that repeats the cells of its plan, every result checked, until the conductor creates the plan's stop file.

    checked_rounds.py PLAN.json EVENTS.jsonl      (plan: as nccl_matrix.py's, with stop_file)

The time of the slowest operation shows the longest pause that faults caused meanwhile.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from nccl_matrix import Rank
from rank_meeting import run_rank


class Rounds(Rank):
    def _run_cells(self, config: dict[str, Any]) -> None:
        for cell in config["cells"]:  # the first operation of each sets up connections, so its time says nothing
            self._run_checked(config, cell, is_timed=False)
        number = 0
        while not self.meeting.decide(f"end/{config['name']}/{number}", self._must_end()):
            for cell in config["cells"]:
                self._run_checked(config, cell, is_timed=True)
            number += 1

    def _must_end(self) -> bool:
        return Path(self.plan["stop_file"]).exists() or time.monotonic() > self.plan["stop_at"]

    def _run_checked(self, config: dict[str, Any], cell: dict[str, Any], is_timed: bool) -> None:
        place = {"config": config["name"], "op": cell["op"], "size": cell["size"]}
        if is_timed:
            self.events.record("cell", **place)
        result = self._timed(cell, cell["least"], config["kind"])
        times = {"mean_s": result["seconds"], "slowest_s": result["slowest"]} if is_timed else {}
        self.events.record("checked", **place, wrong=result["wrong"], checked=result["checked"], **times)


if __name__ == "__main__":
    sys.exit(run_rank(lambda plan, events: Rounds(plan, events).run()))
