"""Repeated measurements of one quantity: their median and range."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def range_text(self, form: str) -> str:
        return f"{min(self.values):{form}}..{max(self.values):{form}}"
