"""The management network of a lab of guests: a process that passes Ethernet frames between the guests' Unix datagram
sockets and one interface of the control namespace. For rendezvous: thousands of frames a second, not more.

It knows who has which hardware address because the lab gives them out; frames to any other go to everybody.
"""

from __future__ import annotations

import array
import fcntl
import select
import socket
import struct
from pathlib import Path

import kernel_tools
from address_plan import CONTROL_ADDRESS, MANAGEMENT_BITS, MANAGEMENT_INTERFACE
from namespaces import fork_server

_ETH_P_ALL = 3
_SOL_PACKET, _PACKET_IGNORE_OUTGOING = 263, 23
_SIOCETHTOOL, _ETHTOOL_STXCSUM = 0x8946, 0x17
_LARGEST_FRAME_BYTES = 64 << 10
_FRAMES_PER_TURN = 64
MTU = 1500
_CONTROL_MAC = "52:54:00:00:00:fe"
_UPLINK = "mg0-switch"  # the switch's end of the control namespace's mg0


def management_mac(node_index: int) -> str:
    return f"52:54:00:00:00:{node_index + 1:02x}"


def socket_of(folder: Path, node_index: int) -> Path:
    """Where a guest takes frames from the switch."""
    return folder / f"mg.{node_index}"


def switch_socket(folder: Path) -> Path:
    return folder / "mg.switch"


def _no_checksum_offload(interface: str) -> None:
    """The kernel completes checksums, and so also cuts large segments, before packets leave by this interface."""
    value = array.array("B", struct.pack("II", _ETHTOOL_STXCSUM, 0))
    request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCETHTOOL, request)


def _uplink() -> socket.socket:
    """Makes the control namespace's interface; returns the switch's socket at its other end."""
    kernel_tools.batch("ip", [
        f"link add name {MANAGEMENT_INTERFACE} mtu {MTU} address {_CONTROL_MAC} type veth peer name {_UPLINK} mtu {MTU}",
        f"address add {CONTROL_ADDRESS}/{MANAGEMENT_BITS} dev {MANAGEMENT_INTERFACE}",
        f"link set dev {_UPLINK} up", f"link set dev {MANAGEMENT_INTERFACE} up"])
    _no_checksum_offload(MANAGEMENT_INTERFACE)
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    port.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    port.bind((_UPLINK, _ETH_P_ALL))
    port.setblocking(False)
    return port


def _bytes_of(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


class _Switch:
    def __init__(self, folder: Path, node_count: int) -> None:
        self._uplink, self._control = _uplink(), _bytes_of(_CONTROL_MAC)
        self._hub = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._hub.bind(str(switch_socket(folder)))
        self._hub.setblocking(False)
        self._guests = {_bytes_of(management_mac(index)): str(socket_of(folder, index))
                        for index in range(node_count)}

    def _send(self, frame: bytes, guest: str) -> None:
        try:
            self._hub.sendto(frame, guest)
        except OSError:  # its queue is full, or it is not up yet: lost, as on any network
            pass

    def _send_up(self, frame: bytes) -> None:
        try:
            self._uplink.send(frame)
        except OSError:
            pass

    def _pass_on(self, frame: bytes, source: str) -> None:
        """`source`: the guest's socket, or nothing for the control namespace."""
        target = frame[:6]
        if target in self._guests:
            self._send(frame, self._guests[target])
            return
        if target == self._control:
            self._send_up(frame)
            return
        for guest in self._guests.values():
            if guest != source:
                self._send(frame, guest)
        if source:
            self._send_up(frame)

    def _take(self, port: socket.socket) -> None:
        for _ in range(_FRAMES_PER_TURN):
            try:
                frame, source = port.recvfrom(_LARGEST_FRAME_BYTES)
            except OSError:  # nothing more to read
                return
            self._pass_on(frame, source if port is self._hub else "")

    def serve(self) -> None:
        while True:
            readable, _, _ = select.select([self._hub, self._uplink], [], [])
            for port in readable:
                self._take(port)


def start_management_switch(folder: Path, node_count: int) -> None:
    """Makes mg0 in the current network namespace, and forks the process, which dies with its parent. Its sockets are in
    the folder."""
    fork_server(_Switch(folder, node_count).serve)
