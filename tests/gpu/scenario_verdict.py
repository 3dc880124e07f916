"""Whether a scenario passed, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from matrix_plan import RATIO_SIZE
from scenario_plan import ABORT_BOUND_S, ORDER_SIZE, SCENARIOS, FaultPlan, forced_choice, job_named

PASSED, FAILED, INCOMPLETE = "passed", "FAILED", "incomplete"
# On a ring of four each cable carries the same amount in either order. A relay that favours its own host's data over
# what it forwards shows here.
MIN_ORDER_RATIO = 0.85
# Of the bytes that the two functions of a split port send, the lesser share over the greater.
MIN_BALANCE = 0.9
MIN_MULTIPATH_RATIO = 0.95  # busbw of CABLEWAY_MULTIPATH=all / off; a bound below 1 because of noise
# busbw of CABLEWAY_MULTIPATH=all / Socket, by configuration and operation. Shown, not judged.
MULTIPATH_GOALS = {("default", "all_reduce"): 1.25, ("default", "all_to_all"): 1.4, ("default", "opposite_pair"): 1.9,
                   ("pat", "all_gather"): 1.0, ("pat", "reduce_scatter"): 1.0}
_MULTIPATH_NAMES = {"opposite_pair": "one opposite pair", "opposite": "every rank to the opposite one",
                    "neighbour": "every rank to the next"}
TUNER_GOAL = 1.05  # the time as the tuner chooses over that of the best algorithm and protocol. Shown, not judged
MIN_OVERLAP = 0.5  # of the shorter one's time: below it the two did not run at the same time


@dataclass
class Findings:
    failures: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)  # what should have been observed and was not
    facts: list[str] = field(default_factory=list)

    def status(self) -> str:
        return FAILED if self.failures else INCOMPLETE if self.gaps else PASSED

    def lines(self) -> list[str]:
        return [*(f"{FAILED}: {line}" for line in self.failures), *(f"{INCOMPLETE}: {line}" for line in self.gaps),
                *self.facts]


@dataclass(frozen=True)
class Multipath:
    """An operation's busbw in GB/s with CABLEWAY_MULTIPATH=off, with all, and over Socket; None: not measured."""

    name: str
    off: float | None
    all_paths: float | None
    socket: float | None
    goal: float | None  # of all / Socket

    def over_off(self) -> float | None:
        return self.all_paths / self.off if self.all_paths and self.off else None

    def over_socket(self) -> float | None:
        return self.all_paths / self.socket if self.all_paths and self.socket else None


@dataclass(frozen=True)
class TunerChoice:
    """An all_reduce of one size: times in us by configuration; what NCCL used with the tuner."""

    size: int
    forced: dict[str, float]
    tuned: float
    untuned: float | None
    used: str

    @property
    def best(self) -> str:
        return min(self.forced, key=lambda name: self.forced[name])

    @property
    def over_best(self) -> float:
        return self.tuned / self.forced[self.best]


def judge(result: dict[str, Any]) -> Findings:
    found = Findings()
    found.failures += result["broken"]
    references = {job.name for stage in SCENARIOS[result["name"]].stages for job in stage if job.reference}
    for gap in result["skipped"]:
        line = f"{', '.join(gap['jobs'])}: {gap['detail']}"
        (found.facts if set(gap["jobs"]) <= references else found.gaps).append(line)
    for job in result["jobs"]:
        own = Findings()
        _judge_attempts(job, own)
        if job["attempts"]:
            {"nccl_matrix.py": _judge_matrix, "two_groups.py": _judge_groups, "nccl_abort.py": _judge_abort,
             "ddp_gpt.py": _judge_training, "checked_rounds.py": _judge_checked}[job["program"]](job, own)
            if (faults := job_named(result["name"], job["job"]).faults) is not None:
                _judge_faults(job, faults, own)
            if SCENARIOS[result["name"]].split_ports:
                _judge_balance(job, own)
            if job_named(result["name"], job["job"]).preset:
                _judge_preset(job, own)
        measured_only = result["name"] == "multipath" and job["transport"] == "socket"  # as in the matrix
        if job["reference"] or measured_only:
            found.facts += [f"over Socket, not judged: {line}" for line in own.failures + own.gaps + own.facts]
        else:
            found.failures += own.failures
            found.gaps += own.gaps
            found.facts += own.facts
    _judge_flows(result, found)
    _compare(result, found)
    if not any(job["attempts"] for job in result["jobs"]):
        found.gaps.append("nothing ran")
    return found


def _judge_attempts(job: dict[str, Any], found: Findings) -> None:
    for attempt in job["attempts"]:
        if attempt["outcome"] in ("hang", "crash"):
            errors = "".join(f"; {error.strip().splitlines()[-1]}" for error in job["errors"] if error.strip())
            found.failures.append(f"{job['job']}: {attempt['outcome']}: {attempt['detail']}{errors}")
        elif attempt["outcome"] == "late":
            found.gaps.append(f"{job['job']}: {attempt['detail']}")


def _judge_matrix(job: dict[str, Any], found: Findings) -> None:
    cells = job.get("cells", [])
    wrong = [cell for cell in cells if cell["wrong"]]
    for cell in wrong:
        found.failures.append(f"{job['job']}: {cell['config']} {cell['op']} of {cell['size_bytes']} bytes:"
                              f" {cell['wrong']} wrong elements")
    for cell in cells:
        asked = forced_choice(cell["config"])
        others = [choice for choice in cell["chosen"] if asked and not choice.startswith(asked)]
        if others and cell["transport"] == "cableway":
            found.failures.append(f"{job['job']}: {cell['config']} {cell['op']}: NCCL used {', '.join(others)}")
    if not cells:
        found.failures.append(f"{job['job']}: not one operation was finished")
    elif len(cells) < job["planned_cells"] and not _is_dry(job):
        found.gaps.append(f"{job['job']}: {len(cells)} of {job['planned_cells']} operations and sizes were run")
    found.facts.append(f"{job['job']}: {len(cells)} operations and sizes,"
                       f" {sum(cell['checked_bytes'] for cell in cells) / 1e9:.2f} GB checked,"
                       f" {sum(cell['wrong'] for cell in wrong)} wrong elements")
    used = sorted({choice.rpartition("/")[0] for cell in cells if forced_choice(cell["config"])
                   for choice in cell["chosen"]})
    if used:
        found.facts.append(f"{job['job']}: forced, and used by NCCL: {', '.join(used)}")


def _judge_checked(job: dict[str, Any], found: Findings) -> None:
    if _is_dry(job):
        _judge_matrix(job, found)
        return
    checked = job.get("checked", {"operations": 0, "bytes": 0, "wrong": 0})
    line = (f"{job['job']}: {checked['operations']} checks, {checked['bytes'] / 1e9:.2f} GB,"
            f" {checked['wrong']} wrong elements")
    (found.failures if checked["wrong"] or not checked["operations"] else found.facts).append(line)


def _overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The share of the shorter time in which both ran."""
    both = min(first[1], second[1]) - max(first[0], second[0])
    return max(0.0, both) / max(1e-9, min(first[1] - first[0], second[1] - second[0]))


def _judge_overlap(what: str, value: float, found: Findings) -> None:
    line = f"{what}: both at work for {value * 100:.0f} % of the shorter one's time"
    (found.facts if value >= MIN_OVERLAP else found.gaps).append(line)


def _judge_groups(job: dict[str, Any], found: Findings) -> None:
    _judge_checked(job, found)
    by_rank: dict[int, list[tuple[float, float]]] = {}
    for entry in job.get("worked", []):
        by_rank.setdefault(entry["rank"], []).append((entry["began"], entry["ended"]))
    overlaps = [_overlap(*spans) for spans in by_rank.values() if len(spans) == 2]
    _judge_overlap(job["job"], min(overlaps, default=0.0), found)


def _judge_abort(job: dict[str, Any], found: Findings) -> None:
    _judge_checked(job, found)
    name, aborted = job["job"], job.get("aborted", [])
    kill = name.startswith("kill")
    expected = len(job["order"]) - 1 if kill else 2 * len(job["order"])
    if len(aborted) != expected:
        found.failures.append(f"{name}: {len(aborted)} of {expected} ncclCommAbort returned")
    for entry in aborted:
        seconds = entry["seconds"] + entry["stream_s"]
        if not entry["ok"] or seconds > ABORT_BOUND_S:
            found.failures.append(f"{name}: {entry['config']}: ncclCommAbort of rank {entry['rank']} took {seconds:.1f}"
                                  f" s (limit: {ABORT_BOUND_S:g} s) and returned {entry['code']}")
    idle = [entry for entry in job.get("inside", []) if entry["entered"] and entry["waiting"] is False]
    found.gaps += [f"{name}: {entry['config']}: rank {entry['rank']} had already finished" for entry in idle]
    for step in dict.fromkeys(entry["config"] for entry in aborted):
        slowest = max(entry["seconds"] + entry["stream_s"] for entry in aborted if entry["config"] == step)
        found.facts.append(f"{name}: {step}: slowest ncclCommAbort {slowest:.2f} s (limit: {ABORT_BOUND_S:g} s)")
    if kill:
        _judge_notice(job, found)


def _judge_notice(job: dict[str, Any], found: Findings) -> None:
    noticed = [entry for entry in job.get("noticed", []) if entry["error"]]
    if not noticed:
        found.failures.append(f"{job['job']}: no rank was notified of the dead one within {ABORT_BOUND_S:g} s")
    found.facts += [f"{job['job']}: rank {entry['rank']} was notified after {entry['seconds']:.2f} s: {entry['code']}"
                    for entry in noticed]


def _is_dry(job: dict[str, Any]) -> bool:
    return any(cell["config"] == "collperf" for cell in job.get("cells", []))


def _judge_training(job: dict[str, Any], found: Findings) -> None:
    if _is_dry(job):
        _judge_matrix(job, found)
        return
    losses, name = job.get("losses", []), job["job"]
    steps = min(map(len, losses), default=0) if len(losses) == len(job["order"]) else 0
    if steps < job["planned_steps"]:
        found.gaps.append(f"{name}: {steps} of {job['planned_steps']} steps")
    if len(set(job.get("parameters", []))) > 1:
        found.failures.append(f"{name}: the ranks' parameters differ at the end")
    if steps > 1:
        first, last = (sum(float.fromhex(own[at]) for own in losses) / len(losses) for at in (0, steps - 1))
        line = f"{name}: {steps} steps, loss {first:.4f} to {last:.4f}"
        (found.facts if last < first else found.failures).append(line)


def _judge_faults(job: dict[str, Any], plan: FaultPlan, found: Findings) -> None:
    """Only faults of relays and cables in use count."""
    name, effective = job["job"], [fault for fault in job.get("faults", []) if fault["in_use"]]
    killed, cut = (sum(fault["kind"] == kind for fault in effective) for kind in ("kill", "cut"))
    if killed < plan.kills:
        found.gaps.append(f"{name}: {killed} of {plan.kills} relays were killed while they relayed")
    if plan.cuts and not cut:
        found.gaps.append(f"{name}: no cable was cut while it carried data")
    line = f"{name}: {killed} relays killed while they relayed" + (f", {cut} cables cut under load" if plan.cuts else "")
    if "pace" in job:
        pace = job["pace"]
        line += f"; longest {pace['of']} {pace['longest_s']:.2f} s, typically {pace['typical_s'] * 1e3:.0f} ms"
    found.facts.append(line)


def _judge_flows(result: dict[str, Any], found: Findings) -> None:
    for entry in result["flows"]:
        for node, count in entry["left"].items():
            state = "does not answer" if count < 0 else f"still has {count} circuits"
            found.failures.append(f"{node} {state} after {entry['after']}")
        if entry["most"] is not None:
            most = max(entry["most"].values())
            line = f"after {entry['after']}: at most {most} circuits through a node while it ran, none after"
            if not entry["left"]:
                (found.facts if most > 0 else found.gaps).append(line)


def _judge_balance(job: dict[str, Any], found: Findings) -> None:
    """Split ports: whether both functions of every port have sent equally much."""
    balance = split_balance(job)
    if not balance:
        found.failures.append(f"{job['job']}: nothing was sent through split ports")
        return
    least = min(balance, key=lambda place: balance[place])
    line = (f"{job['job']}: {len(balance)} split ports, least balanced {least}: one function sent"
            f" {balance[least]:.3f} of the other")
    # collperf opens its flows otherwise than NCCL does.
    is_judged = not _is_dry(job)
    (found.failures if is_judged and balance[least] < MIN_BALANCE else found.facts).append(line)


def _judge_preset(job: dict[str, Any], found: Findings) -> None:
    """Without the preset NCCL would use its own sockets, over the management network."""
    on_cables = sum(count for attempt in job["attempts"] for interfaces in attempt.get("sent", {}).values()
                    for name, count in interfaces.items() if name.startswith("to-"))
    checked = sum(cell["checked_bytes"] for cell in job.get("cells", []))
    if not _is_dry(job) and on_cables < checked / len(job["order"]):
        found.failures.append(f"{job['job']}: only {on_cables} bytes were sent over cables: NCCL did not take the preset")


def tuner_choices(result: dict[str, Any]) -> list[TunerChoice]:
    """By size; empty in a dry run, which has no algorithms of NCCL's."""
    if result["name"] != "tuner" or any(map(_is_dry, result["jobs"])):
        return []
    cells = {(job["job"], cell["config"], cell["size_bytes"]): cell for job in result["jobs"] for cell in job.get("cells", [])}
    choices = []
    for size in sorted({key[2] for key in cells}):
        forced = {config: cell["time_us"] for (job, config, own), cell in cells.items() if job == "forced" and own == size}
        tuned, untuned = (cells.get((job, "default", size)) for job in ("tuned", "untuned"))
        if forced and tuned:
            choices.append(TunerChoice(size, forced, tuned["time_us"], untuned["time_us"] if untuned else None,
                                       ", ".join(tuned["chosen"])))
    return choices


def _compare_tuner(result: dict[str, Any], found: Findings) -> None:
    if result["name"] != "tuner" or any(map(_is_dry, result["jobs"])):
        return
    choices = tuner_choices(result)
    if len(choices) < len(job_named("tuner", "tuned").plan["configs"][0]["cells"]):
        found.gaps.append(f"{len(choices)} sizes were measured both as the tuner chooses and with every algorithm")
    for each in choices:
        reached = "reached" if round(each.over_best, 3) <= TUNER_GOAL else "missed"
        found.facts.append(f"tuner {each.size} bytes: {each.tuned:.0f} us with {each.used}, {each.over_best:.3f} of the best,"
                           f" {each.best} (goal: {TUNER_GOAL:g}, {reached})")


def split_balance(job: dict[str, Any]) -> dict[str, float]:
    """By node and wire: the lesser function's bytes sent / the greater's. The lab calls them to-w0 and to-w0-2."""
    sent: dict[str, list[int]] = {}
    for attempt in job["attempts"]:
        for node, interfaces in attempt.get("sent", {}).items():
            for name, count in interfaces.items():
                if name.startswith("to-"):
                    sent.setdefault(f"{node} {name.removesuffix('-2')}", []).append(count)
    return {place: min(counts) / max(1, *counts) for place, counts in sent.items() if len(counts) == 2}


def _compare(result: dict[str, Any], found: Findings) -> None:
    """Compares two jobs of a scenario."""
    jobs = {job["job"]: job for job in result["jobs"] if job["attempts"]}
    if {"first-job", "second-job"} <= set(jobs):
        spans = [tuple(jobs[name].get("span", (0.0, 0.0))) for name in ("first-job", "second-job")]
        _judge_overlap("two jobs", _overlap(*spans), found)
    for operation, ratio in order_ratios(result).items():
        line = f"busbw against / in cable order, {operation} of {ORDER_SIZE >> 20} MiB: {ratio:.3f}"
        judged = result["name"] == "against"
        (found.failures if judged and ratio < MIN_ORDER_RATIO else found.facts).append(line)
    _compare_multipath(result, found)
    _compare_tuner(result, found)
    for ours, theirs, name in (("cableway", "socket", "Socket's"), ("disturbed", "undisturbed", "the undisturbed run's")):
        if {ours, theirs} <= set(jobs):
            _compare_training(jobs[ours], jobs[theirs], name, found)


def order_ratios(result: dict[str, Any]) -> dict[str, float]:
    """By operation: busbw with ranks against cable order / in cable order, at ORDER_SIZE."""
    busbw = {(job["job"], cell["op"]): cell["busbw_GBps"] for job in result["jobs"] for cell in job.get("cells", [])
             if cell["size_bytes"] == ORDER_SIZE}
    return {operation: value / busbw["cable-order", operation] for (job, operation), value in busbw.items()
            if job == "against" and ("cable-order", operation) in busbw}


def multipath_rows(result: dict[str, Any]) -> list[Multipath]:
    """By operation, at RATIO_SIZE; collperf's in a dry run at its own size."""
    if result["name"] != "multipath":
        return []
    busbw = {(job["job"], cell["config"], cell["op"]): cell["busbw_GBps"] for job in result["jobs"]
             for cell in job.get("cells", []) if cell["size_bytes"] == RATIO_SIZE or cell["config"] == "collperf"}
    rows = []
    for config, operation in dict.fromkeys(key[1:] for key in busbw):
        name = _MULTIPATH_NAMES.get(operation, operation) + (" by PAT" if config == "pat" else "")
        values = [busbw.get((job, config, operation)) for job in ("multipath-off", "multipath-all", "socket")]
        rows.append(Multipath(name, *values, MULTIPATH_GOALS.get((config, operation))))
    return rows


def _compare_multipath(result: dict[str, Any], found: Findings) -> None:
    is_dry = any(map(_is_dry, result["jobs"]))
    for row in multipath_rows(result):
        over_off, over_socket = row.over_off(), row.over_socket()
        if over_off is not None:
            limit = "not judged" if is_dry else f"limit: {MIN_MULTIPATH_RATIO:g}"
            line = f"busbw all / off, {row.name}: {over_off:.3f} ({limit})"
            (found.failures if over_off < MIN_MULTIPATH_RATIO and not is_dry else found.facts).append(line)
        if over_socket is not None:
            goal = f" (goal: {row.goal:g}, {'reached' if round(over_socket, 3) >= row.goal else 'missed'})" if row.goal else ""
            found.facts.append(f"busbw all / Socket, {row.name}: {over_socket:.3f}{goal}")
        elif not is_dry:
            found.gaps.append(f"{row.name}: not measured over both Socket and all paths")


def _compare_training(ours: dict[str, Any], theirs: dict[str, Any], name: str, found: Findings) -> None:
    """`name`: whose the other losses and parameters are."""
    pairs = list(zip(ours.get("losses", []), theirs.get("losses", [])))
    steps = min((min(len(own), len(other)) for own, other in pairs), default=0)
    differing = [step for step in range(steps) if any(own[step] != other[step] for own, other in pairs)]
    if differing:
        found.failures.append(f"losses differ from {name} in {len(differing)} of {steps} steps, first in step"
                              f" {differing[0]}")
    elif steps:
        found.facts.append(f"losses of {steps} steps on {len(pairs)} ranks equal {name} bit for bit")
    hashes = [job.get("parameters", []) for job in (ours, theirs)]
    lengths = {len(own) for job in (ours, theirs) for own in job.get("losses", [])}
    if all(hashes) and len(lengths) == 1:
        same = set(hashes[0]) == set(hashes[1])
        line = f"parameters {hashes[0][0][:12]}, {name} {hashes[1][0][:12]}"
        (found.facts if same else found.failures).append(f"{line}: {'equal' if same else 'DIFFERENT'}")
