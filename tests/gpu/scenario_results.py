"""Reads a scenario's work folder (see scenario_conductor.py) into a document.

    name, nodes, rate_mbps, seconds, machine, proof (NCCL's log lines about the network in use)
    jobs     {job, program, transport, order, reference, planned_cells, planned_steps, attempts [{outcome, detail, seconds,
             sent}], errors}, and from the ranks, as far as available: cells (as in results.py), checked {operations,
             bytes, wrong}, span (when its operations ran), worked (of two groups, when each ran), inside, noticed and
             aborted (with their ranks), losses and parameters (by rank), pace {of, typical_s, longest_s} (of operations
             or training steps); faults (see faults.py)
    flows    {after, most, left}: circuits through each node, the most while the stage ran, and those left after it
    skipped  {jobs, detail};  broken  why the scenario could not run at all
    status   passed, FAILED or incomplete; findings: why, and what was observed (scenario_verdict.py)
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import results
from rank_set import read_events
from scenario_plan import SCENARIOS, RankJob, planned_cells

_OF_RANKS = ("inside", "noticed", "aborted", "worked")


def gather(work: Path, name: str, rate_mbps: int, seconds: float) -> dict[str, Any]:
    scenario, notes = SCENARIOS[name], read_events(work / "notes.jsonl")
    notes += _unfinished(work, notes, [job for stage in scenario.stages for job in stage])
    jobs = [_job(work, job, notes) for stage in scenario.stages for job in stage]
    passes = [note for note in notes if note["note"] == "pass"]
    machine = next((event for note in passes for event in read_events(work / note["folder"] / "rank0.jsonl")
                    if event["event"] == "machine"), {})
    return {
        "name": name, "nodes": scenario.nodes, "rate_mbps": rate_mbps, "seconds": round(seconds, 1),
        "machine": {key: value for key, value in machine.items() if key not in ("event", "at")},
        "jobs": [job for job in jobs if job["attempts"] or not job["reference"]],
        "flows": [{key: note[key] for key in ("after", "most", "left")} for note in notes if note["note"] == "flows"],
        "skipped": [{key: note[key] for key in ("jobs", "detail")} for note in notes if note["note"] == "skipped"],
        "broken": [note["detail"] for note in notes if note["note"] == "broken"],
        "proof": results.network_proof(work, passes),
    }


def _unfinished(work: Path, notes: list[dict[str, Any]], jobs: list[RankJob]) -> list[dict[str, Any]]:
    """Notes on the attempts during which the conductor was ended."""
    known = {note.get("folder") for note in notes}
    return [{"note": "pass", "job": job.name, "transport": job.transport, "folder": folder.name, "outcome": "late",
             "detail": "the conductor was ended", "seconds": 0.0}
            for job in jobs for folder in sorted(work.glob(f"{job.name}-[0-9]")) if folder.name not in known]


def _job(work: Path, job: RankJob, notes: list[dict[str, Any]]) -> dict[str, Any]:
    own = [note for note in notes if note["note"] == "pass" and note["job"] == job.name]
    by_rank = [[event | {"transport": job.transport} for note in own
                for event in read_events(work / note["folder"] / f"rank{rank}.jsonl")]
               for rank in range(len(job.order))]
    errors = [event["text"] for events in by_rank for event in events if event["event"] == "error"]
    found = {
        "job": job.name, "program": job.program, "transport": job.transport, "order": list(job.order),
        "reference": job.reference, "planned_cells": planned_cells(job), "planned_steps": job.plan.get("steps", 0),
        "attempts": [{key: note[key] for key in ("outcome", "detail", "seconds", "sent") if key in note} for note in own],
        "errors": errors[:2],
    }
    cells = results.finished_cells(by_rank) + results.collperf_cells(work, own)
    faults = [note["fault"] for note in notes if note["note"] == "fault" and note["job"] == job.name]
    seen = {"cells": cells, "faults": faults} | _seen(by_rank)
    return found | {key: value for key, value in seen.items() if value}


def _seen(by_rank: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """The events of the programs other than nccl_matrix.py."""
    every = [event | {"rank": rank} for rank, events in enumerate(by_rank) for event in events]
    seen: dict[str, Any] = {kind: [_plain(event) for event in every if event["event"] == kind] for kind in _OF_RANKS}
    checked = [event for event in every if event["event"] == "checked"]
    if checked:
        seen["checked"] = {"operations": len(checked), "bytes": sum(event["checked"] for event in checked),
                           "wrong": sum(event["wrong"] for event in checked)}
    times = [event["at"] for event in by_rank[0] if event["event"] in ("cell", "result")]
    seen["span"] = [min(times), max(times)] if times else []
    seen["losses"] = [losses for events in by_rank
                      if (losses := [event["loss"] for event in events if event["event"] == "step"])]
    seen["parameters"] = [event["parameters"] for event in every if event["event"] == "trained"]
    seen["pace"] = _pace(checked, by_rank[0])
    return seen


def _pace(checked: list[dict[str, Any]], first_rank: list[dict[str, Any]]) -> dict[str, Any]:
    """The median and the longest time of an operation or, in a training, from a step's end to the next one's."""
    timed = [event for event in checked if "slowest_s" in event]
    if timed:
        return {"of": "operation", "typical_s": statistics.median(event["mean_s"] for event in timed),
                "longest_s": max(event["slowest_s"] for event in timed)}
    ends = [event["at"] for event in first_rank if event["event"] == "step"]
    gaps = [later - earlier for earlier, later in zip(ends, ends[1:])]
    return {"of": "step", "typical_s": statistics.median(gaps), "longest_s": max(gaps)} if gaps else {}


def _plain(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in ("event", "at", "transport")}
