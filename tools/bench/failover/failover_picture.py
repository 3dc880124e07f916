"""A drawing of the rate at which data arrives around a fault, the mean over all faults of a kind, as SVG."""

from __future__ import annotations

from pathlib import Path

from bench_error import BenchError
from failover_measurements import BEFORE_S, Failover, KindResult

_BIN_S = 0.02
_SPAN_S = 1.0  # after the fault, where that many were sampled
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 150, 60, 30, 24
_COLOUR = "#1f6fb4"


def binned_rates(failovers: list[Failover], begin_s: float, end_s: float) -> list[tuple[float, float]]:
    """By the middle of each bin, in seconds from the fault: MB/s, the mean over the faults that were sampled there."""
    bins: list[tuple[float, float]] = []
    for number in range(round((end_s - begin_s) / _BIN_S)):
        left = begin_s + number * _BIN_S
        rates = [rate for failover in failovers if (rate := _rate(failover, left, left + _BIN_S)) is not None]
        if rates:
            bins.append((left + _BIN_S / 2, sum(rates) / len(rates) / 1e6))
    return bins


def _rate(failover: Failover, left: float, right: float) -> float | None:
    """Between the samples next to the bin's edges; None where there are none on both sides."""
    before = next((sample for sample in reversed(failover.arrived) if sample[0] <= left), None)
    after = next((sample for sample in failover.arrived if sample[0] >= right), None)
    if before is None or after is None or after[0] <= before[0]:
        return None
    return (after[1] - before[1]) / (after[0] - before[0])


def _chart(result: KindResult, top: int, most: float) -> list[str]:
    longest = max([_SPAN_S, *(time + 0.4 for time in result.times_s())])
    points = binned_rates([each for each in result.failovers if each.took_s is not None], -BEFORE_S, longest)
    plot_width, plot_height = _WIDTH - _LEFT - 10, _HEIGHT - _BOTTOM - _TOP

    def x(at: float) -> float:
        return _LEFT + (at + BEFORE_S) / (longest + BEFORE_S) * plot_width

    def y(rate: float) -> float:
        return top + _TOP + plot_height * (1 - rate / most)

    path = " ".join(f"{x(at):.1f},{y(rate):.1f}" for at, rate in points)
    bottom = top + _TOP + plot_height
    return [
        f'<text x="{_LEFT}" y="{top + 14}" font-weight="bold">{result.kind.name}</text>',
        f'<line x1="{_LEFT}" y1="{bottom}" x2="{_WIDTH - 10}" y2="{bottom}" stroke="#888"/>',
        f'<line x1="{x(0):.1f}" y1="{top + _TOP}" x2="{x(0):.1f}" y2="{bottom}" stroke="#c33" stroke-dasharray="3 3"/>',
        f'<text x="{_LEFT - 6}" y="{y(most) + 8:.1f}" text-anchor="end">{most:.0f}</text>',
        f'<text x="{_LEFT - 6}" y="{bottom:.1f}" text-anchor="end">0</text>',
        f'<text x="{x(0):.1f}" y="{bottom + 14}" text-anchor="middle">fault</text>',
        f'<text x="{_WIDTH - 10}" y="{bottom + 14}" text-anchor="end">{longest:.1f} s</text>',
        f'<polyline points="{path}" fill="none" stroke="{_COLOUR}" stroke-width="1.5"/>',
    ]


def drawing(results: list[KindResult]) -> str:
    most = 70.0  # MB/s, a little above a cable of 500 Mbit/s
    parts = [line for number, result in enumerate(results) for line in _chart(result, 20 + number * _HEIGHT, most)]
    height = 20 + len(results) * _HEIGHT
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" font-family="sans-serif"'
        ' font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        '<text x="10" y="14">MB/s that arrive, mean over all faults</text>', *parts, "</svg>", ""])


def write_picture(path: Path, results: list[KindResult]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawing(results), encoding="utf-8")
    except OSError as error:
        raise BenchError(f"cannot write '{path}': {error.strerror}") from None
