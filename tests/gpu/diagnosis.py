"""Records the state of nodes, kernels, ranks and the ranks' threads during a failure."""

from __future__ import annotations

import contextlib
import subprocess
import time
from pathlib import Path

import lab_nodes
import rank_set
from rank_set import Outcome, RankSet

_DEBUGGER_LIMIT_S = 20.0


def write(folder: Path, ranks: RankSet, outcome: Outcome, bundle: Path, settings: dict[str, str] | None) -> None:
    """Writes the folder's diagnosis.txt. `settings` are those of the Cableway nodes, None if there are none."""
    parts = [f"{outcome.kind}: {outcome.detail}\n"]
    for rank, node in enumerate(ranks.nodes):
        parts.append(f"==== {node}\n" if settings is None else node_status(node, bundle, settings))
        parts.append(lab_nodes.output(node, ["ss", "-tinmpO"]))
        parts.append(lab_nodes.output(node, ["tc", "-s", "qdisc"]))
        parts.append(f"---- log\n{rank_set.tail(ranks.log(rank), 30)}\n---- NCCL\n"
                    f"{rank_set.tail(folder / f'nccl{rank}.log', 15)}\n")
    lines = [line.rstrip() for line in "".join(parts).splitlines()]
    (folder / "diagnosis.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def node_status(node: str, bundle: Path, settings: dict[str, str]) -> str:
    return f"==== {node}\n" + lab_nodes.output(node, [str(bundle / "bin" / "cableway"), "status"], settings)


def write_threads(folder: Path, ranks: RankSet, debugger: str | None) -> None:
    """Writes threads<rank>.txt: native stacks by the debugger (a gdb) if given, else each thread's name and what it
    waits for. Python's own stacks are in the ranks' logs."""
    for rank, pid in ranks.pids().items():
        (folder / f"threads{rank}.txt").write_text(_kernel_view(pid), encoding="utf-8")
    if debugger is None:
        return
    running = []
    for rank, pid in ranks.pids().items():
        command = [debugger, "-p", str(pid), "-batch", "-nx", "-ex", "set pagination off", "-ex",
                   "thread apply all backtrace 30"]
        with open(folder / f"threads{rank}.txt", "ab") as file, contextlib.suppress(OSError):
            running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file,
                                            stderr=subprocess.DEVNULL))
    until = time.monotonic() + _DEBUGGER_LIMIT_S
    for process in running:
        try:
            process.wait(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()


def _kernel_view(pid: int) -> str:
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        with contextlib.suppress(OSError):  # the thread may have ended by now
            name, waits = ((task / entry).read_text(encoding="utf-8", errors="replace").strip()
                           for entry in ("comm", "wchan"))
            state = (task / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
            lines.append(f"{task.name} {name}: {state} {waits}\n")
    return "".join(lines)
