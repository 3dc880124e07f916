"""The nodes of the lab that this process is in: a cablewayd in each, queried through `cableway`."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from demo_failure import DemoFailure
from programs import TREE, Programs

sys.path.insert(0, str(TREE / "tools" / "lab"))

from joined_ports import JoinedPorts, joined_ports  # noqa: E402  (the lab's own modules)
from lab_state import load_state  # noqa: E402
from namespaces import LAB_DIR, in_network  # noqa: E402

_LAB = str(TREE / "tools" / "lab" / "lab")
_LAB_S = 30.0
_READY_S = 10.0
_ANSWER_S = 10.0  # `cableway` gives up after 5 s
_SETTLE_S = 5.0  # from the end of the last rank to the end of its circuits at the relays
_LEAVE_S = 5.0
_POLL_S = 0.02
_LOG_LINES = 15
_UNSHAPED_MBPS = 10_000


class LabNodes:
    """Starts a cablewayd in every node; on leaving the `with` block, ends them. Raises DemoFailure."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._state = load_state()
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.names = self._state.topology.node_names()
        if len(self.names) < 2:
            raise DemoFailure(f"a topology of {len(self.names)} node; the demo needs two or more")

    def __enter__(self) -> LabNodes:
        try:
            for name in self.names:
                self._start(name)
        except DemoFailure:
            self._end_all()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        statuses = self._end_all()
        if kind is None and (bad := [name for name, status in statuses.items() if status != 0]):
            self._show_log(bad[0])
            raise DemoFailure(f"cablewayd of {bad[0]} ended with {statuses[bad[0]]}; its log is above")

    def management_address(self, node: str) -> str:
        """The address at which the other nodes reach this one without Cableway, as over a management LAN."""
        return self._state.node_environment(node)["LAB_NODE_ADDRESS"]

    def joined_ports(self) -> set[JoinedPorts]:
        """The cables that the nodes should find."""
        return joined_ports(load_state().topology)

    def slowest_mbps(self) -> int:
        """The rate of the lab's slowest cable. The nodes do not know it: the lab's shaping is not a nominal rate."""
        return min(cable.rate_mbps or _UNSHAPED_MBPS for cable in self._state.topology.cables)

    def plug(self, first: str, second: str) -> None:
        """Plugs in one more cable, as fast as the slowest."""
        rates = [cable.rate_mbps for cable in self._state.topology.cables if cable.rate_mbps]
        rate = ["--rate", f"{min(rates)}mbit"] if rates else []
        self.check_lab(self.start_lab("plug", f"{first}-{second}", *rate), f"plug {first}-{second}")

    def has_cables_between_nodes(self) -> bool:
        """False if a switch joins the nodes."""
        return all(name in self.names for cable in load_state().topology.cables for name in cable.nodes())

    @staticmethod
    def start_lab(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, _LAB, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    @staticmethod
    def check_lab(process: subprocess.Popen[str], what: str) -> None:
        """Waits for the process to end; raises if it failed."""
        try:
            _, errors = process.communicate(timeout=_LAB_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise DemoFailure(f"lab {what}: no end within {_LAB_S:g} s") from None
        if process.returncode != 0:
            raise DemoFailure(f"lab {what}: {errors.strip()}")

    def kill(self, node: str) -> None:
        """Kills the node's cablewayd with SIGKILL."""
        self._daemons[node].kill()
        self._daemons[node].wait()

    def restart(self, node: str) -> None:
        self._start(node)

    def start(self, node: str, command: list[str | Path], **options: Any) -> subprocess.Popen[bytes]:
        """Starts a program in a node. Of this process's settings it gets only the log level, and from the lab its name
        and its interfaces."""
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("CABLEWAY_", "NCCL_")) or key == "CABLEWAY_LOG"}
        with in_network(node):
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=kept | self._state.node_environment(node),
                                    **options)

    def cableway(self, node: str, *words: str) -> str:
        """The output of `cableway WORDS` in a node."""
        process = self.start(node, [self._programs.cableway, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, errors = process.communicate(timeout=_ANSWER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise DemoFailure(f"cableway {' '.join(words)} in {node}: no end within {_ANSWER_S:g} s") from None
        if process.returncode != 0:
            print(errors.decode(errors="replace"), end="")
            raise DemoFailure(f"cableway {' '.join(words)} in {node} ended with {process.returncode}; why is above")
        return out.decode()

    def relayed_bytes(self) -> list[int]:
        """The payload bytes that each node has relayed since it started."""
        return [status["relayed"]["bytes"] for status in self._statuses()]

    def settled_relayed_bytes(self) -> list[int]:
        """The same, once the circuits of all programs that have ended are gone."""
        deadline = time.monotonic() + _SETTLE_S
        while True:
            statuses = self._statuses()
            open_at = [status for status in statuses if status["circuits"]]
            if not open_at:
                return [status["relayed"]["bytes"] for status in statuses]
            if time.monotonic() > deadline:
                raise DemoFailure(f"{open_at[0]['node']} still holds circuit {open_at[0]['circuits'][0]['path']}"
                                  f" {_SETTLE_S:g} s after all ranks have ended")
            time.sleep(_POLL_S)

    def check_health(self) -> None:
        for status in self._statuses():
            if broken := status["relayed"]["circuits_broken"]:
                node = status["node"]
                events = json.loads(self.cableway(node, "events", "--json"))["events"]
                print("\n".join(f"{node} | {event['code']}: {event['text']}" for event in events
                                if event["severity"] == "warning"))
                raise DemoFailure(f"{broken} circuits broke at {node}; its warnings are above")

    def _statuses(self) -> list[dict[str, Any]]:
        return [json.loads(self.cableway(name, "status", "--json")) for name in self.names]

    def _log_path(self, node: str) -> Path:
        return LAB_DIR / f"cablewayd-{self.names.index(node)}.log"

    def _show_log(self, node: str) -> None:
        lines = self._log_path(node).read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(f"{node} | {line}" for line in lines[-_LOG_LINES:]))

    def _start(self, node: str) -> None:
        receive, send = os.pipe()
        with open(receive, "rb", buffering=0) as answers:
            with open(self._log_path(node), "wb") as log:
                self._daemons[node] = self.start(node, [self._programs.cablewayd, "--ready-fd", str(send)], stdout=log,
                                                 stderr=log, pass_fds=[send])
            os.close(send)
            readable, _, _ = select.select([answers], [], [], _READY_S)
            answer = answers.read(4096).decode(errors="replace").strip() if readable else ""
        if answer != "ready":
            self._show_log(node)
            why = answer or ("it ended" if readable else f"no word within {_READY_S:g} s")
            raise DemoFailure(f"cablewayd of {node} is not up: {why}; its log is above")

    def _end_all(self) -> dict[str, int]:
        for daemon in self._daemons.values():
            with contextlib.suppress(ProcessLookupError):
                daemon.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _LEAVE_S
        statuses = {}
        for name, daemon in self._daemons.items():
            try:
                statuses[name] = daemon.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                daemon.kill()
                statuses[name] = daemon.wait()
        return statuses
