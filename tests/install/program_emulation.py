"""Runs programs of another architecture as if they were the machine's own, scripts' and dpkg's included, without a change to
the machine: qemu-user is registered in a user namespace of its own, which Linux 6.7 and later allow."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_BINFMT = Path("/proc/sys/fs/binfmt_misc")
# An ELF header of arm64: a 64-bit little-endian program or shared object of machine 0xb7. F: the kernel opens the emulator
# now, so that it is found from within a chroot.
_ARM64 = (r":cableway-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
          r":\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:{}:F")
# Says so when it is in the namespace, waits until that has users, registers the emulator, and holds all of it.
_HOLD = f"""
echo entered; read -r mapped
mount -t binfmt_misc none {_BINFMT}
printf %s "$1" >{_BINFMT}/register
ip link set lo up
echo registered; read -r end || true
"""


class NoEmulation(Exception):
    """This machine cannot run programs of arm64; the message says why, and what would help."""


class Arm64Programs:
    """A context in which `enter` before a command runs it, as the user root, where arm64 programs run; with
    `enter_isolated` before it, it also has a network of its own, which has only `lo`."""

    def __init__(self) -> None:
        self.enter: list[str] = []
        self.enter_isolated: list[str] = []
        self._holder: subprocess.Popen[str] | None = None

    def __enter__(self) -> Arm64Programs:
        emulator = shutil.which("qemu-aarch64-static")
        if emulator is None:
            raise NoEmulation("'qemu-aarch64-static' is not in PATH: tools/setup.sh --all")
        holder = subprocess.Popen(["unshare", "--user", "--mount", "--net", "sh", "-ec", _HOLD, "sh", _ARM64.format(emulator)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._holder = holder
        assert holder.stdin is not None and holder.stdout is not None
        if holder.stdout.readline() == "entered\n":
            for kind in ("uid_map", "gid_map"):
                Path(f"/proc/{holder.pid}/{kind}").write_text(Path("/proc/self", kind).read_text())
            holder.stdin.write("mapped\n")
            holder.stdin.flush()
        if holder.stdout.readline() != "registered\n":
            errors = holder.communicate()[1].strip().replace("\n", "; ")
            raise NoEmulation(f"this kernel lets no user namespace register an emulator (Linux 6.7 or later does): {errors}")
        self.enter = ["nsenter", f"--target={holder.pid}", "--user", "--mount"]
        self.enter_isolated = [*self.enter, "--net"]
        return self

    def __exit__(self, *_: object) -> None:
        if self._holder is not None:
            self._holder.communicate()  # it ends with its input
