"""A drawing of the rate at which data arrives around a fault, the mean over all faults of a kind, as SVG."""

from __future__ import annotations

from pathlib import Path

from bench_error import BenchError
from failover_results import BEFORE_S, BIN_S, KindResult, Rates

_SPAN_S = 1.0  # after the fault, as far as there are samples
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 150, 60, 30, 24
_COLOUR = "#1f6fb4"


def rates_over_time(rates: Rates, begin_s: float, end_s: float) -> list[tuple[float, float]]:
    """MB/s by the middle of each bin, in seconds from the fault: the mean over the faults that were sampled there."""
    points = [((number + 0.5) * BIN_S, mean.value) for number, mean in sorted(rates.bins.items())]
    return [(at, rate / 1e6) for at, rate in points if rate is not None and begin_s <= at <= end_s]


def _chart(result: KindResult, top: int, most: float) -> list[str]:
    longest = max([_SPAN_S, *(time + 0.4 for time in result.times_s())])
    points = rates_over_time(result.rates, -BEFORE_S, longest)
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
