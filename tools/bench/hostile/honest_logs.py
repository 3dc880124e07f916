"""What honest nodes log during an attack: whether they name it, and whether they lose each other."""

from __future__ import annotations

import re
from pathlib import Path

from hostile_lab import ATTACKER, HONEST, HostileLab

_CABLE_LOST = re.compile(r"\] CABLE_LOST ")
_OWN_CABLE_LOST = re.compile(rf"^.*\] CABLE_LOST cable \S+ to node {ATTACKER} .*$", re.MULTILINE)
_NAMES = re.compile(r"\] \[(?:(?:warning|error)\] ([A-Z_]+)|info\] ([A-Z_]+_REFUSED)) ")


class Logged:
    """What the honest nodes log from now on."""

    def __init__(self, lab: HostileLab) -> None:
        self._lab = lab
        self._before = {node: (lab.daemons[node].pid, len(lab.daemons[node].output_from(0))) for node in HONEST}

    def _text(self) -> str:
        """Of all of them; the whole log of a node that was started again."""
        texts = []
        for node, (pid, length) in self._before.items():
            process = self._lab.daemons[node]
            texts.append(process.output_from(length if process.pid == pid else 0).decode(errors="replace"))
        return "\n".join(texts)

    def named_by(self) -> tuple[str, ...]:
        """The codes of warnings, and of what was refused, but for the attacker's own cables that were lost."""
        found = {warning or refused for warning, refused in _NAMES.findall(_OWN_CABLE_LOST.sub("", self._text()))}
        return tuple(sorted(found))

    def lost_cables(self) -> int:
        """How often a cable between honest nodes was found lost, at either end."""
        return len(_CABLE_LOST.findall(_OWN_CABLE_LOST.sub("", self._text())))


def keep_logs(lab: HostileLab, attack: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for node, process in lab.daemons.items():
        (folder / f"{attack}-{node}.log").write_text(process.output(), encoding="utf-8")
