"""One attack on a mesh of its own: the mesh without the attack, with it, and afterwards."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import mesh_state
import node_load
from assault import Assault, check_alive
from attacks import Attack
from honest_logs import Logged, keep_logs
from hostile_lab import HONEST, HostileLab
from hostile_results import AFTER_S, Result
from traffic import Traffic

_BEGIN_S = 12.0  # of traffic, for what comes before, between and after the two windows


def measure(build: Path, attack: Attack, seconds: float, tries: int, logs: Path | None) -> Result:
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch, HostileLab(build, Path(scratch)) as lab:
        mesh_state.await_whole(lab)
        attack.prepare(lab)
        before = mesh_state.await_whole(lab)
        with Traffic(lab, 2 * seconds + _BEGIN_S) as traffic, Assault(lab) as assault:
            traffic.await_flow(lab)
            without = node_load.measure(lab, seconds)
            idle, logged = node_load.forget_peaks(lab), Logged(lab)
            assault.begin(attack.begin)
            during = node_load.measure(lab, seconds)
            traffic.check_lasted()
            wrong, failure = traffic.finish()
            jobs = [lab.job_s(attack.job) for _ in range(tries)]
            highest, named_by, lost = node_load.peaks(lab), logged.named_by(), logged.lost_cables()
            assault.end()
        time.sleep(AFTER_S)
        check_alive(lab)
        after = mesh_state.read_state(lab)
        job_after_s, after_failure = lab.job_s(attack.job)
        if logs is not None:
            keep_logs(lab, attack.name, logs)
        return Result(
            name=attack.name, who=attack.who, what=attack.what, earlier=attack.earlier,
            names_job=attack.names_job, note=assault.note, per_second=assault.per_second(),
            before_bytes_per_s=without.bytes_per_s, during_bytes_per_s=during.bytes_per_s, wrong_bytes=wrong,
            traffic_failure=failure, job_s=tuple(took for took, reason in jobs if not reason),
            job_failures=tuple(reason for _, reason in jobs if reason),
            memory_bytes={node: highest[node] - idle[node] for node in HONEST},
            cores={node: during.cores[node] - without.cores[node] for node in HONEST},
            differs=tuple(mesh_state.differences(before, after)), stays=tuple(mesh_state.staying(before, after)),
            named_by=named_by, lost_cables=lost, job_after_s=job_after_s, after_failure=after_failure)
