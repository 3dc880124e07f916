"""The `lab` command: its arguments, and the function that runs each verb."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from functools import partial

import cable_control
import cable_plugging
import supervisor
from address_plan import ADDRESSINGS, IPV4
from command_verbs import VerbParser, add_lab_verb, need_command, run_verb
from drawing import show
from lab_actions import LabActions, command_environment, env_file_writer
from lab_error import usage_error
from lab_network import LabPlan, build
from lab_registry import check_name, open_registry
from lab_state import TOPOLOGY_FILE, LabState, load_state
from node_commands import exec_in_control, exec_in_node
from routed_topology import routed_topology
from running_lab import in_lab
from shaping import parse_burst, parse_delay, parse_loss, parse_rate
from topology_file import load_topology, topology_text
from topology_spec import SPEC_FORMS

_LINK_HEADER_BYTES = 18  # an Ethernet header with a VLAN tag

_DESCRIPTION = """\
Builds nodes (network namespaces) joined by cables (veth pairs, each its own IP subnet), runs a command among them, and
takes them down again. Everything lives in namespaces of the lab's own: labs do not collide, need no root where the
system allows user namespaces, and leave nothing behind however they end."""

_EPILOG = """\
examples:
  lab run ring:4 -- lab show
  lab run ring:4 --rate 1gbit -- lab each -- ip -brief address
  lab run line:3 --forwarding -- lab exec n0 -- ping -c 3 10.7.1.2
  lab up torus:2x4 --name mine;  lab enter mine n0;  lab cut --lab mine c3;  lab down mine

exit status: that of COMMAND; 2 for a usage error; 77 when this system cannot run a lab;
126, 127 when COMMAND cannot be run; 1 otherwise."""


def _sysctl(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.startswith("net.") or "/" in key or ".." in key:
        raise usage_error(f"sysctl '{text}': expected net.KEY=VALUE, such as net.ipv4.tcp_congestion_control=reno")
    return key, value


def _plan(arguments: argparse.Namespace) -> LabPlan:
    if not 1280 <= arguments.mtu <= 65535:
        raise usage_error(f"mtu '{arguments.mtu}': expected 1280 to 65535")
    burst = 0 if arguments.burst is None else parse_burst(arguments.burst)
    if 0 < burst < arguments.mtu + _LINK_HEADER_BYTES:
        raise usage_error(f"burst '{arguments.burst}': a packet of the MTU, {arguments.mtu} bytes, does not pass")
    plan = LabPlan(
        spec=arguments.spec,
        topology=load_topology(arguments.spec),
        rate_bps=None if arguments.rate is None else parse_rate(arguments.rate),
        delay_us=None if arguments.delay in (None, "none") else parse_delay(arguments.delay),
        loss_ppm=parse_loss(arguments.loss),
        burst_bytes=burst,
        forwarding=arguments.forwarding,
        mtu=arguments.mtu,
        addressing=arguments.addresses,
        sysctls=[_sysctl(text) for text in arguments.sysctl],
    )
    if burst and not any(plan.shape_of(cable).rate_bps for cable in plan.topology.cables):
        raise usage_error(f"burst '{arguments.burst}': no cable has a rate; give --rate as well")
    return plan


def _run(arguments: argparse.Namespace) -> int:
    command, plan = need_command(arguments), _plan(arguments)
    return supervisor.run_lab(partial(build, plan), command, command_environment(), env_file_writer(arguments))


def _up(arguments: argparse.Namespace) -> int:
    plan, name = _plan(arguments), check_name(arguments.name)
    with open_registry() as registry:
        if registry.find(name) is not None:
            raise usage_error(f"lab '{name}' is up already; choose another name, or take it down with: lab down {name}")
        supervisor.start_background_lab(partial(build, plan), name,
                                        lambda process: registry.add(name, process, plan.spec))
    print(f"lab {name} is up: lab enter {name} [NODE]; lab down {name}")
    return 0


def _down(arguments: argparse.Namespace) -> int:
    with open_registry() as registry:
        supervisor.end_lab(registry.require(arguments.name))
        registry.remove(arguments.name)
    return 0


def _list(_: argparse.Namespace) -> int:
    with open_registry() as registry:
        for name, process, spec in registry.all():
            print(f"{name}  {spec}  pid {process.pid}")
    return 0


def _enter(arguments: argparse.Namespace) -> int:
    command = arguments.command_words or [os.environ.get("SHELL", "/bin/sh")]

    def body() -> int:
        state = load_state()
        if arguments.node is None:
            exec_in_control(state, command)
        exec_in_node(state, state.check_node(arguments.node), command)

    return in_lab(arguments.name, body)


_ACTIONS = LabActions(exec_in_node, cable_control)


def _plug(arguments: argparse.Namespace) -> int:
    rate = 0 if arguments.rate is None else parse_rate(arguments.rate)
    return _ACTIONS.change(arguments, lambda state: cable_plugging.plug(state, arguments.pair, rate))


def _unplug(arguments: argparse.Namespace) -> int:
    return _ACTIONS.change(arguments, lambda state: cable_plugging.unplug(state, state.cable(arguments.cable)))


def _shape(arguments: argparse.Namespace) -> int:
    if arguments.rate is None and arguments.delay is None and arguments.loss is None:
        raise usage_error("lab shape: expected at least one of --rate, --delay, --loss")

    def change(state: LabState) -> None:
        cable = state.cable(arguments.cable)
        now = state.cables[cable.name].shape
        cable_control.shape(state, cable, replace(
            now,
            rate_bps=now.rate_bps if arguments.rate is None else parse_rate(arguments.rate),
            delay_us=now.delay_us if arguments.delay is None else parse_delay(arguments.delay),
            loss_ppm=now.loss_ppm if arguments.loss is None else parse_loss(arguments.loss)))

    return _ACTIONS.change(arguments, change)


def _show(arguments: argparse.Namespace) -> int:
    def body() -> int:
        print(show(load_state()))
        return 0

    return in_lab(arguments.lab, body)


def _topology(arguments: argparse.Namespace) -> int:
    def body() -> int:
        if arguments.routed:
            print(topology_text(routed_topology(load_state(), arguments.routed)), end="")
        else:
            print(TOPOLOGY_FILE.read_text(encoding="utf-8"), end="")
        return 0

    return in_lab(arguments.lab, body)


def _add_plan_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help=f"{SPEC_FORMS}, or a topology FILE (TOML)")
    parser.add_argument("--rate", metavar="RATE",
                        help="rate of every cable in each direction, such as 1gbit; 'none' for no limit even where"
                             " the FILE gives rate_mbps (default: as the FILE says, else no limit)")
    parser.add_argument("--burst", metavar="BYTES",
                        help="bytes that a shaped cable may send at once after a pause, such as 32KiB (default:"
                             " 128KiB, or 1 ms at the rate)")
    parser.add_argument("--delay", metavar="TIME", help="delay in each direction, such as 1ms (default: none)")
    parser.add_argument("--loss", metavar="PERCENT", default="none",
                        help="random loss in each direction, such as 0.1%% (default: none)")
    parser.add_argument("--forwarding", action="store_true",
                        help="let the nodes' kernels forward IP, with static routes along shortest paths")
    parser.add_argument("--addresses", choices=ADDRESSINGS, default=IPV4,
                        help="of the cables, where a FILE gives none (default: ipv4); every cable has IPv6 link-local"
                             " ones as well, where the host has IPv6")
    parser.add_argument("--mtu", type=int, default=9000, help="of the cables (default: 9000)")
    parser.add_argument("--sysctl", metavar="KEY=VALUE", action="append", default=[],
                        help="a net.* setting to make in every node; may be repeated")


def _add_build_verbs(verbs: argparse._SubParsersAction) -> None:
    run = verbs.add_parser("run", help="build a lab, run a command in it, take it down",
                           usage="lab run SPEC [options] -- COMMAND...",
                           description="Builds the lab, runs COMMAND in its control namespace with LAB, LAB_DIR,"
                                       " LAB_NODES, LAB_CONTROL_ADDRESS and LAB_TOPOLOGY set and `lab` in PATH,"
                                       " takes the lab down, and exits with COMMAND's status.")
    _add_plan_options(run)
    run.add_argument("--env-file", metavar="FILE",
                     help="write the lab's variables there; another terminal that reads FILE (. FILE) can use lab exec,"
                          " cut, show .. on this lab")
    run.set_defaults(do=_run)
    up = verbs.add_parser("up", help="build a lab that stays in the background",
                          usage="lab up SPEC --name NAME [options]")
    _add_plan_options(up)
    up.add_argument("--name", required=True, help="what to call it")
    up.set_defaults(do=_up)
    down = verbs.add_parser("down", help="end a background lab and everything in it")
    down.add_argument("name", metavar="NAME")
    down.set_defaults(do=_down)
    verbs.add_parser("list", help="the background labs that are up").set_defaults(do=_list)
    enter = verbs.add_parser("enter", help="a shell, or a command, in a background lab",
                             usage="lab enter NAME [NODE] [-- COMMAND...]")
    enter.add_argument("name", metavar="NAME")
    enter.add_argument("node", metavar="NODE", nargs="?", help="default: the control namespace")
    enter.set_defaults(do=_enter)


def _add_node_verbs(verbs: argparse._SubParsersAction) -> None:
    run = add_lab_verb(verbs, "exec", _ACTIONS.exec, "run a command in a node", "[--lab NAME] NODE -- COMMAND...",
                        "Sets CABLEWAY_NODE, CABLEWAY_PORTS, LAB_NODE_INDEX and LAB_NODE_ADDRESS (on the management"
                        " network) as well.")
    run.add_argument("node", metavar="NODE")
    each = add_lab_verb(verbs, "each", _ACTIONS.each, "run a command in every node at once",
                         "[--lab NAME] [--nodes A,B] -- COMMAND...",
                         "Output lines carry the node's name; {} in COMMAND becomes it. Exits with the worst status.")
    each.add_argument("--nodes", metavar="A,B", help="only these")
    add_lab_verb(verbs, "show", _show, "draw the lab; its addresses and its cables' state", "[--lab NAME]")
    topology = add_lab_verb(verbs, "topology", _topology, "print the topology file", "[--lab NAME] [--routed A-B]...")
    topology.add_argument("--routed", metavar="A-B", action="append",
                          help="instead: only these pairs, joined by the kernels' forwarding (routed = true)")


def _add_cable_verbs(verbs: argparse._SubParsersAction) -> None:
    cut = add_lab_verb(verbs, "cut", _ACTIONS.cut, "cut a cable", "[--lab NAME] CABLE|A-B [--silent] [--one-way NODE]",
                        "Takes both ends' links down, so that both nodes see the loss of carrier.")
    cut.add_argument("--silent", action="store_true", help="packets vanish while the links stay up")
    cut.add_argument("--one-way", metavar="NODE", help="silently, and only what NODE sends")
    mend = add_lab_verb(verbs, "mend", _ACTIONS.mend, "undo a cut", "[--lab NAME] CABLE|A-B")
    shape = add_lab_verb(verbs, "shape", _shape, "change a cable's rate, delay or loss while packets flow",
                          "[--lab NAME] CABLE|A-B [--rate RATE] [--delay TIME] [--loss PERCENT]",
                          "What is not given is kept; 'none' removes a limit, delay or loss. The topology file is not"
                          " changed.")
    for option, metavar in (("--rate", "RATE"), ("--delay", "TIME"), ("--loss", "PERCENT")):
        shape.add_argument(option, metavar=metavar)
    plug = add_lab_verb(verbs, "plug", _plug, "plug in one more cable", "[--lab NAME] A-B [--rate RATE]",
                         "Between two nodes, or a node and a switch; `lab show` prints its name. It is unshaped unless"
                         " RATE is given.")
    plug.add_argument("pair", metavar="A-B")
    plug.add_argument("--rate", metavar="RATE")
    unplug = add_lab_verb(verbs, "unplug", _unplug, "remove a cable and its interfaces",
                           "[--lab NAME] CABLE|A-B", "Permanent: lab plug adds a new one. To lose carrier only: lab cut.")
    for parser in (cut, mend, shape, unplug):
        parser.add_argument("cable", metavar="CABLE|A-B", help="a cable's name, or the two nodes that it joins")


def _parser() -> argparse.ArgumentParser:
    parser = VerbParser(prog="lab", description=_DESCRIPTION, epilog=_EPILOG,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_build_verbs(verbs)
    _add_node_verbs(verbs)
    _add_cable_verbs(verbs)
    return parser


def main(words: list[str]) -> int:
    return run_verb(_parser(), words)
