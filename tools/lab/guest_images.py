"""The kernel and the initial RAM disk that guests start from, made of Debian's packages: downloaded and unpacked, never
installed. They are kept in build/softroce, one folder for each version of the kernel and way of making them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import initial_ram_disk
import kernel_image
from lab_error import EXIT_UNAVAILABLE, LabError, say, unavailable_error

_IMAGES_DIR = Path(__file__).resolve().parents[2] / "build" / "softroce"
_PACKAGES_DIR = _IMAGES_DIR / "packages"
_KERNEL = "linux-image-amd64"
_BUSYBOX = "busybox-static"
_SETUP = "tools/setup.sh --verbs"


@dataclass(frozen=True)
class Images:
    kernel: Path
    ram_disk: Path


def _recipe() -> str:
    """Tells images that are made as they are today from older ones."""
    sources = [Path(module.__file__ or "") for module in (initial_ram_disk, kernel_image)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:8]


def _complete(folder: Path) -> bool:
    return (folder / "complete").exists()


def find_images() -> Images | None:
    """Those of the newest kernel there are, of the way in which they are made today."""
    found = [folder for folder in _IMAGES_DIR.glob(f"*-{_recipe()}") if _complete(folder)]
    if not found:
        return None
    newest = max(found, key=lambda folder: [int(number) for number in re.findall(r"\d+", folder.name.rpartition("-")[0])])
    return Images(newest / "kernel", newest / "initrd")


def _apt(command: list[str], folder: Path | None = None) -> str:
    """Its output. Raises LabError with what apt says."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _kernel_package() -> str:
    """The package of the newest kernel of this release."""
    for tool in ("apt-cache", "apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise unavailable_error(f"'{tool}' is not in PATH: the guests' kernel is made of Debian's package {_KERNEL}")
    text = _apt(["apt-cache", "depends", _KERNEL])
    match = re.search(r"Depends: (linux-image-[0-9]\S*)", text)
    if match is None:
        raise LabError(f"apt knows no {_KERNEL}: it is Debian's, and `apt-get update` reads the lists of packages")
    return match[1]


def _unpack(package: str, target: Path) -> None:
    """Its files, downloaded unless that was done before."""
    _PACKAGES_DIR.mkdir(exist_ok=True)
    if not list(_PACKAGES_DIR.glob(f"{package}_*.deb")):
        say(f"downloading Debian's {package}")
        with tempfile.TemporaryDirectory(dir=_PACKAGES_DIR) as folder:
            _apt(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3", "download", package],
                 Path(folder))
            for archive in Path(folder).iterdir():
                archive.rename(_PACKAGES_DIR / archive.name)
    archive, = _PACKAGES_DIR.glob(f"{package}_*.deb")
    _apt(["dpkg-deb", "-x", str(archive), str(target)])


def _make(package: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=_IMAGES_DIR, prefix="part.") as name:
        files, made = Path(name, "files"), Path(name, "made")
        _unpack(package, files)
        _unpack(_BUSYBOX, files)
        version = package.removeprefix("linux-image-")
        made.mkdir()
        (made / "kernel").write_bytes(kernel_image.startable_kernel((files / "boot" / f"vmlinuz-{version}").read_bytes()))
        (made / "initrd").write_bytes(
            initial_ram_disk.initial_ram_disk(files / "bin" / "busybox", files / "lib" / "modules" / version))
        (made / "complete").touch()
        for older in _IMAGES_DIR.glob("*-*-*"):
            shutil.rmtree(older)
        made.rename(target)


@contextmanager
def _locked() -> Iterator[None]:
    """One at a time makes images."""
    try:
        _IMAGES_DIR.mkdir(parents=True, exist_ok=True)
        lock = open(_IMAGES_DIR / "lock", "w", encoding="ascii")
    except OSError as error:
        raise LabError(f"{_IMAGES_DIR}: cannot keep the guests' kernel there: {error.strerror}") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make_newest() -> Images:
    package = _kernel_package()
    target = _IMAGES_DIR / f"{package.removeprefix('linux-image-')}-{_recipe()}"
    if not _complete(target):
        _make(package, target)
    return Images(target / "kernel", target / "initrd")


def make_images() -> Images:
    """Those of the newest kernel that apt knows, made unless they are there. Raises LabError."""
    with _locked():
        try:
            return _make_newest()
        except LabError as error:
            if error.exit_status == EXIT_UNAVAILABLE or os.geteuid() != 0:
                raise LabError(f"no kernel for the guests: {error}. {_SETUP} makes it", error.exit_status) from None
        say("reading the package lists")  # a fresh container has none, and old ones name what is gone
        _apt(["apt-get", "-q", "update"])
        return _make_newest()


def ready_images() -> Images:
    """Whatever there is, else made now."""
    return find_images() or make_images()
