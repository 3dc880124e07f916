"""A fresh root of Debian 12 in a folder, in which packages are installed as on a new host."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

# What dpkg, apt, ldconfig and shadow's programs write whenever a package or a group comes or goes; names with a dash at
# the end are backups of the last change.
BOOKKEEPING = re.compile(r"""
    var/lib/dpkg/(status-old | available(-old)? | lock(-frontend)? | triggers/Lock)
  | var/log/(dpkg\.log | alternatives\.log | apt/.*)
  | var/cache/(ldconfig/aux-cache | apt/.* | debconf/.*) | var/lib/apt/.*
  | etc/(group- | gshadow- | subgid- | \.pwd\.lock)
  | (root | proc | dev)/.*""", re.VERBOSE)
# Of these other lines than ours may change: a package that is installed again is listed at another place.
LISTS = re.compile(r"var/lib/dpkg/(status|triggers/File|triggers/Unincorp|diversions|statoverride)")


def remove(folder: Path) -> None:
    """Removes a root, but nothing that is mounted in it."""
    subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True, timeout=120)


class DebianRoot:
    """A root folder owned by the user root; commands run in a chroot with a /proc of its own. `enter`, a command that
    enters namespaces, is put before them."""

    def __init__(self, folder: Path, enter: Sequence[str] = ()) -> None:
        self.folder = folder
        self._enter = list(enter)

    @classmethod
    def make(cls, folder: Path) -> DebianRoot:
        """A minimal system of Debian 12 from the distribution's mirror, with what apt would install beside the package."""
        remove(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        # In a mount namespace, which takes what mmdebstrap mounts with it, however that ends.
        subprocess.run(["unshare", "--mount", "mmdebstrap", "--mode=root", "--quiet", "--variant=minbase",
                        "--include=libnl-3-200,procps", "bookworm", str(folder)],
                       check=True, timeout=600, stdin=subprocess.DEVNULL)
        return cls(folder)

    def copy(self, folder: Path) -> DebianRoot:
        remove(folder)
        subprocess.run(["cp", "-a", str(self.folder), str(folder)], check=True, timeout=120)
        return DebianRoot(folder, self._enter)

    def command(self, *words: str) -> list[str]:
        """The command that runs `words` in the root; it and what it starts end with this process."""
        enter = f"mount --types proc proc {self.folder}/proc && exec chroot {self.folder} \"$@\""
        return [*self._enter, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
                "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", enter, "sh", *words]

    def run(self, *words: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL)
        if ok and done.returncode != 0:
            output = done.stdout + done.stderr
            raise AssertionError(f"{' '.join(words)} in {self.folder}: exit status {done.returncode}\n{output}")
        return done

    def bring(self, file: Path) -> str:
        """Copies a file to /root, and returns its path in the root."""
        shutil.copy(file, self.folder / "root" / file.name)
        return f"/root/{file.name}"

    def contents(self) -> dict[str, str]:
        """Every file with its kind, permissions and, where it has them, digest or target; without BOOKKEEPING. Of LISTS,
        the lines that name Cableway."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if not BOOKKEEPING.fullmatch(name):
                found[name] = _content(name, path)
        return found


def _content(name: str, path: Path) -> str:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"link to {os.readlink(path)}"
    kind = f"{stat.filemode(status.st_mode)} {status.st_uid}:{status.st_gid}"
    if not stat.S_ISREG(status.st_mode):
        return kind
    data = path.read_bytes()
    if LISTS.fullmatch(name):
        data = b"\n".join(line for line in data.splitlines() if b"cableway" in line.lower())
    return f"{kind} {hashlib.sha256(data).hexdigest()}"
