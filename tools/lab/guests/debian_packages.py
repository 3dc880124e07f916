"""Debian's packages of this release, for any architecture: downloaded and unpacked, never installed.

For another architecture than the host's, apt gets a state of its own: the system's lists and architectures stay as they
are, and root is not needed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from guests.guest_architecture import Architecture
from lab_error import LabError, log, unavailable_error


def _run(command: list[str], folder: Path | None = None) -> str:
    """Returns the command's stdout. Raises LabError with its error output."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _unpack_archives(folder: Path, target: Path) -> None:
    for archive in sorted(folder.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(archive), str(target)])


class DebianPackages:
    """Downloads into `folder`, and keeps the downloads."""

    def __init__(self, architecture: Architecture, folder: Path) -> None:
        for tool in ("apt-cache", "apt-get", "dpkg-deb"):
            if shutil.which(tool) is None:
                raise unavailable_error(f"'{tool}' is not in PATH: guests are made of Debian's packages")
        self._architecture = architecture
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._options = ["-q", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3"]
        if architecture.foreign:
            self._options += self._own_state()

    def _own_state(self) -> list[str]:
        state = self._folder.resolve() / "apt"
        for name in ("lists", "cache/archives", "etc"):
            (state / name).mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        settings = {"APT::Architecture": self._architecture.name, "APT::Architectures": self._architecture.name,
                    "Acquire::Languages": "none", "Dir::State": state, "Dir::State::status": state / "status",
                    "Dir::State::lists": state / "lists", "Dir::Cache": state / "cache",
                    "Dir::Etc::parts": state / "etc"}
        return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]

    def read_lists(self) -> bool:
        """Downloads the package lists; returns False where this user may not."""
        if not self._architecture.foreign and os.geteuid() != 0:
            return False
        log(f"downloading the lists of Debian's packages for {self._architecture.name}")
        _run(["apt-get", *self._options, "update"])
        return True

    def newest_kernel(self) -> str:
        """The name of the newest kernel's package."""
        name = f"linux-image-{self._architecture.name}"
        match = re.search(r"Depends: (linux-image-[0-9]\S*)", _run(["apt-cache", *self._options, "depends", name]))
        if match is None:
            raise LabError(f"apt has no Debian package {name}; `apt-get update` downloads the lists of packages")
        return match[1]

    def unpack(self, package: str, target: Path) -> None:
        """Unpacks that package alone."""
        kept = self._folder / package
        if not kept.exists():
            log(f"downloading Debian's {package} for {self._architecture.name}")
            with tempfile.TemporaryDirectory(dir=self._folder) as name:
                _run(["apt-get", *self._options, "download", package], Path(name))
                Path(name).chmod(0o755)
                shutil.copytree(name, kept)
        _unpack_archives(kept, target)

    def unpack_with_dependencies(self, packages: list[str], target: Path) -> None:
        """For a foreign architecture: unpacks these packages and all that they depend on."""
        log(f"downloading the guests' programs for {self._architecture.name}")
        _run(["apt-get", *self._options, "-y", "--no-install-recommends", "--download-only", "install", *packages])
        _unpack_archives(self._folder.resolve() / "apt" / "cache" / "archives", target)
