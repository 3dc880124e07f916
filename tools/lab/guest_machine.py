"""One guest: the QEMU process that is a node, with a network port for each of its cables.

The processor is emulated (TCG), so /dev/kvm is not needed. A cable is two Unix datagram sockets, one at each guest: no
process stands between, and what one guest cannot take yet its neighbour keeps.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

import guest_files
import management_switch
from guest_images import Images
from lab_error import unavailable_error
from namespaces import LAB_DIR
from topology_spec import Cable

_QEMU = "qemu-system-x86_64"
MOST_CABLES = 24  # of a guest: its bus has 32 places


def find_qemu() -> str:
    path = shutil.which(_QEMU)
    if path is None:
        raise unavailable_error(f"'{_QEMU}' is not in PATH: tools/setup.sh --verbs installs it (Debian's package"
                                " qemu-system-x86)")
    return path


@dataclass(frozen=True)
class Port:
    """A guest's end of the cable with that number."""

    cable_number: int
    end: int  # 0 or 1

    @property
    def mac(self) -> str:
        return f"52:54:01:{self.end:02x}:{self.cable_number >> 8:02x}:{self.cable_number & 0xff:02x}"

    @property
    def device(self) -> str:
        """What QEMU calls the network card."""
        return f"port{self.cable_number}"

    @property
    def wire(self) -> str:
        """What QEMU calls that which the card is plugged into."""
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

    def _wires(self) -> list[str]:
        folder = guest_files.WIRES_DIR
        words = ["-netdev", _dgram("management", str(management_switch.socket_of(folder, self.index)),
                                   str(management_switch.switch_socket(folder))),
                 "-device", _card("management", "mg0", management_switch.management_mac(self.index),
                                  management_switch.MTU)]
        for port in self.ports:
            words += ["-netdev", _dgram(port.wire, port.socket(), port.other().socket()),
                      "-device", _card(port.wire, port.device, port.mac, self.mtu)]
        return words

    def command(self, qemu: str, images: Images) -> list[str]:
        kernel_line = ("console=ttyS0 quiet panic=-1 mitigations=off nokaslr random.trust_cpu=on tsc=reliable"
                       f" lab_dir={LAB_DIR} lab_start={guest_files.start_script(self.node)}")
        return [
            qemu, "-name", self.node, "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "1",
            "-m", str(self.memory_mb), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-serial", f"file:{guest_files.console_file(self.node)}",
            "-qmp", f"unix:{guest_files.monitor_socket(self.node)},server=on,wait=off",
            "-kernel", str(images.kernel), "-initrd", str(images.ram_disk), "-append", kernel_line,
            "-virtfs", "local,path=/,security_model=none,mount_tag=host,readonly=on,multidevs=remap",
            "-virtfs", f"local,path={LAB_DIR},security_model=none,mount_tag=lab,multidevs=remap",
            *self._wires(),
        ]


def _dgram(name: str, local: str, remote: str) -> str:
    return f"dgram,id={name},local.type=unix,local.path={local},remote.type=unix,remote.path={remote}"


def _card(wire: str, name: str, mac: str, mtu: int) -> str:
    return f"virtio-net-pci,netdev={wire},id={name},mac={mac},host_mtu={mtu},romfile="


def start_machine(machine: Machine, qemu: str, images: Images) -> subprocess.Popen[bytes]:
    """The guest begins to boot. In a session of its own: a terminal's Ctrl-C is for the lab's command."""
    with open(guest_files.qemu_log(machine.node), "wb") as log:
        process = subprocess.Popen(machine.command(qemu, images), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True)
    guest_files.write_pid(machine.node, process.pid)
    return process
