"""The attacks of docs/security.md, as the bench carries them out."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from assault import Assault
from hostile_lab import ATTACKER, HONEST, JOB, RELAY, HostileLab
from namespaces import in_network
from recording import record, write_recording

_RECORDED_S = 1.5
_VICTIM = "n3"  # of local users: it begins new jobs


def _nothing(_: HostileLab) -> None:
    pass


def _begin_nothing(_: Assault) -> None:
    pass


@dataclass(frozen=True)
class Attack:
    name: str
    who: str
    what: str
    begin: Callable[[Assault], None] = _begin_nothing
    prepare: Callable[[HostileLab], None] = _nothing  # before the mesh is measured without the attack
    job: tuple[str, str] = JOB  # the nodes of new jobs
    names_job: bool = False  # the attack is on these nodes: such a job may take as long as a first circuit may
    earlier: str = "-"  # what it did before the bounds of docs/decisions/0025 to 0028; "-": not tried


def _record(lab: HostileLab) -> None:
    """The attacker records what a true node at its place and the relay send each other."""
    lab.start(ATTACKER)
    time.sleep(0.5)
    with in_network(ATTACKER):
        recording = record(lab.cables_of_attacker()[0][0], _RECORDED_S)
    write_recording(lab.scratch / "recording", recording)


def _record_earlier_life(lab: HostileLab) -> None:
    _record(lab)
    lab.kill(ATTACKER)


def _both_cables(lab: HostileLab) -> list[str]:
    return [f"{own},{theirs}" for _, own, theirs in lab.cables_of_attacker()]


def _datagrams(kind: str, per_second: int) -> Callable[[Assault], None]:
    def begin(assault: Assault) -> None:
        lab = assault.lab
        assault.run(ATTACKER, "send_datagrams.py", kind, str(per_second), str(lab.scratch / "recording"), *_both_cables(lab))
    return begin


def _insider(*options: str) -> Callable[[Assault], None]:
    return lambda assault: assault.run_hostile_node(*options)


def _claim_addresses(assault: Assault) -> None:
    """Of the cables of all honest nodes, in advertisements; and the first node's at its own port, too."""
    lab = assault.lab
    interface, stolen = lab.cables_of_attacker()[0][0], lab.addresses("n0")[0]
    lab.in_node(ATTACKER, "ip", "address", "add", f"{stolen}/24", "dev", interface)
    assault.afterwards(lambda: lab.in_node(ATTACKER, "ip", "address", "del", f"{stolen}/24", "dev", interface))
    assault.run_hostile_node("--claim", *lab.addresses(*HONEST))


def _path_from_attacker(lab: HostileLab) -> str:
    """Through the relay to n2, as the topology of the relay has it, which knows the attacker by now; in JSON."""
    hops, nodes = [], (ATTACKER, RELAY, "n2")
    deadline = time.monotonic() + 5
    while len(hops) < 2 and time.monotonic() < deadline:
        cables = lab.cableway(RELAY, "topology")["cables"]
        hops = []
        for here, there in zip(nodes, nodes[1:]):
            ends = [({end["node"]: end["address"] for end in cable["ends"]}, cable["name"]) for cable in cables]
            hops += [(name, end[here], end[there]) for end, name in ends if set(end) == {here, there}][:1]
    return json.dumps({"nodes": nodes, "hops": hops})


def _connections(kind: str) -> Callable[[Assault], None]:
    def begin(assault: Assault) -> None:
        assault.run(ATTACKER, "open_connections.py", kind, "1000", _both_cables(assault.lab)[0])
    return begin


def _set_ups(kind: str, number: int) -> Callable[[Assault], None]:
    def begin(assault: Assault) -> None:
        lab = assault.lab
        assault.run_hostile_node()
        path = _path_from_attacker(lab)
        _, own, theirs = json.loads(path)["hops"][0]
        port = []
        if kind == "hang":
            port = [str(assault.run("n2", "silent_process.py").await_line()["port"])]
        assault.run(ATTACKER, "open_connections.py", kind, str(number), f"{own},{theirs}", str(lab.key_file), path, *port)
    return begin


def _cannot_switch_users() -> str:
    return "" if os.geteuid() == 0 and _may_become(60_001) else "not run: this system does not let the lab switch users"


def _may_become(user: int) -> bool:
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setuid(user)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _take_sessions(assault: Assault) -> None:
    assault.note = _cannot_switch_users()
    if not assault.note:
        assault.run(_VICTIM, "take_sessions.py", "sessions")


def _take_name(assault: Assault) -> None:
    """Of the node's session socket, before the node starts: so it is started again."""
    assault.note = _cannot_switch_users()
    if assault.note:
        return
    assault.lab.stop(_VICTIM)
    assault.run(_VICTIM, "take_sessions.py", "name").await_line()
    assault.lab.start(_VICTIM)


ATTACKS = (
    Attack("control", "none", "no attack, as a control"),
    Attack("hellos-10", "outsider", "10 recorded datagrams a second, hellos of an earlier incarnation and of the relay itself,"
           " into both ports", _datagrams("replay", 10), _record_earlier_life,
           earlier="kept the real node out for as long as it went on"),
    Attack("hellos-1000", "outsider", "the same, 1,000 a second", _datagrams("replay", 1000), _record_earlier_life),
    Attack("garbage", "outsider", "10,000 random and changed control datagrams a second, beside a correct node",
           _datagrams("garbage", 10_000), _record, earlier="nothing"),
    Attack("pulses", "outsider", "10,000 random and changed pulses a second, beside a correct node",
           _datagrams("pulses", 10_000), _record),
    Attack("hold", "insider", "the longest hold time, 120 s, and the greatest boot nonce",
           _insider("--hold-ms", "120000", "--boot-nonce", str(2**64 - 2)),
           earlier="took the cable for the hold time, up to 600 s"),
    Attack("versions-1", "insider", "a forged advertisement a second, of n0, n2 and n3 in turn, with the latest version",
           _insider("--forge", "n0", "n2", "n3", "--per-second", "1"),
           earlier="an origin was gone for 300 s, or until its restart"),
    Attack("versions-100", "insider", "100 of them a second, of n3, while jobs of n2 and n0 begin",
           _insider("--forge", "n3", "--per-second", "100"), job=("n2", "n0")),
    Attack("versions-of-job", "insider", "100 of them a second, of n0, n2 and n3, while jobs of n3 and n0 begin",
           _insider("--forge", "n0", "n2", "n3", "--per-second", "100"), names_job=True),
    Attack("addresses", "insider", "claims the address of every cable", _claim_addresses,
           earlier="a real cable was gone for 292 s"),
    Attack("nodes", "insider", "4,096 invented nodes", _insider("--nodes", "4096", "--cables-each", "1"),
           earlier="no real node could join"),
    Attack("cables", "insider", "4,096 invented nodes with 65,536 cables",
           _insider("--nodes", "4096", "--cables-each", "16"),
           earlier="real cables were displaced; 28 s of processor time and 160 MB a node"),
    Attack("renew-own-100", "insider", "100 own advertisements a second, in which a cable comes and goes",
           _insider("--renew", "own", "--per-second", "100")),
    Attack("renew-own-1000", "insider", "the same, 1,000 a second", _insider("--renew", "own", "--per-second", "1000")),
    Attack("renew-invented-100", "insider", "100 advertisements a second of 64 invented nodes, each of which begins and"
           " ceases to drain", _insider("--renew", "invented", "--per-second", "100")),
    Attack("renew-invented-1000", "insider", "the same, 1,000 a second",
           _insider("--renew", "invented", "--per-second", "1000")),
    Attack("renew-ports", "insider", "1,000 lists of 1,024 TCP ports a second",
           _insider("--renew", "ports", "--per-second", "1000"), earlier="the relay stood still for seconds at a time"),
    Attack("setups", "insider", "1,200 set-ups at a time that hang", _set_ups("hang", 1200),
           earlier="no new circuit of anyone for 55 s"),
    Attack("ports", "insider", "200 set-ups a second to TCP ports where no process accepts circuits", _set_ups("untold", 200),
           earlier="the relay connected to any port"),
    Attack("connections", "outsider", "1,000 connections a second that send nothing", _connections("idle"),
           earlier="50 a second: the relay refused all others"),
    Attack("garbage-connections", "outsider", "1,000 connections a second that send garbage and go on sending",
           _connections("garbage")),
    Attack("sessions", "local users", "four users open as many sessions as they may", _take_sessions),
    Attack("session-name", "local user", "takes the name of the node's session socket before the node starts", _take_name,
           earlier="the node did not start"),
    Attack("control-again", "none", "no attack, as a control"),
)
