"""One attack on a mesh of its own: the mesh without the attack, with it, and afterwards."""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path

import mesh_state
import node_load
from assault import Assault, check_alive
from attacks import Attack
from hostile_lab import DESTINATION, HONEST, SOURCE, HostileLab, why_failed
from hostile_results import AFTER_S, Result

_FLOWING_BYTES_PER_S = 10e6
_FLOW_LIMIT_S = 15.0
_BEGIN_S = 6.0  # for what comes before, between and after the two windows
_END_LIMIT_S = 60.0
_POLL_S = 0.1
_NAMES = re.compile(r"\] \[(?:(?:warning|error)\] ([A-Z_]+)|info\] ([A-Z_]+_REFUSED)) ")


class Traffic:
    """Verified messages from SOURCE through the relay to DESTINATION, for a fixed time."""

    def __init__(self, lab: HostileLab, seconds: float) -> None:
        self._report = lab.scratch / "traffic.json"
        self._ranks = lab.start_ranks((SOURCE, DESTINATION), self._report, "--sizes", "8M", "--warmup", "1", "--iters", "1",
                                      "--check-all", "--wall-seconds", f"{seconds:.0f}")
        self._deadline = time.monotonic() + seconds + _END_LIMIT_S

    def __enter__(self) -> Traffic:
        return self

    def __exit__(self, *_: object) -> None:
        for rank in self._ranks:
            rank.stop()

    def await_flow(self, lab: HostileLab) -> None:
        deadline = time.monotonic() + _FLOW_LIMIT_S
        while node_load.measure(lab, _POLL_S).bytes_per_s < _FLOWING_BYTES_PER_S:
            if time.monotonic() > deadline:
                raise self._ranks[0].fail("has sent nothing")

    def check_flows(self) -> None:
        if not all(rank.running() for rank in self._ranks):
            raise self._ranks[0].fail("ended before the attack was measured")

    def finish(self) -> tuple[int, str]:
        """Waits for its end: the wrong bytes, and why it failed."""
        while any(rank.running() for rank in self._ranks):
            if time.monotonic() > self._deadline:
                return 0, "it did not end"
            time.sleep(_POLL_S)
        if reasons := [reason for rank in self._ranks if (reason := why_failed(rank))]:
            return 0, reasons[0]
        report = json.loads(self._report.read_text(encoding="utf-8"))
        return report["wrong"], "" if report["bytes_verified"] else "nothing was verified"


class Warnings:
    """The codes of warnings, and of what was refused, that the honest nodes log from now on."""

    def __init__(self, lab: HostileLab) -> None:
        self._lab = lab
        self._logged = {node: (lab.daemons[node].pid, len(lab.daemons[node].output_from(0))) for node in HONEST}

    def codes(self) -> set[str]:
        found: set[str] = set()
        for node, (pid, length) in self._logged.items():
            process = self._lab.daemons[node]
            log = process.output_from(length if process.pid == pid else 0).decode(errors="replace")
            found.update(warning or refused for warning, refused in _NAMES.findall(log))
        return found


def _keep_logs(lab: HostileLab, attack: Attack, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for node, process in lab.daemons.items():
        (folder / f"{attack.name}-{node}.log").write_text(process.output(), encoding="utf-8")


def measure(build: Path, attack: Attack, seconds: float, tries: int, logs: Path | None) -> Result:
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch, HostileLab(build, Path(scratch)) as lab:
        mesh_state.await_whole(lab)
        attack.prepare(lab)
        before = mesh_state.await_whole(lab)
        with Traffic(lab, 2 * seconds + _BEGIN_S) as traffic, Assault(lab) as assault:
            traffic.await_flow(lab)
            without = node_load.measure(lab, seconds)
            idle, warnings = node_load.forget_peaks(lab), Warnings(lab)
            assault.begin(attack.begin)
            during = node_load.measure(lab, seconds)
            traffic.check_flows()
            wrong, failure = traffic.finish()
            jobs = [lab.job_s(attack.job) for _ in range(tries)]
            highest, named_by = node_load.peaks(lab), warnings.codes()
            assault.end()
        time.sleep(AFTER_S)
        check_alive(lab)
        after = mesh_state.read_state(lab)
        job_after_s, after_failure = lab.job_s(attack.job)
        if logs is not None:
            _keep_logs(lab, attack, logs)
        return Result(
            name=attack.name, who=attack.who, what=attack.what, note=assault.note, per_second=assault.per_second(),
            before_bytes_per_s=without.bytes_per_s, during_bytes_per_s=during.bytes_per_s, wrong_bytes=wrong,
            traffic_failure=failure, job_s=tuple(took for took, reason in jobs if not reason),
            job_failures=tuple(reason for _, reason in jobs if reason),
            memory_bytes={node: highest[node] - idle[node] for node in HONEST},
            cores={node: during.cores[node] - without.cores[node] for node in HONEST},
            differs=tuple(mesh_state.differences(before, after)), stays=tuple(mesh_state.staying(before, after)),
            named_by=tuple(sorted(named_by)), job_after_s=job_after_s, after_failure=after_failure)
