"""The initial RAM disk of a guest: busybox, the kernel's modules, and a script that makes the host's files the guest's.

The archive is cpio's "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst in Linux), uncompressed:
an emulated processor would spend longer on unpacking it than the disk on reading it.
"""

from __future__ import annotations

import lzma
import re
from pathlib import Path

from lab_error import LabError

# rdma_rxe finds its checksum by name: without crc32_generic "rdma link add" fails without a reason.
_WANTED = ["crc32_generic", "virtio_pci", "virtio_net", "9pnet_virtio", "9p", "overlay", "ib_uverbs", "rdma_ucm",
           "rdma_rxe", "sch_tbf", "sch_netem"]
_APPLETS = ["sh", "cat", "insmod", "mkdir", "mount", "switch_root"]
_SUFFIXES = (".ko", ".ko.xz")

# Everything that the guest writes stays in its own memory, but for what it writes to the lab's folder.
_INIT = """#!/bin/sh
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for word in $(cat /proc/cmdline); do
  case $word in lab_dir=*) lab_dir=${word#*=} ;; lab_start=*) lab_start=${word#*=} ;; esac
done
for module in $(cat /modules/order); do
  insmod /modules/$module || echo "softroce: insmod $module failed"
done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /host
mount -t tmpfs -o mode=0755 own /own
mkdir /own/files /own/work
lower=/host
if mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose programs /programs 2>/dev/null; then
  lower=/programs:/host
fi
mount -t overlay -o lowerdir=$lower,upperdir=/own/files,workdir=/own/work root /root
for folder in proc sys dev; do
  mount --move /$folder /root/$folder
done
mount -t tmpfs -o mode=0755 run /root/run
mkdir -p /root/dev/pts /root/dev/shm /root$lab_dir
mount -t devpts pts /root/dev/pts
mount -t tmpfs -o mode=1777 shm /root/dev/shm
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none lab /root$lab_dir
exec switch_root /root /bin/sh $lab_start
"""


class _Modules:
    """A kernel's modules, and which of them each one needs."""

    def __init__(self, folder: Path) -> None:
        self._files = {self._name(path.name): path for path in folder.rglob("*.ko*") if path.name.endswith(_SUFFIXES)}
        builtin = (folder / "modules.builtin").read_text(encoding="utf-8")
        self._builtin = {self._name(Path(line).name) for line in builtin.splitlines()}

    @staticmethod
    def _name(file_name: str) -> str:
        return file_name.partition(".ko")[0].replace("-", "_")

    def _content(self, name: str) -> bytes:
        path = self._files[name]
        content = path.read_bytes()
        return lzma.decompress(content) if path.suffix == ".xz" else content

    def with_needed(self, wanted: list[str]) -> dict[str, bytes]:
        """The modules' contents by name, in an order in which they can be loaded."""
        loaded: dict[str, bytes] = {}

        def add(name: str) -> None:
            if name in loaded or name in self._builtin:
                return
            if name not in self._files:
                raise LabError(f"this kernel has no module {name}, which guests need")
            content = self._content(name)
            needs = re.search(rb"\0depends=([^\0]*)\0", content)  # in the section .modinfo
            for other in needs[1].decode().split(",") if needs and needs[1] else []:
                add(other.replace("-", "_"))
            loaded[name] = content

        for name in wanted:
            add(name)
        return loaded


class _Archive:
    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._entries = 0

    def add(self, name: str, mode: int, content: bytes = b"") -> None:
        """`mode` with the type of the file, as stat() has it."""
        self._entries += 1
        path = name.encode() + b"\0"
        fields = (self._entries, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + path
        for part in (head, content):
            self._parts += [part, b"\0" * (-len(part) % 4)]

    def finish(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return b"".join(self._parts)


def initial_ram_disk(busybox: Path, modules_dir: Path) -> bytes:
    """The archive for the kernel whose modules are in `modules_dir`; busybox has to be a static program."""
    archive = _Archive()
    for folder in ("bin", "proc", "sys", "dev", "host", "programs", "own", "root", "modules"):
        archive.add(folder, 0o040755)
    archive.add("init", 0o100755, _INIT.encode())
    archive.add("bin/busybox", 0o100755, busybox.read_bytes())
    for applet in _APPLETS:
        archive.add(f"bin/{applet}", 0o120777, b"busybox")
    modules = _Modules(modules_dir).with_needed(_WANTED)
    archive.add("modules/order", 0o100644, "".join(f"{name}.ko\n" for name in modules).encode())
    for name, content in modules.items():
        archive.add(f"modules/{name}.ko", 0o100644, content)
    return archive.finish()
