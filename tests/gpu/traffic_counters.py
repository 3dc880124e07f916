"""Bytes sent by a node and its TCP counters, from the texts of /proc/net/dev, /proc/net/snmp and /proc/net/netstat."""

from __future__ import annotations

MANAGEMENT_INTERFACE = "mg0"
_SENT_COLUMN = 8


def sent_bytes(text: str) -> dict[str, int]:
    """Bytes sent by interface, without the loopback one."""
    sent = {}
    for line in text.splitlines():
        name, colon, columns = line.partition(":")
        if colon and name.strip() != "lo":
            sent[name.strip()] = int(columns.split()[_SENT_COLUMN])
    return sent


# These cables lose nothing, so each of these counts is an anomaly that may explain a slow figure.
_TCP_ANOMALIES = ("RetransSegs", "TCPTimeouts", "TCPLossProbes", "TCPToZeroWindowAdv", "TCPRcvCollapsed")


def tcp_anomalies(*texts: str) -> dict[str, int]:
    """Anomalies by the kernel's name of the counter. The files have pairs of lines: names, then values."""
    found = {}
    for text in texts:
        lines = [line.split() for line in text.splitlines()]
        for names, values in zip(lines[::2], lines[1::2]):
            found |= {name: int(value) for name, value in zip(names[1:], values[1:]) if name in _TCP_ANOMALIES}
    return found


def difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before.get(name, 0) for name in sorted(after)}


def split(sent: dict[str, int]) -> tuple[int, int]:
    """(over cables, over the management network)."""
    management = sent.get(MANAGEMENT_INTERFACE, 0)
    return sum(sent.values()) - management, management
