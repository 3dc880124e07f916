"""The management network of a lab of guests: a switch between the guests' Unix datagram sockets and one interface of
the control namespace. For rendezvous, not for data.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct
from pathlib import Path

import kernel_tools
from address_plan import CONTROL_ADDRESS, MANAGEMENT_BITS, MANAGEMENT_INTERFACE
from guests.ethernet_switch import start_switch
from guests.switch_port import SwitchPort, wire_port

_ETH_P_ALL = 3
_SOL_PACKET, _PACKET_IGNORE_OUTGOING = 263, 23
_SIOCETHTOOL, _ETHTOOL_STXCSUM = 0x8946, 0x17
MTU = 1500
_CONTROL_MAC = "52:54:00:00:00:fe"
_UPLINK = "mg0-switch"  # the switch's end of the control namespace's mg0


def management_mac(node_index: int) -> str:
    return f"52:54:00:00:00:{node_index + 1:02x}"


def socket_of(folder: Path, node_index: int) -> Path:
    """Where a guest receives frames from the switch."""
    return folder / f"mg.{node_index}"


def switch_socket(folder: Path, node_index: int) -> Path:
    """Where the switch receives frames from that guest."""
    return folder / f"mg.{node_index}.switch"


def _no_checksum_offload(interface: str) -> None:
    """Makes the kernel complete checksums, and so also segment large packets, before they leave by this interface."""
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
    return port


def start_management_switch(folder: Path, node_count: int) -> None:
    """Makes mg0 in the current network namespace, and forks the switch, which is killed when its parent dies. Its
    sockets are in the folder."""
    guests = [wire_port(switch_socket(folder, index), socket_of(folder, index)) for index in range(node_count)]
    start_switch([SwitchPort(_uplink()), *guests])
