"""Reads a work folder (see conductor.py) into one document of results.

    format 1, mode, rate_mbps, ranks, machine {gpu, gpus, cpus, kernel, torch, nccl, ..}
    results   by transport, config, op and size_bytes: bytes, kind, iterations, time_us (slowest rank), algbw_GBps,
              busbw_GBps (nccl-tests' definitions, 1e9 bytes), wrong and checked_bytes (all ranks), cable_bytes and
              management_bytes (sent by all nodes while the timed iterations ran, headers included), chosen (what NCCL
              logged that it used), slowest_us (one iteration, on the rank that took longest), tcp (counters of all nodes that
              stay 0 on lossless cables)
    failures  {transport, config, op, size, kind, detail}: hangs, crashes, and what ran out of time (late)
    skipped   {transport, configs, detail}
    passes    {transport, configs, outcome, seconds, sent by node and interface}
    proof     by transport: NCCL's log lines about the network in use
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import test_pattern
from rank_set import read_events
from traffic_counters import split

_PROOF = re.compile(r"(NET/Plugin.*|Successfully loaded external network plugin.*|Initialized NET plugin.*"
                    r"|Assigned NET plugin.*|Using network.*|NET/Socket : Using.*|NET/Cableway.*|Bootstrap.*: Using.*)")
_VIA = re.compile(r"\[(send|receive)\] via (NET/\S+)")
_MAX_PROOF_LINES = 14


def _events(work: Path, notes: list[dict[str, Any]], rank: int) -> list[dict[str, Any]]:
    """A rank's events of all passes, each with its transport."""
    return [event | {"transport": note["transport"]} for note in notes if note["note"] == "pass"
            for event in read_events(work / note["folder"] / f"rank{rank}.jsonl")]


def finished_cells(by_rank: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Cells that every rank has finished."""
    finished: dict[tuple[str, str, str, int], list[dict[str, Any]]] = {}
    for events in by_rank:
        for event in events:
            if event["event"] == "result":
                key = (event["transport"], event["config"], event["op"], event["size"])
                finished.setdefault(key, []).append(event)
    return [_cell(key, parts) for key, parts in finished.items() if len(parts) == len(by_rank)]


def _cell(key: tuple[str, str, str, int], parts: list[dict[str, Any]]) -> dict[str, Any]:
    transport, config, operation, size = key
    seconds = max(part["seconds"] for part in parts)
    algbw = parts[0]["bytes"] / seconds / 1e9
    sent = [split(part["sent"]) for part in parts]
    return {
        "transport": transport, "config": config, "op": operation, "size_bytes": size, "bytes": parts[0]["bytes"],
        "kind": parts[0]["kind"], "iterations": parts[0]["iterations"], "time_us": seconds * 1e6, "algbw_GBps": algbw,
        "busbw_GBps": algbw * test_pattern.bus_factor(operation, len(parts)),
        "wrong": sum(part["wrong"] for part in parts), "checked_bytes": sum(part["checked"] for part in parts),
        "cable_bytes": sum(cable for cable, _ in sent), "management_bytes": sum(other for _, other in sent),
        "chosen": next((part["chosen"] for part in parts if part["chosen"]), []),
        "slowest_us": max(part["slowest"] for part in parts) * 1e6,
        "tcp": {name: total for name in parts[0]["tcp"] if (total := sum(part["tcp"].get(name, 0) for part in parts))},
    }


def collperf_cells(work: Path, notes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results of a dry run, in the same form."""
    cells = []
    for note in notes:
        path = work / note.get("folder", "") / "collperf.json"
        if note["note"] != "pass" or not path.exists():
            continue
        for result in json.loads(path.read_text(encoding="utf-8"))["results"]:
            name = f"{result['op']} {result['variant']}".strip()
            cells.append({
                "transport": note["transport"], "config": "collperf", "op": name, "size_bytes": result["size_bytes"],
                "bytes": result["size_bytes"], "kind": "bytes", "iterations": result["iterations"],
                "time_us": result["time_us"], "algbw_GBps": result["algbw_GBps"], "busbw_GBps": result["busbw_GBps"],
                "wrong": result["wrong"], "checked_bytes": result["bytes_verified"], "cable_bytes": 0,
                "management_bytes": 0, "chosen": []})
    return cells


def _failures(work: Path, notes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    failures = []
    for note in notes:
        if note["note"] != "pass" or note["outcome"] == "ok":
            continue
        events = read_events(work / note["folder"] / "rank0.jsonl")
        last = next((event for event in reversed(events) if event["event"] in ("cell", "config", "closing")), {})
        errors = [event["text"] for rank in range(4)
                  for event in read_events(work / note["folder"] / f"rank{rank}.jsonl") if event["event"] == "error"]
        failures.append({"transport": note["transport"], "config": last.get("config", note["configs"][0]),
                         "op": last.get("op", last.get("event", "start")), "size": last.get("size"),
                         "kind": note["outcome"], "detail": note["detail"], "errors": errors[:2]})
    return failures


def _skipped(notes: list[dict[str, Any]], events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    skipped = [{key: note[key] for key in ("transport", "configs", "detail")}
               for note in notes if note["note"] == "skipped"]
    missing: dict[tuple[str, str], list[str]] = {}
    for event in events:
        if event["event"] in ("skipped", "no_time"):
            place = f"{event['op']} {event['size']}" if "op" in event else "all of it"
            missing.setdefault((event["transport"], event["config"]), []).append(place)
    for (transport, config), places in missing.items():
        skipped.append({"transport": transport, "configs": [config],
                        "detail": f"no time was left for {', '.join(places)}"})
    return skipped


def network_proof(work: Path, notes: list[dict[str, Any]]) -> dict[str, list[str]]:
    proof: dict[str, dict[str, int]] = {}
    for note in notes:
        if note["note"] != "pass":
            continue
        counts = proof.setdefault(note["transport"], {})
        for log in sorted((work / note["folder"]).glob("nccl*.log")):
            text = log.read_text(encoding="utf-8", errors="replace")
            lines = [line.strip() for line in _PROOF.findall(text)]
            lines += [f"connections {way} via {device}" for way, device in _VIA.findall(text)]
            for line in lines:
                counts[line] = counts.get(line, 0) + 1
    return {transport: [f"{count} x {line}" for line, count in
                        sorted(counts.items(), key=lambda item: -item[1])[:_MAX_PROOF_LINES]]
            for transport, counts in proof.items()}


def gather(work: Path, mode: str, rate_mbps: int) -> dict[str, Any]:
    notes = read_events(work / "notes.jsonl")
    known = {note.get("folder") for note in notes}
    for folder in sorted(work.glob("pass*")):  # a pass during which the conductor was ended
        if folder.name not in known:
            plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
            notes.append({"note": "pass", "transport": plan["transport"], "folder": folder.name, "outcome": "late",
                          "configs": [config["name"] for config in plan["configs"]], "seconds": 0, "sent": {},
                          "detail": "the conductor was ended"})
    by_rank = [_events(work, notes, rank) for rank in range(4)]
    machine = next((event for event in by_rank[0] if event["event"] == "machine"), {})
    return {
        "format": 1, "mode": mode, "rate_mbps": rate_mbps, "ranks": 4,
        "machine": {key: value for key, value in machine.items() if key not in ("event", "at", "transport")},
        "results": finished_cells(by_rank) + collperf_cells(work, notes), "failures": _failures(work, notes),
        "skipped": _skipped(notes, by_rank[0]),
        "passes": [{key: note[key] for key in ("transport", "configs", "outcome", "seconds", "sent")}
                   for note in notes if note["note"] == "pass"],
        "proof": network_proof(work, notes),
    }
