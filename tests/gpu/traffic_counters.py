"""Bytes that a node's interfaces have sent, from the text of /proc/net/dev (proc(5))."""

from __future__ import annotations

MANAGEMENT_INTERFACE = "mg0"
_SENT_COLUMN = 8


def sent_bytes(text: str) -> dict[str, int]:
    """By interface, without the loopback one."""
    sent = {}
    for line in text.splitlines():
        name, colon, columns = line.partition(":")
        if colon and name.strip() != "lo":
            sent[name.strip()] = int(columns.split()[_SENT_COLUMN])
    return sent


def difference(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before.get(name, 0) for name in sorted(after)}


def split(sent: dict[str, int]) -> tuple[int, int]:
    """(over cables, over the management network)."""
    management = sent.get(MANAGEMENT_INTERFACE, 0)
    return sum(sent.values()) - management, management
