#!/usr/bin/env python3
"""Writes results of the GPU test into docs/benchmarks.md: the matrix between the markers <!-- gpu:begin --> and
<!-- gpu:end -->, the scenarios between <!-- gpu-scenarios:begin --> and <!-- gpu-scenarios:end -->, except `multipath`
and `failover`, which have blocks of their own (gpu-multipath, gpu-failover).

    tests/gpu/report.py gpu-results.json gpu-scenarios.json [more.json ...] [--into docs/benchmarks.md]

Several files are runs that together make the matrix, or the scenarios; if two have the same cell or scenario, the
later file takes precedence. A block without a file is not changed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import scenario_report
import verdict
from matrix_plan import CONFIGS, MIB, RATIO_GOAL, RATIO_SIZE
from test_pattern import OPERATIONS

BEGIN, END = "<!-- gpu:begin -->", "<!-- gpu:end -->"
_REPOSITORY = Path(__file__).resolve().parents[2]


def merge(documents: list[dict[str, Any]]) -> dict[str, Any]:
    cells = {(cell["transport"], cell["config"], cell["op"], cell["size_bytes"]): cell
             for document in documents for cell in document["results"]}
    merged = dict(documents[-1]) | {"results": list(cells.values())}
    for part in ("failures", "skipped", "passes"):
        merged[part] = [entry for document in documents for entry in document[part]]
    return merged


def _row(columns: list[str]) -> str:
    return "| " + " | ".join(columns) + " |"


def _head(columns: list[str]) -> list[str]:
    return [_row(columns), "|" + "---|" * len(columns)]


def _time(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    text = f"{cell['time_us']:.0f} us" if cell["size_bytes"] < MIB else f"{cell['busbw_GBps']:.3f}"
    return f"{text} WRONG" if cell["wrong"] else text


def _default_table(results: list[dict[str, Any]]) -> list[str]:
    """NCCL's own choices, both transports, all sizes."""
    cells = {(cell["transport"], cell["op"], cell["size_bytes"]): cell for cell in results
             if cell["config"] == "default"}
    sizes = sorted({size for _, _, size in cells})
    lines = _head(["operation", "transport", *(verdict.size_text(size) for size in sizes)])
    for operation in OPERATIONS:
        for transport, name in (("cableway", "Cableway"), ("socket", "NCCL's Socket")):
            if any(key[:2] == (transport, operation) for key in cells):
                times = [_time(cells.get((transport, operation, size))) for size in sizes]
                lines.append(_row([operation, name, *times]))
    return lines


def _ratio_table(results: list[dict[str, Any]]) -> list[str]:
    found = {(ratio.config, ratio.operation): ratio for ratio in verdict.ratios(results)}
    configs = [name for name in CONFIGS if any(config == name for config, _ in found)]
    lines = _head(["configuration", *OPERATIONS])
    for config in configs:
        values = [found.get((config, operation)) for operation in OPERATIONS]
        texts = [f"{ratio.value:.3f} ({ratio.cableway:.3f})" if ratio else "" for ratio in values]
        lines.append(_row([config, *texts]))
    return lines


def _coverage_table(results: list[dict[str, Any]]) -> list[str]:
    lines = _head(["configuration", "NCCL's variables", "cells", "bytes checked", "wrong", "what NCCL chose"])
    for name, config in CONFIGS.items():
        cells = [cell for cell in results if (cell["transport"], cell["config"]) == ("cableway", name)]
        if cells:
            chosen = sorted({"/".join(choice.split("/")[:2]) for cell in cells for choice in cell["chosen"]})
            variables = " ".join(f"`{key}={value}`" for key, value in config.settings.items()) or "none"
            lines.append(_row([name, variables, str(len(cells)),
                               f"{sum(cell['checked_bytes'] for cell in cells) / 1e9:.2f} GB",
                               str(sum(cell["wrong"] for cell in cells)), ", ".join(chosen)]))
    return lines


def markdown(document: dict[str, Any]) -> str:
    results, machine = document["results"], document["machine"]
    passed, reasons = verdict.judge(document)
    failures = [failure for failure in document["failures"] if failure["kind"] != "late"]
    lines = [
        BEGIN,
        f"NCCL {machine.get('nccl')} under PyTorch {machine.get('torch')} on {machine.get('gpus')} x"
        f" {machine.get('gpu')}, {machine.get('cpus')} CPU cores, Linux {str(machine.get('kernel')).partition('-')[0]}. Four ranks in four"
        " network namespaces, joined as a ring; each cable shaped to"
        f" {document['rate_mbps'] / 1000:g} Gbit/s in each direction; TCP {machine.get('congestion_control')}."
        " Socket: NCCL's own transport on the same cables, in the same run, over the kernels' IP forwarding. By"
        " `tests/gpu/run.sh` (tests/gpu/README.md).", "",
        f"Result: {'passed' if passed else 'FAILED'}. " + "; ".join(reasons) + ".", "",
        "With NCCL's own choices: time below 1 MiB, busbw (as nccl-tests defines it) in GB/s from 1 MiB on.", "",
        *_default_table(results), "",
        f"busbw with Cableway / with Socket at {RATIO_SIZE // MIB} MiB, goal {RATIO_GOAL} (in brackets Cableway's,"
        " GB/s):", "", *_ratio_table(results), "",
        "What was run over Cableway:", "", *_coverage_table(results),
    ]
    for failure in failures:
        lines += ["", f"{failure['kind']}: {failure['transport']}, {failure['config']}, {failure['op']}"
                      f" {failure['size']}: {failure['detail']}"]
    return "\n".join(lines + [END])


def insert(text: str, block: str, begin: str = BEGIN, end: str = END, heading: str = "## Real NCCL") -> str:
    """The page with the block in place of the old one, else at its end. Raises ValueError if only one marker exists."""
    if (begin in text) != (end in text):
        raise ValueError(f"only one of {begin} and {end} exists; restore the other one, or remove it")
    if begin not in text:
        return f"{text.rstrip()}\n\n{heading}\n\n{block}\n".lstrip()
    before, _, rest = text.partition(begin)
    return before + block + rest.partition(end)[2]


def page_with(page: str, documents: list[dict[str, Any]]) -> str:
    matrices = [document for document in documents if "scenarios" not in document]
    if matrices:
        page = insert(page, markdown(merge(matrices)))
    scenarios = scenario_report.merge([document for document in documents if "scenarios" in document])
    before = END
    for block in scenario_report.BLOCKS:
        if results := [result for result in scenarios if result["name"] in block.scenarios]:
            if block.begin not in page and before in page:
                page = page.replace(before, f"{before}\n\n{block.heading}\n\n{block.begin}\n{block.end}", 1)
            page = insert(page, scenario_report.markdown(results, block), block.begin, block.end, block.heading)
        before = block.end if block.end in page else before
    return page


def main() -> int:
    parser = argparse.ArgumentParser(prog="report.py", description="GPU results into the benchmarks page.")
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS.json")
    parser.add_argument("--into", type=Path, default=_REPOSITORY / "docs" / "benchmarks.md")
    arguments = parser.parse_args()
    try:
        documents = [json.loads(path.read_text(encoding="utf-8")) for path in arguments.results]
        page = arguments.into.read_text(encoding="utf-8") if arguments.into.exists() else "# Benchmarks\n"
        arguments.into.write_text(page_with(page, documents), encoding="utf-8")
    except (OSError, ValueError, KeyError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
