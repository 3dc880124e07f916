"""The processor architectures of guests. All are emulated, so the host's own affects only the speed, and which guests
can run the host's programs: those of the same architecture."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass

from lab_error import unavailable_error


@dataclass(frozen=True)
class Architecture:
    """Named as in Debian."""

    name: str
    qemu: str
    qemu_package: str
    machine: tuple[str, ...]  # QEMU's options
    kernel_options: str
    machine_name: str  # as `uname -m` prints it

    @property
    def foreign(self) -> bool:
        """Whether the host's programs cannot run in such guests."""
        return platform.machine() != self.machine_name


_ARCHITECTURES = (
    # The TSC's rate is measured while the guest boots; on a busy host it has been wrong by a factor of four, and with it
    # the guest's clock. So the kernel keeps comparing it with the emulated HPET, which is right (no tsc=reliable).
    Architecture("amd64", "qemu-system-x86_64", "qemu-system-x86", ("-machine", "q35", "-cpu", "max"),
                 "console=ttyS0", "x86_64"),
    # A Cortex-A72 has no pointer authentication, which `max` would spend time emulating.
    Architecture("arm64", "qemu-system-aarch64", "qemu-system-arm", ("-machine", "virt", "-cpu", "cortex-a72"),
                 "console=ttyAMA0", "aarch64"),
)
ARCHITECTURES = {architecture.name: architecture for architecture in _ARCHITECTURES}


def host_architecture() -> Architecture:
    for architecture in _ARCHITECTURES:
        if not architecture.foreign:
            return architecture
    raise unavailable_error(f"this machine is {platform.machine()}: there are guests for"
                            f" {' and '.join(each.machine_name for each in _ARCHITECTURES)}")


def find_qemu(architecture: Architecture) -> str:
    path = shutil.which(architecture.qemu)
    if path is None:
        how = "" if architecture.foreign else "tools/setup.sh --verbs installs it, or "
        raise unavailable_error(f"'{architecture.qemu}' is not in PATH: {how}apt-get install {architecture.qemu_package}")
    return path
