"""A made-up /sys for a node of the lab: its interfaces are functions of split ports, each with its own PCIe link that is
slower than the wire, as on hosts whose adapter has two links. Without it, a node assumes that one function fills the wire."""

from __future__ import annotations

from pathlib import Path

_WIRE_MBPS = 10_000  # what the kernel reports of the lab's interfaces
_LINK_SPEED, _LINK_WIDTH = "2.5 GT/s PCIe", "2"  # 4 Gbit/s


def write_tree(folder: Path, interfaces: tuple[str, ...]) -> None:
    """Does nothing where the folder exists."""
    if folder.exists():
        return
    for place, interface in enumerate(interfaces):
        root = folder / f"devices/pci000{place}:00/000{place}:00:00.0"
        function = root / f"000{place}:01:00.0"
        (function / "net" / interface).mkdir(parents=True)
        (function / "net" / interface / "device").symlink_to("../..")
        (function / "net" / interface / "speed").write_text(f"{_WIRE_MBPS}\n", encoding="ascii")
        for device in (root, function):
            for which in ("current", "max"):
                (device / f"{which}_link_speed").write_text(_LINK_SPEED + "\n", encoding="ascii")
                (device / f"{which}_link_width").write_text(_LINK_WIDTH + "\n", encoding="ascii")
        shown = folder / "class/net" / interface
        shown.parent.mkdir(parents=True, exist_ok=True)
        shown.symlink_to(Path("../..") / (function / "net" / interface).relative_to(folder))


def command_that_sees(folder: Path, command: list[str]) -> list[str]:
    """The command with that folder as its /sys, in its own mount namespace."""
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /sys && exec "$@"', str(folder), *command]
