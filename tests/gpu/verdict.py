"""Whether a run of the GPU test passed, and its results as text that fits a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matrix_plan import CONFIGS, MIB, RATIO_GOAL, RATIO_SIZE

MAX_LEAK = 0.01  # bytes on the management network / on the cables, for operations of at least 1 MiB
_SLOW = 1.3  # an iteration this many times slower than the average is reported


@dataclass(frozen=True)
class Ratio:
    config: str
    operation: str
    cableway: float
    socket: float

    @property
    def value(self) -> float:
        return self.cableway / self.socket


def ratios(results: list[dict[str, Any]]) -> list[Ratio]:
    """busbw of Cableway and Socket at RATIO_SIZE, where both were measured."""
    at_size = {(cell["transport"], cell["config"], cell["op"]): cell["busbw_GBps"] for cell in results
               if cell["size_bytes"] == RATIO_SIZE}
    return [Ratio(config, operation, busbw, at_size["socket", config, operation])
            for (transport, config, operation), busbw in at_size.items()
            if transport == "cableway" and ("socket", config, operation) in at_size]


def leak(results: list[dict[str, Any]], transport: str) -> float | None:
    """Management bytes / cable bytes, over the operations of at least 1 MiB."""
    large = [cell for cell in results if cell["transport"] == transport and cell["size_bytes"] >= MIB]
    cables = sum(cell["cable_bytes"] for cell in large)
    return sum(cell["management_bytes"] for cell in large) / cables if cables else None


def _wrong(results: list[dict[str, Any]], transport: str) -> str:
    cells = [cell for cell in results if cell["transport"] == transport]
    where = ", ".join(f"{cell['config']} {cell['op']} {size_text(cell['size_bytes'])}" for cell in cells if cell["wrong"])
    return (f"wrong over {transport}: {sum(cell['wrong'] for cell in cells)} elements"
            f"{f' ({where})' if where else ''}, {sum(cell['checked_bytes'] for cell in cells) / 1e9:.2f} GB checked in"
            f" {len(cells)} cells")


def judge(document: dict[str, Any]) -> tuple[bool, list[str]]:
    """Returns whether the run passed, and a line for each criterion."""
    results, failures = document["results"], document["failures"]
    broken = [failure for failure in failures if failure["kind"] != "late"]
    found = ratios(results)
    low = [ratio for ratio in found if ratio.value < RATIO_GOAL]
    # Wrong results of the reference are reported, not judged.
    lines = [_wrong(results, transport) for transport in ("cableway", "socket")]
    lines.append(f"hangs and crashes: {len(broken)}")
    wrong = sum(cell["wrong"] for cell in results if cell["transport"] == "cableway")
    judged = [ratio for ratio in found if CONFIGS[ratio.config].judged]
    missed = [ratio for ratio in low if ratio in judged]
    passed = bool(results) and wrong == 0 and not broken and not missed
    if judged:
        least = min(judged, key=lambda ratio: ratio.value)
        names = ", ".join(f"{ratio.config} {ratio.operation} {ratio.value:.3f}" for ratio in missed)
        lines.append(f"cableway/socket at {RATIO_SIZE // MIB} MiB, {len(judged)} pairs: minimum {least.value:.3f}"
                     f" ({least.config} {least.operation}), goal {RATIO_GOAL}; below it: {names or 'none'}")
    for ratio in low:
        if ratio not in judged:
            lines.append(f"not judged, below the goal: {ratio.config} {ratio.operation} {ratio.value:.3f}")
    for transport in ("cableway", "socket"):
        part = leak(results, transport)
        if part is not None:
            passed = passed and part < MAX_LEAK
            lines.append(f"{transport}: management network carried {part * 100:.3f} % of the cables' bytes"
                         f" (limit: {MAX_LEAK * 100:g} %)")
    return passed, lines


def size_text(size: int) -> str:
    for unit, name in ((MIB, "M"), (1 << 10, "K")):
        if size >= unit:
            return f"{size // unit}{name}"
    return f"{size}B"


def _matrix(cells: list[dict[str, Any]]) -> list[str]:
    """Operations down, sizes across: microseconds below 1 MiB, busbw in GB/s from there on; ! marks wrong results."""
    sizes = sorted({cell["size_bytes"] for cell in cells})
    operations = list(dict.fromkeys(cell["op"] for cell in cells))
    width = max(14, *(len(name) for name in operations))
    lines = [f"{'':<{width}}" + "".join(f"{size_text(size):>9}" for size in sizes)]
    for operation in operations:
        row = f"{operation:<{width}}"
        for size in sizes:
            cell = next((c for c in cells if c["op"] == operation and c["size_bytes"] == size), None)
            text = "-" if cell is None else f"{cell['time_us']:.0f}us" if size < MIB else f"{cell['busbw_GBps']:.3f}"
            row += f"{text + ('!' if cell and cell['wrong'] else ''):>9}"
        chosen = sorted({choice for c in cells if c["op"] == operation for choice in c["chosen"]})
        lines.append(f"{row}  {' '.join(chosen)}"[:150])
    return lines


def _slow_iterations(results: list[dict[str, Any]]) -> list[str]:
    """Where one iteration took far longer than the others, with TCP's counters."""
    lines = []
    for cell in results:
        slowest = cell.get("slowest_us", 0)  # a dry run has none
        if cell["size_bytes"] == RATIO_SIZE and slowest > _SLOW * cell["time_us"]:
            lines.append(f"slow {cell['transport']} {cell['config']} {cell['op']}: one iteration took"
                         f" {slowest / 1e3:.0f} ms, all {cell['iterations']} on average {cell['time_us'] / 1e3:.0f} ms;"
                         f" TCP: {cell['tcp'] or 'nothing'}")
    return lines


def text(document: dict[str, Any]) -> str:
    results = document["results"]
    lines = []
    for transport, config in dict.fromkeys((cell["transport"], cell["config"]) for cell in results):
        lines.append(f"-- {transport}, {config} (us below 1 MiB, busbw GB/s from there on)")
        lines += _matrix([c for c in results if (c["transport"], c["config"]) == (transport, config)])
    lines.append(f"machine: {document['machine']}")
    for transport in ("cableway", "socket"):
        lines += [f"log {transport}: {line}"[:180] for line in document["proof"].get(transport, [])]
    for ratio in ratios(results):
        mark = "" if ratio.value >= RATIO_GOAL else "  <-- below the goal"
        lines.append(f"ratio {ratio.config:<11} {ratio.operation:<14} {ratio.cableway:.4f} / {ratio.socket:.4f}"
                     f" = {ratio.value:.3f}{mark}")
    lines += _slow_iterations(results)
    for entry in document["passes"]:
        total = {name: sum(node.get(name, 0) for node in entry["sent"].values())
                 for name in sorted({name for node in entry["sent"].values() for name in node})}
        lines.append(f"pass {entry['transport']} {','.join(entry['configs'])}: {entry['outcome']},"
                     f" {entry['seconds']} s, MB sent by interface: "
                     + " ".join(f"{name}={count / 1e6:.1f}" for name, count in total.items()))
    lines += [f"NOT RUN {gap['transport']} {','.join(gap['configs'])}: {gap['detail']}"[:300]
              for gap in document["skipped"]]
    for failure in document["failures"]:
        lines.append(f"{failure['kind'].upper()} {failure['transport']} {failure['config']} {failure['op']}"
                     f" {failure['size']}: {failure['detail']}")
        lines += [error.strip()[-400:] for error in failure["errors"]]
    passed, reasons = judge(document)
    late = document["skipped"] or any(failure["kind"] == "late" for failure in document["failures"])
    end = "FAILED" if not passed else "ok as far as it went: not all was run" if late else "ok"
    return "\n".join(lines + reasons + [f"gpu: {end}"])
