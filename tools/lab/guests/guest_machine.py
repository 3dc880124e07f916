"""One guest: the QEMU process that is a node, with a network port for each of its cables.

The processor is emulated (TCG), so /dev/kvm is not needed. A cable is two Unix datagram sockets, one at each guest
or at a switch, without a process in between: packets that the receiver cannot accept yet stay at the sender.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from guests import guest_files
from guests import management_switch
from guests.guest_architecture import Architecture, find_qemu
from guests.guest_images import Images
from namespaces import LAB_DIR
from topology_spec import Cable

MAX_GUEST_CABLES = 24  # the guest's bus has 32 slots


@dataclass(frozen=True)
class Port:
    """The end of the cable with that number, at a guest or at a switch."""

    cable_number: int
    end: int  # 0 or 1

    @property
    def mac(self) -> str:
        return f"52:54:01:{self.end:02x}:{self.cable_number >> 8:02x}:{self.cable_number & 0xff:02x}"

    @property
    def device(self) -> str:
        """QEMU's name of the network card."""
        return f"port{self.cable_number}"

    @property
    def wire(self) -> str:
        """QEMU's name of the network backend behind the card."""
        return f"wire{self.cable_number}"

    def socket(self) -> str:
        return str(guest_files.WIRES_DIR / f"c{self.cable_number}.{self.end}")

    def other(self) -> Port:
        return Port(self.cable_number, 1 - self.end)


def port_at(cable: Cable, number: int, node: str) -> Port:
    return Port(number, 0 if cable.ends[0].node == node else 1)


@dataclass(frozen=True)
class Machine:
    node: str
    index: int
    ports: list[Port]
    mtu: int
    memory_mb: int
    architecture: Architecture

    def _wires(self) -> list[str]:
        folder = guest_files.WIRES_DIR
        words = ["-netdev", _dgram("management", str(management_switch.socket_of(folder, self.index)),
                                   str(management_switch.switch_socket(folder, self.index))),
                 "-device", _card("management", "mg0", management_switch.management_mac(self.index),
                                  management_switch.MTU)]
        for port in self.ports:
            words += ["-netdev", _dgram(port.wire, port.socket(), port.other().socket()),
                      "-device", _card(port.wire, port.device, port.mac, self.mtu)]
        return words

    def _folders(self, images: Images) -> list[str]:
        """The shares of the host's files; the RAM disk mounts them."""
        def shared(tag: str, path: object, options: str) -> list[str]:
            return ["-virtfs", f"local,path={path},security_model=none,mount_tag={tag},multidevs=remap{options}"]

        programs = shared("programs", images.programs, ",readonly=on") if images.programs else []
        return [*shared("host", "/", ",readonly=on"), *shared("lab", LAB_DIR, ""), *programs]

    def command(self, images: Images) -> list[str]:
        kernel_line = (f"{self.architecture.kernel_options} quiet panic=-1 mitigations=off nokaslr random.trust_cpu=on"
                       f" lab_dir={LAB_DIR} lab_start={guest_files.start_script(self.node)}")
        return [
            find_qemu(self.architecture), "-name", self.node, *self.architecture.machine,
            "-accel", "tcg,thread=multi", "-smp", "1", "-m", str(self.memory_mb),
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-serial", f"file:{guest_files.console_file(self.node)}",
            "-qmp", f"unix:{guest_files.monitor_socket(self.node)},server=on,wait=off",
            "-kernel", str(images.kernel), "-initrd", str(images.ram_disk), "-append", kernel_line,
            *self._folders(images), *self._wires(),
        ]


def _dgram(name: str, local: str, remote: str) -> str:
    return f"dgram,id={name},local.type=unix,local.path={local},remote.type=unix,remote.path={remote}"


def _card(wire: str, name: str, mac: str, mtu: int) -> str:
    return f"virtio-net-pci,netdev={wire},id={name},mac={mac},host_mtu={mtu},romfile="


def start_machine(machine: Machine, images: Images) -> subprocess.Popen[bytes]:
    """Starts the guest, in a process session of its own: a terminal's Ctrl-C is for the lab's command."""
    with open(guest_files.qemu_log(machine.node), "wb") as log:
        process = subprocess.Popen(machine.command(images), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True)
    guest_files.write_pid(machine.node, process.pid)
    return process
