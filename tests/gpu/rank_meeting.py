"""What every rank's program shares: its events, its GPU, and the ranks' meeting point.

Each event is a line of the rank's event file, flushed at once: the conductor reads progress, results and failures
there. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from the environment.
"""

from __future__ import annotations

import datetime
import faulthandler
import json
import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

_LEAVE_LIMIT_S, _LEAVE_POLL_S = 20.0, 0.1
_STORE_TIMEOUT = datetime.timedelta(seconds=150)


class Events:
    def __init__(self, path: str) -> None:
        self._file: TextIO = open(path, "a", encoding="utf-8")  # lives as long as the process
        self._lock = threading.Lock()  # a rank may run operations from several threads

    def record(self, event: str, **fields: Any) -> None:
        with self._lock:
            self._file.write(json.dumps({"event": event, "at": time.monotonic()} | fields) + "\n")
            self._file.flush()


class Meeting:
    """The ranks' meeting point: a store that rank 0 serves on the management network."""

    def __init__(self, dist: Any, rank: int, ranks: int) -> None:
        self.rank, self.ranks = rank, ranks
        self.store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), ranks, rank == 0,
                                   timeout=_STORE_TIMEOUT)
        self._rounds = 0

    def barrier(self) -> None:
        self._rounds += 1
        key = f"barrier/{self._rounds}"
        if self.store.add(key, 1) == self.ranks:
            self.store.set(f"{key}/all", "here")
        self.store.wait([f"{key}/all"])

    def leave(self, ranks: int | None = None) -> None:
        """The last call: the store ends with rank 0, so rank 0 waits until all others (of `ranks` that are left) have
        reported that they no longer need it."""
        if self.rank != 0:
            self.store.add("left", 1)
            return
        until = time.monotonic() + _LEAVE_LIMIT_S
        while self.store.add("left", 0) < (ranks or self.ranks) - 1 and time.monotonic() < until:
            time.sleep(_LEAVE_POLL_S)
        time.sleep(_LEAVE_POLL_S)  # the last one's answer may still be in flight

    def decide(self, key: str, choice: Any) -> Any:
        """Rank 0's choice, on all ranks."""
        if self.rank == 0:
            self.store.set(key, json.dumps(choice))
        return json.loads(self.store.get(key))


def own_device(torch: Any, kind: str, rank: int) -> Any:
    """The rank's device, made current. Ranks share the available GPUs; on a single one they are time-sliced, which
    slows small messages."""
    if kind != "cuda":
        return torch.device(kind)
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def machine_facts(torch: Any, device: Any) -> dict[str, Any]:
    cuda = device.type == "cuda"
    return {
        "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())) if cuda else None,
        "gpu": torch.cuda.get_device_name(device) if cuda else None,
        "gpus": torch.cuda.device_count() if cuda else 0,
        "cpus": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version(),
        "congestion_control": Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip(),
    }


def run_rank(work: Callable[[dict[str, Any], Events], None]) -> int:
    """The main function of a rank's program, PROGRAM PLAN.json EVENTS.jsonl: its exit status."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    events = Events(sys.argv[2])
    events.record("started", pid=os.getpid())
    try:
        work(plan, events)
    except Exception:  # reported with its cause; teardown after a failure may hang, so exit at once
        events.record("error", text=traceback.format_exc()[-3000:])
        traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
    return 0
