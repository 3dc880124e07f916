"""The demo's table: one row per operation and size."""

from __future__ import annotations

import textwrap
from typing import Any

_LONGEST_LINE = 118
_MIB = 1 << 20
_CELL = 7
_COLUMNS = f"{'operation':<17} {'size':>9} {'time (ms)':>10} {'busbw (GB/s)':>13} {'#wrong':>7} "


def _size_text(size: int) -> str:
    if size < _MIB:
        return f"{size / 1024:.4g} KiB"
    return f"{size / _MIB:.4g} MiB"


def _mib_text(count: int) -> str:
    return f"{count / _MIB:.2f}" if count else "0"


class DemoTable:
    """Shows how much each node relayed: in a column per node if the line has room for all, else as the sum and the most by
    one node, with each node's total at the end."""

    def __init__(self, nodes: list[str]) -> None:
        self._nodes = nodes
        self._totals = [0] * len(nodes)
        self._headings = nodes
        if len(_COLUMNS) + 3 + sum(2 + len(cell) for cell in self._cells(nodes)) > _LONGEST_LINE:
            self._headings = ["all", "busiest"]

    def _cells(self, headings: list[str]) -> list[str]:
        return [f"{heading:>{_CELL}}" for heading in headings]

    def header(self) -> str:
        cells = "  ".join(self._cells(self._headings))
        return f"{'':<{len(_COLUMNS)}} | MiB relayed by\n{_COLUMNS} | {cells}"

    def row(self, title: str, result: dict[str, Any], relayed: list[int]) -> str:
        """`result` is collperf's; `relayed` holds the bytes that each node relayed meanwhile."""
        self._totals = [total + count for total, count in zip(self._totals, relayed)]
        shown = relayed if self._headings is self._nodes else [sum(relayed), max(relayed)]
        cells = "  ".join(f"{_mib_text(count):>{max(_CELL, len(heading))}}" for count, heading in zip(shown, self._headings))
        return (f"{title:<17} {_size_text(result['size_bytes']):>9} {result['time_us'] / 1000:>10.2f}"
                f" {result['busbw_GBps']:>13.3f} {result['wrong']:>7}  | {cells}")

    def footer(self) -> str:
        """What the columns mean, and the nodes' totals where the rows do not show each."""
        notes = ["time is of one operation, relayed of the whole run: warm-up, timed and checked operations."]
        if self._headings is not self._nodes:
            totals = ", ".join(f"{node} {_mib_text(total)}" for node, total in zip(self._nodes, self._totals))
            notes.append(f"MiB relayed in all operations by {totals}.")
        return "\n".join(line for note in notes for line in textwrap.wrap(note, _LONGEST_LINE))
