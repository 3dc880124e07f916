#!/usr/bin/env python3
"""System test of the doctor: a table of faults, each injected in a lab, with the one finding that it wants at each node
where it can be told, and the doctor's exit status there. Every other node wants no finding. `doctor --all` of one node,
where there are three the one that the fault spares, tells each cause once. An expected topology adds no second finding.

Usage: doctor_faults_test.py --build DIR [--short | --long | TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import lab_case
from in_lab import in_lab, long, main, report_figure
from lab_nodes import LAB_DIR, LabNodes, in_network

_QUICK = ("--no-speed",)
_SPEED = ()
# A lab's ports (veth) have no rate, so that only an expected topology states one: half of what the lab shapes an intact
# cable to, as a busy machine may not fill it.
_EXPECTED_SPEED = ("--expect", "line:2@100Mbit/s")
_POLL_S = 0.2
_DEADLINE_S = 60.0  # for a busy machine and for loss, which takes 10 s of pulses to be found

_EXPECTED = LAB_DIR / "expected"

Told = dict[str, list[str]]  # by node: severity and code of each finding above info
Act = Callable[[LabNodes], None]


def nothing(_nodes: LabNodes) -> None:
    """Neither injects nor mends."""


@dataclass(frozen=True)
class All:
    """What `doctor --all` of one node tells above info, as wanted of each node. `untold`: why that lacks the fault."""
    asked: str
    wanted: tuple[str, ...] = ()
    untold: str = ""


_HOST = "doctor there reads the routes and addresses of its host, which no node shows"
_TEST = "doctor there tests the cable; --all tests nothing"


@dataclass(frozen=True)
class Fault:
    name: str
    wanted: Told  # of nodes that are not listed: nothing
    of_all: All
    inject: Act
    mend: Act = nothing
    words: tuple[str, ...] = _QUICK
    status: dict[str, int] = field(default_factory=dict)  # default: as of the wanted severities
    says: dict[str, str] = field(default_factory=dict)  # by node: what a finding above info has to say
    names: bool = True  # the nodes have those of the lab


def once(asked: str, code: str, severity: str = "warning") -> All:
    return All(asked, (f"{severity} {code}",))


def status_of(found: list[str]) -> int:
    return 2 if any(each.startswith("error") for each in found) else 1 if found else 0


def told_by(nodes: LabNodes, name: str, *words: str) -> tuple[int, list[str]]:
    status, findings = nodes.doctor(name, *words)
    return status, sorted(f"{each['severity']} {each['code']}" for each in wrong(findings))


def told_as_expected(nodes: LabNodes, name: str, wanted: list[str]) -> list[str]:
    """As wanted, with the intact topology expected. What is missing of it takes the place of a topology in parts."""
    found = told_by(nodes, name, *_QUICK, "--expect", str(_EXPECTED))[1]
    parts = "warning TOPOLOGY_IN_PARTS"
    return sorted(parts if parts in wanted and each.startswith("warning EXPECTED_") else each for each in found)


def expect(topology: str) -> None:
    _EXPECTED.write_text(topology, encoding="ascii")


def let_no_twin_answer(nodes: LabNodes) -> None:
    for name in nodes.names:
        nodes.run(name, "sysctl", "-qw", "net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.arp_announce=2")


def told(nodes: LabNodes, words: tuple[str, ...]) -> dict[str, tuple[int, list[str]]]:
    return {name: told_by(nodes, name, *words) for name in nodes.names}


def wrong(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in findings if each["severity"] in ("warning", "error")]


def ips(name: str, *lines: str) -> Act:
    return lambda nodes: nodes.ip(name, *lines)


def lab(*words: str) -> Act:
    return lambda nodes: nodes.lab(*words)


def drops(name: str, match: str) -> Act:
    """The node's kernel drops what arrives there and matches."""
    def inject(_nodes: LabNodes) -> None:
        with in_network(name):
            for words in ("add table inet fault", "add chain inet fault arrivals { type filter hook input priority 0; }",
                          f"add rule inet fault arrivals {match} drop"):
                subprocess.run(["nft", words], check=True)
    return inject


def passes(name: str) -> Act:
    def mend(_nodes: LabNodes) -> None:
        with in_network(name):
            subprocess.run(["nft", "delete", "table", "inet", "fault"], check=True)
    return mend


def readdress(name: str, interface: str, address: str) -> Act:
    return ips(name, f"address flush dev {interface} scope global", f"address add {address} dev {interface}")


def each_of(*acts: Act) -> Act:
    def act(nodes: LabNodes) -> None:
        for one in acts:
            one(nodes)
    return act


def restarts(*settings: dict[str, str]) -> Act:
    """Starts the nodes again, with these settings in the order of their names."""
    def act(nodes: LabNodes) -> None:
        for name in nodes.running():
            nodes.kill(name)
        for name, own in zip(nodes.names, settings, strict=True):
            nodes.start(name, **own)
    return act


def start_namesakes(nodes: LabNodes) -> None:
    """The first node is there when the second one of its name comes."""
    for name in nodes.running():
        nodes.kill(name)
    nodes.start("n0", NODE="x")
    nodes.start("n1")
    nodes.wait_until(lambda: len(nodes.cables("n1")) == 1, lambda: "the cable between n0 and n1")
    nodes.start("n2", NODE="x")


def start_first_two(names: dict[str, str]) -> Act:
    """Nodes with these names; the cable between the first two is up when the others come."""
    def act(nodes: LabNodes) -> None:
        for name in nodes.running():
            nodes.kill(name)
        nodes.start("n0", NODE=names["n0"])
        nodes.start("n1", NODE=names["n1"])
        nodes.wait_until(lambda: len(nodes.cables("n0")) == 1, lambda: "the cable between n0 and n1")
        for name in nodes.names[2:]:
            nodes.start(name, NODE=names[name])
    return act


def start_namesake_in_a_ring(nodes: LabNodes) -> None:
    """The cables of the first node of the name are up when the second one comes."""
    for name in nodes.running():
        nodes.kill(name)
    nodes.start("n0", "n1", "n2")
    nodes.wait_until(lambda: len(nodes.cables("n1")) == 2, lambda: "both cables of n1")
    nodes.start("n3", NODE="n1")


def key(digit: str) -> str:
    file = LAB_DIR / f"key{digit}"
    if not file.exists():
        file.write_text(digit * 64 + "\n", encoding="ascii")
        file.chmod(0o600)
    return str(file)


def both(code: str, severity: str = "warning") -> Told:
    return {"n0": [f"{severity} {code}"], "n1": [f"{severity} {code}"]}


INTACT = [
    Fault("no fault", {}, All("n0"), nothing),
    Fault("no fault, with speed tests", {}, All("n0"), nothing, words=_SPEED),
    Fault("no fault, with speed tests and stated rates", {}, All("n0"), nothing, words=_EXPECTED_SPEED),
]

OF_ADDRESSES = [
    Fault("a default route over a cable", {"n0": ["warning DEFAULT_ROUTE_ON_CABLE"]}, All("n2", untold=_HOST),
          ips("n0", "route add default dev to-n1"), ips("n0", "route del default dev to-n1")),
    Fault("the management subnet on a cable", {"n0": ["warning SUBNET_BESIDE_CABLE"]}, All("n2", untold=_HOST),
          ips("n0", "address add 10.6.0.77/24 dev to-n1"), ips("n0", "address del 10.6.0.77/24 dev to-n1")),
    Fault("one address at both ends", both("CABLE_REFUSED"), once("n2", "CABLE_REFUSED"),
          readdress("n1", "to-n0", "10.7.0.1/24"), readdress("n1", "to-n0", "10.7.0.2/24")),
    Fault("another MTU at one end", both("CABLE_REFUSED"), once("n2", "CABLE_REFUSED"),
          ips("n1", "link set to-n0 mtu 1500"), ips("n1", "link set to-n0 mtu 9000")),
]

OF_CABLES = [
    Fault("hellos are dropped", {"n0": ["warning CABLE_ONE_WAY"], "n1": ["warning NEIGHBOUR_MISSING"]},
          once("n2", "CABLE_ONE_WAY"), drops("n1", "iifname to-n0 udp dport 7471"), passes("n1")),
    Fault("large packets are lost one way", both("LARGE_PACKETS_LOST"), once("n2", "LARGE_PACKETS_LOST"),
          drops("n1", "iifname to-n0 meta length > 1000"), passes("n1")),
    Fault("no node at the other end", {"n0": ["warning NEIGHBOUR_MISSING"], "n1": ["error NODE_NOT_RUNNING"],
                                       "n2": ["warning NEIGHBOUR_MISSING"]},
          once("n2", "NODE_NOT_ANSWERING", "error"),
          lambda nodes: nodes.kill("n1") and None, lambda nodes: nodes.start("n1"), status={"n1": 3}),
]

# Without a third node: the one that is asked has an end of the cable, whose finding is why the other cannot be asked.
OF_A_PAIR = [
    Fault("all is lost one way", {"n0": ["warning CABLE_ONE_WAY"], "n1": ["warning NEIGHBOUR_MISSING"]},
          once("n0", "CABLE_ONE_WAY", "error"),
          lab("cut", "c0", "--silent", "--one-way", "n0"), lab("mend", "c0")),
    Fault("the carrier is lost", {"n0": ["warning CARRIER_MISSING"], "n1": ["error PORT_UNUSABLE"]},
          once("n0", "CARRIER_MISSING", "error"),
          ips("n1", "link set to-n0 down"), ips("n1", "link set to-n0 up")),
]

OF_DATA = [
    Fault("TCP is dropped", {"n0": ["warning CABLE_UNREACHABLE"]}, All("n1", untold=_TEST),
          drops("n1", "iifname to-n0 tcp dport 7470"), passes("n1")),
    Fault("TCP is dropped, with speed tests", {"n0": ["warning CABLE_UNREACHABLE"]}, All("n1", untold=_TEST),
          drops("n1", "iifname to-n0 tcp dport 7470"), passes("n1"), words=_SPEED),
    Fault("a slow cable whose rate nobody states, with speed tests", {}, All("n0"),
          lab("shape", "c0", "--rate", "20mbit"), words=_SPEED),
    Fault("a slow cable, with speed tests", both("CABLE_SLOW"), All("n0", untold=_TEST),
          nothing, lab("shape", "c0", "--rate", "200mbit"), words=_EXPECTED_SPEED,
          says=dict.fromkeys(("n0", "n1"), "nominal 100 Mbit/s in the expected topology, expected 70 Mbit/s at least")),
]

# No node has a path to both ends: the one that is asked is one of them.
OF_SETTINGS = [
    Fault("another key", both("KEY_DIFFERS"), once("n0", "KEY_DIFFERS"),
          lambda nodes: restarts({"KEY_FILE": key("1")}, {"KEY_FILE": key("2")})(nodes)),
    Fault("a key at one end only", both("KEY_DIFFERS"), once("n1", "KEY_DIFFERS"),
          lambda nodes: restarts({"KEY_FILE": key("1")}, {})(nodes)),
    Fault("another cluster", both("CLUSTER_DIFFERS"), once("n0", "CLUSTER_DIFFERS"),
          restarts({"CLUSTER": "a"}, {"CLUSTER": "b"})),
    Fault("a neighbour's name", both("NAME_TAKEN"), once("n0", "NAME_TAKEN"), restarts({"NODE": "x"}, {"NODE": "x"}),
          names=False),
]

FAR_AWAY = [
    # The first one of these has no other cable, and knows no other path to the third.
    Fault("all is lost one way, on the way to another",
          {"n0": ["warning CABLE_ONE_WAY"], "n1": ["warning NEIGHBOUR_MISSING"], "n2": ["warning TOPOLOGY_IN_PARTS"]},
          once("n0", "CABLE_ONE_WAY", "error"),
          lab("cut", "n0-n1", "--silent", "--one-way", "n0"), lab("mend", "n0-n1")),
    # An error, as the node beyond has no path and cannot answer.
    Fault("a silent cable between others", {"n0": ["warning TOPOLOGY_IN_PARTS"], "n1": ["warning NEIGHBOUR_MISSING"],
                                            "n2": ["warning NEIGHBOUR_MISSING"]},
          once("n0", "NEIGHBOUR_MISSING", "error"),
          lab("cut", "n1-n2", "--silent"), lab("mend", "n1-n2")),
    Fault("the name of a node two hops away", {"n1": ["warning NAME_TAKEN"], "n2": ["warning CABLE_UNUSED_THERE"]},
          once("n1", "NAME_TAKEN"), start_namesakes, names=False),
]

# Each is told of the name, and of nothing that follows from it.
THREE_NAMESAKES = [
    Fault("one name of three nodes, two of them neighbours",
          {"n1": ["warning NAME_TAKEN"], "n2": ["warning NAME_TAKEN"], "n3": ["warning NAME_TAKEN"]},
          once("n1", "NAME_TAKEN"), start_first_two({"n0": "x", "n1": "n1", "n2": "x", "n3": "x"}),
          names=False),
]

THREE_NAMESAKES_OF_A_HUB = [
    Fault("one name of three neighbours",
          {"n0": ["warning NAME_TAKEN"], "n2": ["warning CABLE_UNUSED_THERE"], "n3": ["warning CABLE_UNUSED_THERE"]},
          once("n0", "NAME_TAKEN"), start_first_two({"n0": "hub", "n1": "x", "n2": "x", "n3": "x"}),
          says={"n0": "two nodes are called x, one on port to-n.*; a further one on port to-n"}, names=False),
]

IN_A_RING = [
    Fault("no fault, two ways", {}, All("n2"), nothing),
    Fault("two cables in one subnet", {"n0": ["warning CABLES_SHARE_SUBNET"]}, All("n1", untold=_HOST),
          each_of(readdress("n0", "to-n2", "10.7.0.3/24"), readdress("n2", "to-n0", "10.7.0.4/24")),
          each_of(readdress("n0", "to-n2", "10.7.2.2/24"), readdress("n2", "to-n0", "10.7.2.1/24"))),
    Fault("a node that drains", {}, All("n2"),
          lambda nodes: nodes.run("n1", nodes.build / "bin/cableway", "drain", "n1") and None,
          lambda nodes: nodes.run("n1", nodes.build / "bin/cableway", "undrain", "n1") and None),
    Fault("all is lost one way, and another way is there",
          {"n0": ["warning CABLE_ONE_WAY"], "n1": ["warning NEIGHBOUR_MISSING"]},
          once("n2", "CABLE_ONE_WAY"), lab("cut", "n0-n1", "--silent", "--one-way", "n0"), lab("mend", "n0-n1"),
          says={"n0": "node n1 .* does not hear this node", "n1": "nothing is heard of node n0 .*, which is running"}),
    Fault("the carrier is lost, and another way is there",
          {"n0": ["warning CARRIER_MISSING"], "n1": ["warning PORT_UNUSABLE"]}, once("n2", "PORT_UNUSABLE"),
          ips("n1", "link set to-n0 down"), ips("n1", "link set to-n0 up")),
]

STOPPED = [
    Fault("a node that was stopped", {"n0": ["warning TOPOLOGY_IN_PARTS"], "n1": ["warning NEIGHBOUR_MISSING"],
                                      "n2": ["error NODE_NOT_RUNNING"], "n3": ["warning NEIGHBOUR_MISSING"]},
          once("n0", "NODE_NOT_ANSWERING", "error"), lambda nodes: nodes.kill("n2", signal.SIGTERM) and None,
          lambda nodes: nodes.start("n2"), status={"n2": 3}, says={"n1": r"node n2 \(to-n1\) has left: it was stopped"}),
    Fault("the name of a node two hops away, in a ring",
          {"n0": ["warning NAME_TAKEN"], "n2": ["warning NAME_TAKEN"], "n3": ["warning CABLE_UNUSED_THERE"] * 2},
          once("n0", "NAME_TAKEN"), start_namesake_in_a_ring, names=False),
]

# Cables of two functions each, which share a wire.
OF_SPLIT_PORTS = [
    Fault("no fault, split ports", {}, All("n2"), nothing),
    Fault("another MTU of one function", both("CABLE_REFUSED"), once("n2", "CABLE_REFUSED"),
          ips("n0", "link set to-w0-2 mtu 1500"), ips("n0", "link set to-w0-2 mtu 9000")),
    Fault("all to one function is lost", {"n0": ["warning NEIGHBOUR_MISSING"], "n1": ["warning CABLE_ONE_WAY"]},
          once("n2", "CABLE_ONE_WAY"), drops("n0", "iifname to-w0-2"), passes("n0")),
]

# A node counts a window of 1,000 pulses, 10 s, and takes 3 % of them or more as loss (core/pulse/loss_meter.h). Of 5 %
# of random loss a window lacks fewer than 30 with a probability of 0.0007: binomial, 1,000 trials of 0.05. So three
# windows in a row miss it with one of 4e-10, and the five of the deadline with less. The finding then stays: six windows
# in a row with less than 1 % would have to end it, and one has a probability of 5e-13.
_FIVE_PERCENT = "numgen random mod 100 < 5"
OF_FIVE_PERCENT = [
    Fault("5 % of the packets are lost, both ways", both("CABLE_LOSSY"), once("n0", "CABLE_LOSSY"),
          each_of(drops("n0", f"iifname to-n1 {_FIVE_PERCENT}"), drops("n1", f"iifname to-n0 {_FIVE_PERCENT}")),
          # What a cable has lost is remembered for a minute.
          each_of(passes("n0"), passes("n1"), restarts({}, {}))),
    Fault("5 % of the packets are lost, one way", both("CABLE_LOSSY"), once("n1", "CABLE_LOSSY"),
          drops("n1", f"iifname to-n0 {_FIVE_PERCENT}"), passes("n1")),
]

OF_LOSS = [
    Fault("packets are lost, on one cable one way",
          {"n0": ["warning CABLE_LOSSY"], "n1": ["warning CABLE_LOSSY"] * 2, "n2": ["warning CABLE_LOSSY"]},
          All("n0", ("warning CABLE_LOSSY", "warning CABLE_LOSSY")),  # of two cables
          each_of(lab("shape", "n0-n1", "--loss", "6%"), drops("n2", "iifname to-n1 numgen random mod 100 < 7"))),
]


class DoctorFaultsTest(unittest.TestCase):
    def check(self, nodes: LabNodes, faults: list[Fault]) -> None:
        if not shutil.which("nft"):
            self.skipTest("needs nft (nftables)")
        if not _EXPECTED.exists():
            expect(lab_case.lab("topology").stdout)
        right = 0
        for fault in faults:
            with self.subTest(fault.name):
                fault.inject(nodes)
                self.check_told(nodes, fault)
                if fault.names and fault.words == _QUICK:
                    self.check_told_as_expected(nodes, fault)
                self.check_told_of_all(nodes, fault)
                for name, pattern in fault.says.items():
                    self.assertRegex("\n".join(each["what"] for each in wrong(nodes.doctor(name, *fault.words)[1])), pattern)
                fault.mend(nodes)
                if fault.mend is not nothing:
                    nodes.wait_for_cables()
                right += 1
        report_figure(f"{right} of {len(faults)} rows of doctor's fault table are right")

    def check_running(self, nodes: LabNodes, faults: list[Fault]) -> None:
        """With nodes that know their cables before the first fault."""
        nodes.start()
        nodes.wait_for_cables()
        self.check(nodes, faults)

    def check_told(self, nodes: LabNodes, fault: Fault) -> None:
        """The wanted findings appear, and are the same when the doctor runs again."""
        wanted = {name: (fault.status.get(name, status_of(fault.wanted.get(name, []))), sorted(fault.wanted.get(name, [])))
                  for name in nodes.names}
        deadline = time.monotonic() + _DEADLINE_S
        while (found := told(nodes, fault.words)) != wanted:
            if time.monotonic() > deadline:
                self.assertEqual(found, wanted, fault.name)
            nodes.check_alive()
            time.sleep(_POLL_S)
        self.assertEqual(told(nodes, fault.words), wanted, f"{fault.name}, the second time")

    @staticmethod
    def check_told_as_expected(nodes: LabNodes, fault: Fault) -> None:
        """Nodes elsewhere are told what is missing."""
        wanted = {name: sorted(codes) for name, codes in fault.wanted.items()} or {name: [] for name in nodes.names}
        found: Told = {}

        def is_told() -> bool:
            found.update({name: told_as_expected(nodes, name, codes) for name, codes in wanted.items()})
            return found == wanted

        nodes.wait_until(is_told, lambda: f"{fault.name}, with the intact topology expected: {wanted} wanted, {found} found")

    @staticmethod
    def check_told_of_all(nodes: LabNodes, fault: Fault) -> None:
        """A busy machine may not schedule a node in time: then that node is a finding, once."""
        wanted = (status_of(list(fault.of_all.wanted)), sorted(fault.of_all.wanted))
        found: list[Any] = []

        def is_told() -> bool:
            found[:] = told_by(nodes, fault.of_all.asked, "--all")
            return tuple(found) == wanted

        nodes.wait_until(is_told, lambda: f"{fault.name}: doctor --all of {fault.of_all.asked} wants {wanted}, has {found}"
                                          f" ({fault.of_all.untold or 'it can be told'})")

    @in_lab("line:2", "--rate", "200mbit")
    def test_an_intact_cable(self, nodes: LabNodes) -> None:
        self.check_running(nodes, INTACT)

    @in_lab("ring:3")
    def test_addresses_of_a_cable(self, nodes: LabNodes) -> None:
        self.check_running(nodes, OF_ADDRESSES)

    @long
    @in_lab("ring:3")
    def test_faults_of_a_cable(self, nodes: LabNodes) -> None:
        self.check_running(nodes, OF_CABLES)

    @long
    @in_lab("line:2", "--rate", "200mbit")
    def test_faults_of_the_only_cable(self, nodes: LabNodes) -> None:
        self.check_running(nodes, OF_A_PAIR)

    @long
    @in_lab("line:2", "--rate", "200mbit")
    def test_what_data_meets(self, nodes: LabNodes) -> None:
        self.check_running(nodes, OF_DATA)

    @in_lab("line:2")
    def test_settings_that_differ(self, nodes: LabNodes) -> None:
        self.check(nodes, OF_SETTINGS)

    @in_lab("line:3")
    def test_faults_two_hops_away(self, nodes: LabNodes) -> None:
        self.check_running(nodes, FAR_AWAY)

    @in_lab("line:4")
    def test_three_namesakes(self, nodes: LabNodes) -> None:
        self.check(nodes, THREE_NAMESAKES)

    @in_lab("star:4")
    def test_three_namesakes_of_a_hub(self, nodes: LabNodes) -> None:
        self.check(nodes, THREE_NAMESAKES_OF_A_HUB)

    @in_lab("ring:3")
    def test_two_cables_of_a_node(self, nodes: LabNodes) -> None:
        self.check_running(nodes, IN_A_RING)

    @in_lab("ring:4")
    def test_a_node_that_was_stopped(self, nodes: LabNodes) -> None:
        self.check_running(nodes, STOPPED)

    @in_lab("twins:3")
    def test_split_ports(self, nodes: LabNodes) -> None:
        let_no_twin_answer(nodes)
        nodes.start()
        nodes.wait_for_cables()
        # The lab's wires are bridges, which are no part of what nodes find.
        expect(nodes.run("n0", nodes.build / "bin/cableway", "topology", "--toml"))
        self.check(nodes, OF_SPLIT_PORTS)

    @long
    @in_lab("line:2")
    def test_loss_of_five_percent(self, nodes: LabNodes) -> None:
        self.check_running(nodes, OF_FIVE_PERCENT)

    @long
    @in_lab("ring:3")
    def test_loss(self, nodes: LabNodes) -> None:
        self.check_running(nodes, OF_LOSS)


if __name__ == "__main__":
    main()
