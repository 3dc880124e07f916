"""The `softroce` command: its arguments, and the function that runs each verb."""

from __future__ import annotations

import argparse
import math
from functools import partial

import supervisor
from address_plan import IPV4
from command_verbs import VerbParser, add_lab_verb, need_command, run_verb
from drawing import show
from guests import guest_cables, guest_images, guest_lab
from guests.guest_architecture import ARCHITECTURES, Architecture, find_qemu, host_architecture
from guests.guest_commands import run_in_guest
from lab_actions import LabActions, command_environment, env_file_writer
from lab_error import usage_error
from lab_network import LabPlan
from lab_state import TOPOLOGY_FILE, load_state
from running_lab import in_lab
from shaping import parse_rate
from topology_file import load_topology
from topology_spec import SPEC_FORMS

_DESCRIPTION = """\
Builds nodes that are virtual machines (QEMU, emulated: no KVM needed), joined by cables, each cable's ends with a
soft-RoCE device, so that real verbs run over it; runs a command beside them, and takes them down again. Guests see the
host's files; what they write is private to them, except in LAB_DIR. Labs do not collide and leave nothing
behind however they end."""

_EPILOG = """\
examples:
  softroce run line:2 -- softroce each -- ibv_devinfo
  softroce run ring:4 --rate 40mbit -- softroce exec n0 -- ping -c 3 10.7.0.2
  softroce run line:3 --no-rdma c1 -- bash

exit status: that of COMMAND; 2 for a usage error; 77 when this system cannot run a lab;
124 when --timeout has passed; 126, 127 when COMMAND cannot be run; 1 otherwise."""


def _architecture(arguments: argparse.Namespace) -> Architecture:
    return ARCHITECTURES[arguments.arch] if arguments.arch else host_architecture()


def _plan(arguments: argparse.Namespace) -> guest_lab.GuestPlan:
    if not 1280 <= arguments.mtu <= 9000:
        raise usage_error(f"mtu '{arguments.mtu}': expected 1280 to 9000")
    if not 256 <= arguments.memory <= 65536:
        raise usage_error(f"memory '{arguments.memory}': expected 256 to 65536 MiB")
    topology = load_topology(arguments.spec)
    guest_lab.check_topology(topology)
    rate = None if arguments.rate is None else parse_rate(arguments.rate)
    plan = LabPlan(arguments.spec, topology, rate, forwarding=arguments.forwarding, mtu=arguments.mtu, addressing=IPV4)
    architecture = _architecture(arguments)
    find_qemu(architecture)
    images = guest_images.ready_images(architecture)
    return guest_lab.GuestPlan(plan, architecture, images, arguments.no_rdma, arguments.memory)


def _run(arguments: argparse.Namespace) -> int:
    command = need_command(arguments)
    if arguments.timeout <= 0:
        raise usage_error(f"timeout '{arguments.timeout:g}': expected seconds, more than 0")
    return supervisor.run_lab(partial(guest_lab.build, _plan(arguments)), command, command_environment(),
                              env_file_writer(arguments), arguments.timeout)


def _images(arguments: argparse.Namespace) -> int:
    if arguments.check:
        return 0 if guest_images.find_images(_architecture(arguments)) else 1
    images = guest_images.make_images(_architecture(arguments))
    print(f"{images.kernel}\n{images.ram_disk}")
    return 0


_ACTIONS = LabActions(run_in_guest, guest_cables, with_guests=True)


def _show(arguments: argparse.Namespace) -> int:
    def body() -> int:
        state = load_state()
        print(show(state))
        print("\nRDMA devices: " + (", ".join(guest_lab.rdma_devices(state.topology)) or "none"))
        return 0

    return in_lab(arguments.lab, body, with_guests=True)


def _topology(arguments: argparse.Namespace) -> int:
    def body() -> int:
        print(TOPOLOGY_FILE.read_text(encoding="utf-8"), end="")
        return 0

    return in_lab(arguments.lab, body, with_guests=True)


def _add_run(verbs: argparse._SubParsersAction) -> None:
    run = verbs.add_parser("run", help="start guests, run a command beside them, take them down",
                           usage="softroce run SPEC [options] -- COMMAND...",
                           description="Starts the guests, runs COMMAND on the host, on their management network, with"
                                       " LAB, LAB_DIR, LAB_NODES, LAB_CONTROL_ADDRESS and LAB_TOPOLOGY set and"
                                       " `softroce` in PATH; takes them down, and exits with COMMAND's status.")
    run.add_argument("spec", metavar="SPEC", help=f"{SPEC_FORMS}, or a topology FILE (TOML)")
    run.add_argument("--rate", metavar="RATE",
                     help="rate of every cable in each direction, such as 40mbit; 'none' for no limit even where the"
                          " FILE gives rate_mbps (default: as the FILE says, else no limit)")
    run.add_argument("--mtu", type=int, default=4200, help="of the cables (default: 4200, for an RDMA MTU of 4096)")
    run.add_argument("--no-rdma", metavar="CABLE", action="append", default=[],
                     help="no RDMA devices at this cable's ends; may be repeated")
    run.add_argument("--forwarding", action="store_true",
                     help="let the guests' kernels forward IP, with static routes along shortest paths")
    run.add_argument("--memory", metavar="MIB", type=int, default=768, help="of each guest (default: 768)")
    run.add_argument("--timeout", metavar="S", type=float, default=math.inf,
                     help="end everything S seconds after the guests are up (default: never)")
    run.add_argument("--env-file", metavar="FILE",
                     help="write the lab's variables there; another terminal that reads FILE (. FILE) can use softroce"
                          " exec, cut, show .. on this lab")
    run.set_defaults(do=_run)


def _parser() -> argparse.ArgumentParser:
    parser = VerbParser(prog="softroce", description=_DESCRIPTION, epilog=_EPILOG,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_run(verbs)
    images = verbs.add_parser("images", help="make the guests' kernel and RAM disk now, for which `run` needs a network")
    images.add_argument("--check", action="store_true", help="only report, by the exit status, whether they exist")
    images.set_defaults(do=_images)
    for parser_of_guests in (verbs.choices["run"], images):
        parser_of_guests.add_argument("--arch", choices=sorted(ARCHITECTURES), help="of the guests (default: the host's)")
    run = add_lab_verb(verbs, "exec", _ACTIONS.exec, "run a command in a guest", "[--lab HANDLE] NODE -- COMMAND...",
                       "Its output and exit status are those of COMMAND, which has no stdin. Signals are forwarded to"
                       " it; when softroce exec is killed, so are COMMAND and its process group.")
    run.add_argument("node", metavar="NODE")
    each = add_lab_verb(verbs, "each", _ACTIONS.each, "run a command in every guest at once",
                        "[--lab HANDLE] [--nodes A,B] -- COMMAND...",
                        "Output lines carry the node's name; {} in COMMAND becomes it. Exits with the worst status.")
    each.add_argument("--nodes", metavar="A,B", help="only these")
    cut = add_lab_verb(verbs, "cut", _ACTIONS.cut, "cut a cable", "[--lab HANDLE] CABLE|A-B [--silent] [--one-way NODE]",
                       "Takes the carrier down at both ends, as the guests there see.")
    cut.add_argument("--silent", action="store_true", help="packets vanish while the links stay up")
    cut.add_argument("--one-way", metavar="NODE", help="silently, and only what NODE, or a switch, sends")
    mend = add_lab_verb(verbs, "mend", _ACTIONS.mend, "undo a cut", "[--lab HANDLE] CABLE|A-B")
    for parser_of_cable in (cut, mend):
        parser_of_cable.add_argument("cable", metavar="CABLE|A-B", help="a cable's name, or the two nodes that it joins")
    add_lab_verb(verbs, "show", _show, "draw the lab; its addresses, its cables' state, RDMA devices", "[--lab HANDLE]")
    add_lab_verb(verbs, "topology", _topology, "print the topology file", "[--lab HANDLE]")
    return parser


def main(words: list[str]) -> int:
    return run_verb(_parser(), words)
