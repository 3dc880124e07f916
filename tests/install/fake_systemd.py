"""Stand-ins for systemd in a root in which it does not run: one that records what the package asks of it, and one that
starts and ends the node."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from debian_root import DebianRoot

_ACTIVE = "root/active"  # there while the service is


def put_program(root: DebianRoot, path: str, text: str) -> None:
    (root.folder / path).unlink(missing_ok=True)
    (root.folder / path).write_text(f"#!/bin/sh\n{text}\n")
    (root.folder / path).chmod(0o755)


class FakeSystemd:
    """A root that looks as if systemd ran in it; records what the package asks of it."""

    def __init__(self, root: DebianRoot) -> None:
        self._root = root
        (root.folder / "run/systemd/system").mkdir(parents=True)
        put_program(root, "usr/bin/systemctl", f'case "$*" in *is-active*) test -e /{_ACTIVE} ;; esac')
        put_program(root, "usr/bin/deb-systemd-invoke", 'echo "$1" >>/root/actions')

    def install(self, package: str, is_active: bool = False, view: str | None = None) -> str:
        """Installs it while the service is in that state and the installed `cableway status` prints `view`, or fails."""
        (self._root.folder / _ACTIVE).unlink(missing_ok=True)
        (self._root.folder / "root/actions").unlink(missing_ok=True)
        if is_active:
            (self._root.folder / _ACTIVE).touch()
        if view is not None:
            put_program(self._root, "usr/lib/cableway/cableway", f"cat <<'VIEW'\n{view}VIEW\ntest -n '{view[:1]}'")
        return self._root.run("dpkg", "-i", package).stderr

    def actions(self) -> list[str]:
        file = self._root.folder / "root/actions"
        return file.read_text().split() if file.exists() else []


class ServingSystemd:
    """Does what scripts and operators ask of it before they go on: start, stop and restart of the node's unit."""

    def __init__(self, root: DebianRoot, start: Callable[[], None], stop: Callable[[], None]) -> None:
        """`start` and `stop` are called on a thread that lasts as long as this process."""
        self._root, self._start, self._stop = root, start, stop
        self._asked: list[str] = []
        (root.folder / "run/systemd/system").mkdir(parents=True)
        for fifo in ("asked", "done"):
            os.mkfifo(root.folder / "root" / fifo)
        ask = "echo \"$1\" >/root/asked && read -r said </root/done && [ \"$said\" = done ]"
        put_program(root, "usr/bin/deb-systemd-invoke", ask)
        put_program(root, "usr/bin/systemctl",
                    f'case "$*" in *is-active*) test -e /{_ACTIVE} ;; st*\\ cablewayd|restart\\ cablewayd) {ask} ;; esac')
        threading.Thread(target=self._serve, daemon=True).start()

    def take_asked(self) -> list[str]:
        """What was asked since the last call."""
        asked, self._asked = self._asked, []
        return asked

    def _serve(self) -> None:
        while True:
            asked = (self._root.folder / "root/asked").read_text().strip()
            self._asked.append(asked)
            said = "done"
            try:
                self._act(asked)
            except Exception as error:  # pylint: disable=broad-exception-caught  # the asking script fails with it
                said = f"failed: {error}"
            (self._root.folder / "root/done").write_text(f"{said}\n")

    def _act(self, asked: str) -> None:
        active = self._root.folder / _ACTIVE
        if asked in ("stop", "restart") and active.exists():
            active.unlink()
            self._stop()
        if asked in ("start", "restart") and not active.exists():
            self._start()
            active.touch()
