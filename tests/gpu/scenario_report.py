"""The scenarios' part of the benchmarks page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scenario_verdict
from matrix_plan import RATIO_SIZE
from scenario_plan import ORDER_SIZE, SCENARIOS

BEGIN, END = "<!-- gpu-scenarios:begin -->", "<!-- gpu-scenarios:end -->"
HEADING = "### Other rings, orders and ends"


@dataclass(frozen=True)
class Block:
    """A part of the page, between markers, with the results of some scenarios."""

    begin: str
    end: str
    heading: str
    scenarios: frozenset[str]


# Those that are run by themselves do not replace the others' results.
_ALONE = (Block("<!-- gpu-multipath:begin -->", "<!-- gpu-multipath:end -->", "### All paths of a flow",
                frozenset({"multipath"})),
          Block("<!-- gpu-failover:begin -->", "<!-- gpu-failover:end -->", "### Cables and relays that fail",
                frozenset({"failover"})),
          Block("<!-- gpu-tuner:begin -->", "<!-- gpu-tuner:end -->", "### The tuner's choices in NCCL", frozenset({"tuner"})))
BLOCKS = (Block(BEGIN, END, HEADING, frozenset(SCENARIOS).difference(*(block.scenarios for block in _ALONE))), *_ALONE)
_MEANING = {
    "ring6": "6 ranks; ring and tree with each protocol, and PAT",
    "ring8": "8 ranks; ring and tree with each protocol, and PAT",
    "abort": "ncclCommAbort in mid-operation and while connecting; a rank killed; new communicators and jobs after",
    "two": "two communicators of the same ranks at once; two jobs on the same nodes at once",
    "against": "4 ranks against cable order, beside cable order",
    "against8": "8 ranks against cable order, beside cable order",
    "twins": "4 ranks on split ports: around the ring, all_to_all and opposite pairs",
    "failover": "relays killed and cables cut under load; training to the same bits as undisturbed",
    "multipath": "4 ranks in cable order: one path a flow, all paths, and NCCL's Socket",
    "tuner": "4 ranks in cable order, with the preset: all_reduce forced, as the tuner chooses, and without it",
    "ddp": "a small GPT by PyTorch's DDP, beside the same run over NCCL's Socket",
}


def merge(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The scenarios of all documents, a later one's in place of an earlier one's, in the plan's order. Raises
    ValueError for the document of a dry run."""
    for document in documents:
        if document["mode"] != "cuda":
            raise ValueError(f"scenarios of mode '{document['mode']}', without NCCL, are not results")
    latest = {result["name"]: result for document in documents for result in document["scenarios"]}
    return [latest[name] for name in SCENARIOS if name in latest]


def _order(order: list[int]) -> str:
    return " ".join(map(str, order))


def _checked(result: dict[str, Any]) -> tuple[int, int]:
    """The bytes checked and the wrong elements over Cableway."""
    ours = [job for job in result["jobs"] if job["transport"] == "cableway" and not job["reference"]]
    cells = [cell for job in ours for cell in job.get("cells", [])]
    others = [job["checked"] for job in ours if "checked" in job]
    return (sum(cell["checked_bytes"] for cell in cells) + sum(part["bytes"] for part in others),
            sum(cell["wrong"] for cell in cells) + sum(part["wrong"] for part in others))


def _overview(results: list[dict[str, Any]]) -> list[str]:
    lines = ["| scenario | what | cables | result | bytes checked | wrong | seconds |", "|---|---|---|---|---|---|---|"]
    for result in results:
        size, wrong = _checked(result)
        lines.append(f"| {result['name']} | {_MEANING[result['name']]} | ring of {result['nodes']},"
                     f" {result['rate_mbps'] / 1000:g} Gbit/s | {result['status']} |"
                     f" {f'{size / 1e9:.2f} GB' if size else ''} | {wrong if size else ''} | {result['seconds']:.0f} |")
    return lines


def _ratios(results: list[dict[str, Any]]) -> list[str]:
    lines = []
    for result in results:
        ratios = scenario_verdict.order_ratios(result)
        if ratios:
            order = next(job["order"] for job in result["jobs"] if job["job"] == "against")
            lines += ["", f"{result['name']}: ranks in nodes {_order(order)}; busbw over that in cable order, at"
                          f" {ORDER_SIZE >> 20} MiB, in the same run:", "",
                      "| " + " | ".join(ratios) + " |", "|" + "---|" * len(ratios),
                      "| " + " | ".join(f"{ratio:.3f}" for ratio in ratios.values()) + " |"]
    return lines


def _multipath(results: list[dict[str, Any]]) -> list[str]:
    lines = []
    for result in results:
        if rows := scenario_verdict.multipath_rows(result):
            lines += ["", f"{result['name']}: busbw in GB/s at {RATIO_SIZE >> 20} MiB, in the same run; `off` and `all` are"
                          " Cableway's with that `CABLEWAY_MULTIPATH`:", "",
                      "| operation | Socket | off | all | all/Socket | all/off |", "|---|---|---|---|---|---|"]
        for row in rows:
            goal = f" (goal {row.goal:g})" if row.goal and row.over_socket() is not None else ""
            values = [_number(value) for value in (row.socket, row.off, row.all_paths)]
            lines.append(f"| {row.name} | {' | '.join(values)} | {_number(row.over_socket())}{goal} |"
                         f" {_number(row.over_off())} |")
    return lines


def _tuner(results: list[dict[str, Any]]) -> list[str]:
    lines = []
    for result in results:
        choices = scenario_verdict.tuner_choices(result)
        if not choices:
            continue
        configs = list(choices[0].forced)
        lines += ["", f"{result['name']}: time of an all_reduce in us, in the same run; goal of tuner / best:"
                      f" {scenario_verdict.TUNER_GOAL:g}", "",
                  f"| bytes | {' | '.join(configs)} | without the tuner | with it | used | tuner / best |",
                  "|" + "---|" * (len(configs) + 5)]
        for each in choices:
            times = [*(each.forced.get(config) for config in configs), each.untuned, each.tuned]
            shown = " | ".join("" if time is None else f"{time:.0f}" for time in times)
            lines.append(f"| {each.size} | {shown} | {each.used} | {each.over_best:.3f} |")
    return lines


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _findings(results: list[dict[str, Any]]) -> list[str]:
    """The findings that the tables above do not show."""
    lines = []
    for result in results:
        kept = [line.replace("|", "\\|") for line in result["findings"] if not line.startswith(("busbw ", "tuner "))]
        lines += ["", f"{result['name']}:", "", *(f"- {line}" for line in kept)] if kept else []
    return lines


def _machine(results: list[dict[str, Any]]) -> str:
    machine = next((result["machine"] for result in results if result["machine"]), {})
    return (f"NCCL {machine.get('nccl')} under PyTorch {machine.get('torch')} on {machine.get('gpus')} x"
            f" {machine.get('gpu')}, {machine.get('cpus')} CPU cores,"
            f" Linux {str(machine.get('kernel')).partition('-')[0]}. One rank in each network namespace of a ring, the"
            " nodes discovered their cables. By `tests/gpu/run.sh --scenario"
            f" {','.join(result['name'] for result in results)}` (tests/gpu/README.md).")


def markdown(results: list[dict[str, Any]], block: Block = BLOCKS[0]) -> str:
    return "\n".join([block.begin, _machine(results), "", *_overview(results), *_ratios(results), *_multipath(results),
                      *_tuner(results), *_findings(results), block.end])
