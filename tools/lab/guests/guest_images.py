"""What guests start from: a kernel, an initial RAM disk and, for another processor than the host's, programs; all made
of Debian's packages. They are kept in build/softroce, one folder for each version of the kernel and way of making them.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from guests import initial_ram_disk
from guests import kernel_image
from guests.debian_packages import DebianPackages
from guests.guest_architecture import Architecture
from lab_error import EXIT_UNAVAILABLE, LabError

_IMAGES_DIR = Path(__file__).resolve().parents[3] / "build" / "softroce"
_BUSYBOX = "busybox-static"
# In guests whose processor is not the host's. Each stands before the host's file of the same name.
_PROGRAMS = ["bash", "coreutils", "dash", "findutils", "grep", "hostname", "ibverbs-providers", "ibverbs-utils",
             "iproute2", "iputils-ping", "kmod", "libgcc-s1", "libstdc++6", "mawk", "perftest", "procps", "python3", "sed",
             "util-linux"]


@dataclass(frozen=True)
class Images:
    kernel: Path
    ram_disk: Path
    programs: Path | None  # a folder laid over the host's files


def _recipe() -> str:
    """A hash of how images are made: images made differently are not used."""
    sources = [Path(module.__file__ or "") for module in (initial_ram_disk, kernel_image)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources) + repr(_PROGRAMS).encode()).hexdigest()[:8]


def _complete(folder: Path) -> bool:
    return (folder / "complete").exists()


def _images_in(folder: Path, architecture: Architecture) -> Images:
    return Images(folder / "kernel", folder / "initrd", folder / "programs" if architecture.foreign else None)


def _version(folder: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", folder.name.rpartition("-")[0])]


def find_images(architecture: Architecture) -> Images | None:
    """The existing images of the newest kernel that match the current recipe, or None."""
    found = [folder for folder in (_IMAGES_DIR / architecture.name).glob(f"*-{_recipe()}") if _complete(folder)]
    return _images_in(max(found, key=_version), architecture) if found else None


def _merge_usr(folder: Path) -> None:
    """Merges as on the host, where /bin, /lib and /sbin are links into /usr: an overlaid folder would hide these."""
    for name in ("bin", "sbin", "lib"):
        if (folder / name).is_dir():
            shutil.copytree(folder / name, folder / "usr" / name, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(folder / name)


def _make(packages: DebianPackages, kernel: str, target: Path, with_programs: bool) -> None:
    with tempfile.TemporaryDirectory(dir=_IMAGES_DIR, prefix="part.") as name:
        files, made = Path(name, "files"), Path(name, "made")
        for package in (kernel, _BUSYBOX):
            packages.unpack(package, files)
        version = kernel.removeprefix("linux-image-")
        made.mkdir()
        shipped = files / "boot" / f"vmlinuz-{version}"
        (made / "kernel").write_bytes(kernel_image.startable_kernel(shipped.read_bytes()))
        (made / "initrd").write_bytes(
            initial_ram_disk.initial_ram_disk(files / "bin" / "busybox", files / "lib" / "modules" / version))
        if with_programs:
            (made / "programs").mkdir()
            packages.unpack_with_dependencies(_PROGRAMS, made / "programs")
            _merge_usr(made / "programs")
        (made / "complete").touch()
        shutil.rmtree(target.parent, ignore_errors=True)  # those of older kernels
        target.parent.mkdir()
        made.rename(target)


@contextmanager
def _locked() -> Iterator[None]:
    """Only one process at a time makes images."""
    try:
        _IMAGES_DIR.mkdir(parents=True, exist_ok=True)
        lock = open(_IMAGES_DIR / "lock", "w", encoding="ascii")
    except OSError as error:
        raise LabError(f"{_IMAGES_DIR}: cannot keep the guests' kernel there: {error.strerror}") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make_newest(packages: DebianPackages, architecture: Architecture) -> Images:
    kernel = packages.newest_kernel()
    target = _IMAGES_DIR / architecture.name / f"{kernel.removeprefix('linux-image-')}-{_recipe()}"
    if not _complete(target):
        _make(packages, kernel, target, architecture.foreign)
    return _images_in(target, architecture)


def make_images(architecture: Architecture) -> Images:
    """The images of the newest kernel that apt has, made unless they exist. Raises LabError."""
    with _locked():
        packages = DebianPackages(architecture, _IMAGES_DIR / "packages" / architecture.name)
        try:
            return _make_newest(packages, architecture)
        except LabError as error:
            # A fresh container has no lists of packages, and old lists name packages that were removed.
            if error.exit_status == EXIT_UNAVAILABLE or not packages.read_lists():
                raise LabError(f"no kernel for the guests: {error}", error.exit_status) from None
        return _make_newest(packages, architecture)


def ready_images(architecture: Architecture) -> Images:
    """The existing images, else images made now."""
    return find_images(architecture) or make_images(architecture)
