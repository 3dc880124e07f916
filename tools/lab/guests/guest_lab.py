"""Builds a lab whose nodes are guests: virtual machines with a kernel each, and so with soft-RoCE (rdma_rxe), which
works in a kernel's first network namespace only.

The plan, the addresses, the state and the supervisor are those of a lab of namespaces.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from guests import guest_files
import kernel_tools
import shaping
from address_plan import MANAGEMENT_BITS, MANAGEMENT_INTERFACE, management_address, with_prefix
from guests.guest_architecture import Architecture
from guests.guest_images import Images
from guests.guest_machine import MAX_GUEST_CABLES, Machine, port_at, start_machine
from guests.guest_switch import start_guest_switches
from kernel_routes import KernelRoute, kernel_routes
from lab_error import LabError, log, usage_error
from lab_network import LabPlan
from lab_state import GUESTS_FILE, CableState, LabState
from guests.management_switch import management_mac, start_management_switch
from shaping import Means, Shape
from topology_spec import Cable, Topology

_AGENT = Path(__file__).resolve().parent / "guest_agent.py"
_REPORT_AFTER_S = 2.0
_BOOT_DEADLINE_S, _BOOT_DEADLINE_PER_GUEST_S = 60.0, 15.0  # guests share the host's processors
_WIRE_QUEUE_PACKETS = 512
_SYSCTLS = [("net/ipv4/conf/all/rp_filter", "0"), ("net/ipv4/conf/default/rp_filter", "0"),
            ("net/ipv6/conf/all/accept_dad", "0"), ("net/ipv6/conf/default/accept_dad", "0"),
            ("net/ipv6/conf/all/keep_addr_on_down", "1"), ("net/ipv6/conf/default/keep_addr_on_down", "1"),
            (f"net/ipv6/conf/{MANAGEMENT_INTERFACE}/disable_ipv6", "1")]


@dataclass
class GuestPlan:
    """The request of a `softroce run`."""

    lab: LabPlan
    architecture: Architecture
    images: Images
    no_rdma: list[str]  # cables, as the user names them
    memory_mb: int


def rdma_device(interface: str) -> str:
    return f"rxe-{interface}"


def rdma_devices(topology: Topology) -> list[str]:
    """The RDMA devices of the lab that this process is in, each after its node's name."""
    without = json.loads(GUESTS_FILE.read_text(encoding="utf-8"))["no_rdma"]
    return [f"{end.node} {rdma_device(end.interface)}" for cable in topology.cables for end in cable.ends
            if cable.name not in without and end.node not in topology.switches]


def check_topology(topology: Topology) -> None:
    """Raises LabError for nodes with more cables than guests can have."""
    for node in topology.node_names():
        count = len(topology.cables_of(node))
        if count > MAX_GUEST_CABLES:
            raise usage_error(f"node {node}: {count} cables; a guest has {MAX_GUEST_CABLES} at most")


def _end_lines(state: LabState, node: str, cable: Cable) -> list[str]:
    end = cable.end_at(node)
    given = [f"address add {with_prefix(end.address)} dev {end.interface}"] if end.address else []
    return [f"link set dev {end.interface} mtu {state.mtu}", *given, f"link set dev {end.interface} up"]


def _configuration(state: LabState, index: int, no_rdma: set[str], routes: list[KernelRoute]) -> dict[str, object]:
    """The configuration that a guest's agent applies; see guest_agent.py."""
    node = state.topology.nodes[index].name
    cables = state.topology.cables_of(node)
    interfaces = {management_mac(index): MANAGEMENT_INTERFACE}
    ip = ["link set dev lo up", f"address add {management_address(index)}/{MANAGEMENT_BITS} dev {MANAGEMENT_INTERFACE}",
          f"link set dev {MANAGEMENT_INTERFACE} up"]
    tc, rdma = [], []
    for cable in cables:
        condition, interface = state.cables[cable.name], cable.end_at(node).interface
        interfaces[port_at(cable, condition.number, node).mac] = interface
        ip += _end_lines(state, node, cable)
        tc += shaping.egress_lines(interface, Shape(), condition.shape, Means(netem=True, nft=False))
        if cable.name not in no_rdma:
            rdma.append(f"link add {rdma_device(interface)} type rxe netdev {interface}")
    return {
        "node": node, "address": management_address(index), "interfaces": interfaces,
        "sysctls": [*_SYSCTLS, ("net/ipv4/ip_forward", "1" if state.forwarding else "0")],
        "ip": ip + [route.ip_line() for route in routes], "tc": tc, "rdma": rdma,
        "ready": str(guest_files.ready_file(node)),
    }


def _write_start(state: LabState, index: int, no_rdma: set[str], routes: list[KernelRoute], python: str) -> None:
    """Writes what the guest runs once the host's files are mounted."""
    node = state.topology.nodes[index].name
    folder = guest_files.guest_dir(node)
    folder.mkdir(parents=True)
    configuration = folder / "configuration.json"
    configuration.write_text(json.dumps(_configuration(state, index, no_rdma, routes)), encoding="utf-8")
    words = [python, "-E", "-s", "-S", str(_AGENT), str(configuration)]
    guest_files.start_script(node).write_text(f"exec {shlex.join(words)}\n", encoding="utf-8")


def _start_guests(state: LabState, plan: GuestPlan) -> dict[str, subprocess.Popen[bytes]]:
    guests = {}
    for index, node in enumerate(state.topology.node_names()):
        ports = [port_at(cable, state.cables[cable.name].number, node) for cable in state.topology.cables_of(node)]
        machine = Machine(node, index, ports, state.mtu, plan.memory_mb, plan.architecture)
        guests[node] = start_machine(machine, plan.images)
    return guests


def _await_guests(guests: dict[str, subprocess.Popen[bytes]]) -> None:
    """Waits until all guests accept commands. Raises LabError, with the end of a console, when one ends or is late."""
    began = time.monotonic()
    deadline_s = _BOOT_DEADLINE_S + _BOOT_DEADLINE_PER_GUEST_S * len(guests)
    reported_s, waiting = 0.0, list(guests)
    while waiting:
        time.sleep(0.05)
        waiting = [node for node in waiting if not guest_files.ready_file(node).exists()]
        passed_s = time.monotonic() - began
        for node in waiting:
            if (status := guests[node].poll()) is not None:
                raise LabError(f"guest {node} ended while it started (QEMU's exit status: {status})."
                               f" {guest_files.console_end(node)}")
        if waiting and passed_s > deadline_s:
            raise LabError(f"guest {waiting[0]} does not accept commands after {deadline_s:g} s."
                           f" {guest_files.console_end(waiting[0])}")
        if waiting and passed_s >= max(_REPORT_AFTER_S, reported_s * 1.5):
            reported_s = passed_s
            log(f"{passed_s:3.0f} s: waiting for {len(waiting)} of {len(guests)} guests to start: {', '.join(waiting)}")
    if reported_s:
        log(f"{time.monotonic() - began:3.0f} s: all guests are up")


def _queue_on_wires() -> None:
    """Lengthens the queue of packets that a guest's neighbour has sent ahead. With the kernel's default of 10, guests
    alternate often."""
    try:
        Path("/proc/sys/net/unix/max_dgram_qlen").write_text(str(_WIRE_QUEUE_PACKETS), encoding="ascii")
    except OSError:  # a user namespace may not; it works with 10 as well
        pass


def build(plan: GuestPlan, handle: str, own_sysfs: bool) -> LabState:
    """Builds the whole lab. Raises LabError; what was built by then is removed when the caller's process ends."""
    topology = plan.lab.filled_topology()
    conditions = {cable.name: CableState(number, plan.lab.shape_of(cable))
                  for number, cable in enumerate(topology.cables)}
    state = LabState(handle, plan.lab.spec, topology, plan.lab.forwarding, own_sysfs, plan.lab.mtu,
                     plan.lab.addressing, conditions)
    no_rdma = {state.cable(text).name for text in plan.no_rdma}
    guest_files.WIRES_DIR.mkdir()
    GUESTS_FILE.write_text(json.dumps({"no_rdma": sorted(no_rdma)}), encoding="utf-8")
    _queue_on_wires()
    kernel_tools.batch("ip", ["link set dev lo up"])
    start_management_switch(guest_files.WIRES_DIR, len(topology.nodes))
    start_guest_switches(state)
    python = "/usr/bin/python3" if plan.architecture.foreign else sys.executable
    routes = kernel_routes(topology) if state.forwarding else {}
    for index, node in enumerate(topology.node_names()):
        _write_start(state, index, no_rdma, routes.get(node, []), python)
    state.save_topology()
    _await_guests(_start_guests(state, plan))
    state.save()
    return state
