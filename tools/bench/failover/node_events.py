"""A cablewayd's knowledge of cables, read from the events in its log: querying the node would cost a process each
time."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from lab_processes import LabProcess

_LINE = re.compile(r"\[[^\]]+\] \[cablewayd\] \[\w+\] ([A-Z_]+) (.*)")
_CABLE = re.compile(r"cable (\S+) to node ")  # by this node's port
_TOPOLOGY = re.compile(r"the topology now has \d+ nodes? and (\d+) cables?")


@dataclass
class CableNews:
    """The state after the events so far."""

    known: int = 0                                   # cables in the topology
    up: set[str] = field(default_factory=set)        # of the node's own, by port
    doubted: set[str] = field(default_factory=set)   # those that circuits may not use, or only some may

    def take(self, line: str) -> bool:
        """Returns whether the line changes the state."""
        event = _LINE.match(line)
        if event is None:
            return False
        before = (self.known, set(self.up), set(self.doubted))
        code, text = event.groups()
        if code == "TOPOLOGY_CHANGED" and (topology := _TOPOLOGY.match(text)) is not None:
            self.known = int(topology[1])
        elif (cable := _CABLE.match(text)) is not None:
            self._take_cable(code, cable[1])
        return before != (self.known, self.up, self.doubted)

    def _take_cable(self, code: str, port: str) -> None:
        if code == "CABLE_UP":
            self.up.add(port)
        elif code in ("CABLE_LOST", "NEIGHBOUR_LEFT"):
            self.up.discard(port)
        elif code in ("CABLE_SILENT", "RELAY_SILENT"):
            self.doubted.add(port)
        elif code == "CABLE_HEARD_AGAIN":
            self.doubted.discard(port)


class NodeEvents:
    """Follows the log of one process, whose level must be `info` or below."""

    def __init__(self, process: LabProcess) -> None:
        self._process, self._offset, self._rest = process, 0, b""
        self.news = CableNews()
        self.changed_at = time.monotonic()  # when this process last saw a change

    def read(self) -> CableNews:
        fresh = self._process.output_from(self._offset)
        self._offset += len(fresh)
        *lines, self._rest = (self._rest + fresh).split(b"\n")
        # Takes all lines: any() would stop at the first change.
        if any([self.news.take(line.decode(errors="replace")) for line in lines]):
            self.changed_at = time.monotonic()
        return self.news
