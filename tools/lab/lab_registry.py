"""Where background labs (`lab up`) are found: one small file each in the user's runtime directory."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from lab_error import LabError, usage_error
from supervisor import LabProcess


def _directory() -> Path:
    """$XDG_RUNTIME_DIR/cableway-lab, else /tmp/cableway-lab-UID; created if needed, and writable by this user only."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    path = Path(runtime, "cableway-lab") if runtime else Path(f"/tmp/cableway-lab-{os.getuid()}")
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise LabError(f"{path}: cannot keep the list of labs there: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise LabError(f"{path}: expected a directory that only you can write to; remove it or set XDG_RUNTIME_DIR")
    return path


def check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,31}", name):
        raise usage_error(f"lab name '{name}': expected a letter, then at most 31 letters, digits, '_' or '-'")
    return name


class Registry:
    """The user's background labs of this pid namespace: pids of another namespace are meaningless here. Create
    it with open_registry(), which locks other commands out."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._suffix = f"@{os.stat('/proc/self/ns/pid').st_ino}.json"

    def _path(self, name: str) -> Path:
        return self._directory / (check_name(name) + self._suffix)

    def find(self, name: str) -> tuple[LabProcess, str] | None:
        """The lab's first process and its spec; None, with its file removed, if it has ended."""
        path = self._path(name)
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            process, spec = LabProcess(int(entry["pid"]), int(entry["start"])), str(entry["spec"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            path.unlink()
            return None
        if not process.alive():
            path.unlink()
            return None
        return process, spec

    def require(self, name: str) -> LabProcess:
        found = self.find(name)
        if found is None:
            names = ", ".join(entry for entry, _, _ in self.all()) or "none"
            raise usage_error(f"lab '{name}': no such lab is up (up: {names}); see lab list")
        return found[0]

    def add(self, name: str, process: LabProcess, spec: str) -> None:
        entry = {"pid": process.pid, "start": process.start, "spec": spec}
        self._path(name).write_text(json.dumps(entry), encoding="utf-8")

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def all(self) -> list[tuple[str, LabProcess, str]]:
        labs = []
        for path in sorted(self._directory.glob(f"*{self._suffix}")):
            name = path.name.removesuffix(self._suffix)
            found = self.find(name)
            if found is not None:
                labs.append((name, *found))
        return labs


@contextlib.contextmanager
def open_registry() -> Iterator[Registry]:
    directory = _directory()
    with open(directory / "lock", "w", encoding="ascii") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)  # the lab that `up` forks would inherit a flock
        yield Registry(directory)
