"""The state that a running lab keeps in LAB_DIR: its topology.toml, and state.json."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from address_plan import CABLE_PREFIXES, CONTROL_ADDRESS, management_address
from lab_error import usage_error
from namespaces import LAB_DIR
from shaping import Shape
from topology_file import read_topology, topology_text
from topology_spec import Cable, Topology

TOPOLOGY_FILE = LAB_DIR / "topology.toml"
GUESTS_FILE = LAB_DIR / "guests.json"  # of a lab whose nodes are guests and not namespaces
_STATE_FILE = LAB_DIR / "state.json"
_LOCK_FILE = LAB_DIR / "lock"
_SHAPE_DIR = LAB_DIR / "delay"


@dataclass
class CableState:
    number: int  # never reused within a lab
    shape: Shape = Shape()
    cut: str = "no"  # no, carrier, silent
    silent_from: list[str] = field(default_factory=list)  # the nodes and switches whose packets a silent cut drops
    delay_line_pid: int = 0


@dataclass
class LabState:
    handle: str
    spec: str
    topology: Topology
    forwarding: bool
    own_sysfs: bool
    mtu: int
    addressing: str
    cables: dict[str, CableState]

    def cable(self, text: str) -> Cable:
        """The cable named `text`, or the only one between A and B where it is `A-B`."""
        for cable in self.topology.cables:
            if cable.name == text:
                return cable
        joined = [cable for cable in self.topology.cables
                  if text in (f"{a}-{b}" for a, b in (cable.nodes(), cable.nodes()[::-1]))]
        if len(joined) > 1:
            raise usage_error(f"cable '{text}': {len(joined)} cables join these nodes; name one of "
                              + ", ".join(cable.name for cable in joined))
        if not joined:
            known = ", ".join(f"{cable.name} ({'-'.join(cable.nodes())})" for cable in self.topology.cables)
            raise usage_error(f"cable '{text}': no such cable; name one of {known}")
        return joined[0]

    def check_node(self, name: str) -> str:
        if name not in self.topology.node_names():
            raise usage_error(f"node '{name}': no such node; name one of {', '.join(self.topology.node_names())}")
        return name

    def environment(self) -> dict[str, str]:
        """The variables that every process of the lab sees."""
        return {
            "LAB": self.handle,
            "LAB_DIR": str(LAB_DIR),
            "LAB_NODES": " ".join(self.topology.node_names()),
            "LAB_CONTROL_ADDRESS": CONTROL_ADDRESS,
            "LAB_TOPOLOGY": str(TOPOLOGY_FILE),
        }

    def node_environment(self, node: str) -> dict[str, str]:
        index = self.topology.node_names().index(node)
        return self.environment() | {
            "CABLEWAY_NODE": node,
            "CABLEWAY_PORTS": self.ports(node),
            "LAB_NODE_INDEX": str(index),
            "LAB_NODE_ADDRESS": management_address(index),
        }

    def ports(self, node: str) -> str:
        """The interfaces of the node's cables, and the addresses that a cable plugged in later would get."""
        interfaces = [cable.end_at(node).interface for cable in self.topology.cables_of(node)]
        return ",".join([*interfaces, CABLE_PREFIXES[self.addressing]])

    def save_topology(self) -> None:
        TOPOLOGY_FILE.write_text(topology_text(self.topology), encoding="utf-8")

    def save(self) -> None:
        document = {
            "handle": self.handle,
            "spec": self.spec,
            "shape": self.topology.shape,
            "forwarding": self.forwarding,
            "own_sysfs": self.own_sysfs,
            "mtu": self.mtu,
            "addressing": self.addressing,
            "cables": {name: asdict(state) for name, state in self.cables.items()},
        }
        scratch = _STATE_FILE.with_suffix(".new")
        scratch.write_text(json.dumps(document), encoding="utf-8")
        scratch.replace(_STATE_FILE)


def load_state() -> LabState:
    """The state of the lab that this process is in."""
    document = json.loads(_STATE_FILE.read_text(encoding="utf-8"))
    topology = read_topology(str(TOPOLOGY_FILE))
    cables = {}
    for name, fields in document["cables"].items():
        cables[name] = CableState(**(fields | {"shape": Shape(**fields["shape"])}))
    topology = replace(topology, shape=document["shape"])
    return LabState(document["handle"], document["spec"], topology, document["forwarding"], document["own_sysfs"],
                    document["mtu"], document["addressing"], cables)


def is_inside(handle: str) -> bool:
    """Whether this process is in the lab of that handle."""
    try:
        return json.loads(_STATE_FILE.read_text(encoding="utf-8"))["handle"] == handle
    except (OSError, ValueError, KeyError):
        return False


@contextlib.contextmanager
def changing_state() -> Iterator[LabState]:
    """The state, to be changed by one command at a time; saved when the body returns without an exception."""
    with open(_LOCK_FILE, "w", encoding="ascii") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        state = load_state()
        yield state
        state.save()


def delay_file(cable_name: str) -> Path:
    """Where a cable's delay line reads its delay, in microseconds."""
    os.makedirs(_SHAPE_DIR, exist_ok=True)
    return _SHAPE_DIR / cable_name
