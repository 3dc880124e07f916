"""The programs that the demo runs, and how they are built."""

from __future__ import annotations

import os
import pwd
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import children
from demo_failure import DemoFailure

TREE = Path(__file__).resolve().parents[2]
_PRESET = "release"
_TARGETS = ["cablewayd", "cableway", "collperf", "nccl-net-cableway"]
_SIGN_OF_LIFE_S = 10.0  # between lines of progress where the output is no terminal
_ERROR_LINES = 60


@dataclass(frozen=True)
class Programs:
    folder: Path  # a build folder

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", self.folder.resolve())

    @property
    def cablewayd(self) -> Path:
        return self.folder / "bin" / "cablewayd"

    @property
    def cableway(self) -> Path:
        return self.folder / "bin" / "cableway"

    @property
    def collperf(self) -> Path:
        return self.folder / "bin" / "collperf"

    @property
    def plugin(self) -> Path:
        return self.folder / "lib" / "libnccl-net-cableway.so"

    def missing(self) -> list[Path]:
        return [path for path in (self.cablewayd, self.cableway, self.collperf, self.plugin)
                if not os.access(path, os.R_OK)]

    def check(self) -> None:
        if missing := self.missing():
            raise DemoFailure(f"{', '.join(path.name for path in missing)}: not built in {self.folder}")


def _builder() -> dict[str, Any]:
    """The user that builds: under sudo the calling user, so that no file in that user's tree belongs to root."""
    if os.geteuid() != 0 or "SUDO_UID" not in os.environ:
        return {}
    user = pwd.getpwuid(int(os.environ["SUDO_UID"]))
    if TREE.stat().st_uid != user.pw_uid:
        return {}
    environment = os.environ | {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": os.getgrouplist(user.pw_name, user.pw_gid),
            "env": environment}


class _Progress:
    """Prints ninja's progress: on a terminal in one line, elsewhere from time to time."""

    def __init__(self) -> None:
        self._begin = self._shown = time.monotonic()
        self._is_terminal = sys.stdout.isatty()

    def show(self, line: str) -> None:
        step = re.match(r"\[(\d+)/(\d+)\]", line)
        now = time.monotonic()
        if step is None or (not self._is_terminal and now - self._shown < _SIGN_OF_LIFE_S):
            return
        self._shown = now
        text = f"demo: building, {step[1]} of {step[2]} steps, {now - self._begin:.0f} s"
        print(f"\r{text}" if self._is_terminal else text, end="" if self._is_terminal else "\n", flush=True)

    def end(self) -> None:
        if self._is_terminal and self._shown != self._begin:
            print()


def _step(what: str, command: list[str], progress: _Progress | None = None) -> None:
    """Runs one step of the build; shows the end of its output when it fails."""
    process = children.start(command, dies_by=signal.SIGTERM, cwd=TREE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, **_builder())
    lines: list[str] = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines = [*lines[1 - _ERROR_LINES:], line.decode(errors="replace")]
            if progress:
                progress.show(lines[-1])
    except children.Interrupted as interruption:
        children.end(process, interruption.signal_number)
        raise
    finally:
        if progress:
            progress.end()
    if children.wait(process) != 0:
        sys.stdout.writelines(lines)
        raise DemoFailure(f"{what} failed; its output is above")


def _set_up() -> None:
    """Installs what is missing. Not tied to this process, and signals are not passed on: apt must not be stopped
    halfway."""
    done = subprocess.run([TREE / "tools" / "setup.sh"], check=False)
    if done.returncode != 0:
        raise DemoFailure("tools/setup.sh could not install what is missing; the reason is above")


def _make_folder(folder: Path) -> None:
    if folder.exists():
        return
    folder.mkdir()
    if builder := _builder():
        os.chown(folder, builder["user"], builder["group"])


def _may_build(folder: Path) -> bool:
    """Whether this user can write to the folder, or create it."""
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)


def build_programs(check_before_building: Callable[[], None]) -> Programs:
    """The programs of build/release, up to date where this user can write there. Installs what is missing; calls the
    check when it is about to build them for the first time."""
    folder = TREE / "build" / _PRESET
    programs = Programs(folder)
    if not _may_build(folder):
        if programs.missing():
            raise DemoFailure(f"nothing is built in {folder}, and this user cannot write there;"
                              " run tools/demo.sh as the owner of the tree first")
        return programs
    if programs.missing() or not (folder / "build.ninja").exists():
        _make_folder(folder.parent)
        _set_up()
        check_before_building()
        print("demo: configuring", flush=True)
        _step("cmake", ["cmake", "--preset", _PRESET])
        print("demo: building; the first time this takes minutes", flush=True)
    _step("the build", ["ninja", "-C", str(folder), *_TARGETS], _Progress())
    return programs
