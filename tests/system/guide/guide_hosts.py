"""Hosts on which the guide's commands run: each is a node of the lab with a root folder, a host name and processes of its
own, as fresh as after the installation of its system. What they have in place of real things is in stand_ins/.
Commands run as root of the host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab_nodes import LabNodes
from lab_state import LAB_DIR, load_state

SOURCE = Path(__file__).resolve().parents[3]
STAND_INS = Path(__file__).resolve().parent / "stand_ins"
# What every host has; others only where a block names them.
BASE = ("apt", "scp", "ssh", "sudo", "systemctl")
# Programs of this machine that are no part of a fresh host.
NOT_FRESH = ("docker", "kubectl", "nmcli", "netplan", "mpirun", "torchrun", "srun", "sbatch", "ray", "systemctl", "apt",
             "apt-get", "cableway", "cablewayd", "collperf", "ssh", "scp", "sudo",
             # Folders in which the package has files.
             "sysusers.d", "systemd")
HOME = "/home/me"
_DEADLINE_S = 90

_PASSWD = "root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000:me:/home/me:/bin/bash\n"
_GROUP = "root:x:0:\nme:x:1000:\n"
_ENTER = """
root=$1 name=$2
mount --rbind /usr "$root/.system"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t sysfs sysfs "$root/sys" 2>/dev/null || mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=755 run "$root/run"
mkdir -p "$root/run/systemd/system"
hostname "$name"
echo ready
exec chroot "$root" /usr/bin/sleep 3600
"""


def install_product(build: Path, folder: Path) -> None:
    """What the package contains, below `folder`."""
    subprocess.run(["cmake", "--install", str(build), "--prefix", "/usr"], check=True, capture_output=True,
                   env={**os.environ, "DESTDIR": str(folder)}, timeout=60)
    (folder / "etc/cableway").mkdir(parents=True)
    shutil.copy(SOURCE / "tools/package/cableway.toml", folder / "etc/cableway")


def make_root(folder: Path, product: Path | None) -> None:
    """The files of a system with its programs, and nothing of Cableway but, in /packages, what apt would install."""
    for name in ("proc", "dev", "sys", "run", ".system", "etc", "var/lib", "var/log", "tmp", "root", HOME[1:], "usr", "opt"):
        (folder / name).mkdir(parents=True)
    (folder / "tmp").chmod(0o1777)
    (folder / "usr/share").mkdir()
    for name in ("bin", "sbin", "lib"):
        _mirror(Path("/usr") / name, folder / "usr" / name)
    for entry in Path("/usr").iterdir():
        if not (folder / "usr" / entry.name).exists():
            (folder / "usr" / entry.name).symlink_to(f"/.system/{entry.name}")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/", name).is_symlink():
            (folder / name).symlink_to(f"usr/{name}")
    for name, text in (("passwd", _PASSWD), ("group", _GROUP), ("shadow", "root:*:1::::::\nme:*:1::::::\n"), ("gshadow", ""),
                       ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"), ("fstab", "")):
        (folder / "etc" / name).write_text(text, encoding="ascii")
    for name in ("ld.so.cache", "ld.so.conf", "login.defs", "alternatives"):
        if Path("/etc", name).exists():
            subprocess.run(["cp", "-a", f"/etc/{name}", str(folder / "etc")], check=True)
    for stand_in in BASE:
        _put(STAND_INS / stand_in, folder / "usr/bin" / stand_in)
    if product is not None:
        subprocess.run(["cp", "-al", str(product), str(folder / "packages")], check=True)


def _mirror(original: Path, copy: Path) -> None:
    copy.mkdir()
    for entry in original.iterdir():
        if entry.name not in NOT_FRESH:
            (copy / entry.name).symlink_to(f"/.system/{original.name}/{entry.name}")


def _put(program: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    shutil.copy(program, target)
    target.chmod(0o755)


class GuideHost:
    def __init__(self, nodes: LabNodes, name: str, folder: Path, product: Path) -> None:
        self.name, self.folder = name, folder
        make_root(folder, product)
        self._holder = nodes.popen(name, ["unshare", "--mount", "--uts", "sh", "-ec", _ENTER, "sh", str(folder), name])
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != b"ready\n":
            raise AssertionError(f"{name}: {self._holder.communicate()[1].decode()}")

    @property
    def pid(self) -> int:
        return self._holder.pid

    def write(self, path: str, text: str) -> None:
        file = self.folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def give(self, stand_ins: list[str]) -> str:
        """Puts these stand-ins on the host; returns the PATH that has them."""
        if "docker" in stand_ins and not (self.folder / "opt/image").exists():
            make_root(self.folder / "opt/image", None)
            shutil.copytree(STAND_INS / "gpu", self.folder / "opt/image/opt/stand_ins/gpu")
        if "downloaded" in stand_ins:
            self.write(f"{HOME}/cableway_1.0.0_arm64.deb", "in place of the package\n")
        for name in stand_ins:
            for program in sorted((STAND_INS / name).glob("*")):
                target = self.folder / "opt/stand_ins" / name / program.name
                target.parent.mkdir(parents=True, exist_ok=True)
                _put(program, target)
        return ":".join([*(f"/opt/stand_ins/{name}" for name in stand_ins), "/usr/sbin", "/usr/bin"])

    def command(self, script: str, path: str) -> list[str]:
        return ["nsenter", "--target", str(self.pid), "--mount", "--uts", "--net", "--root", f"--wd={self.folder}{HOME}", "--",
                "/usr/bin/env", "-i", f"PATH={path}", f"STAND_IN_PATH={path}", f"HOME={HOME}", "LC_ALL=C.UTF-8", "USER=me",
                "/usr/bin/bash", "-euo", "pipefail", "-c", script]

    def run(self, script: str, path: str = "/usr/sbin:/usr/bin") -> subprocess.CompletedProcess[str]:
        """What it prints, errors included; exit status 124 after the deadline."""
        command = self.command(script, path)
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=_DEADLINE_S, check=False)
        except subprocess.TimeoutExpired as late:
            printed = late.stdout or b""
            return subprocess.CompletedProcess(command, 124, printed.decode() if isinstance(printed, bytes) else printed)

    def end(self) -> None:
        self._holder.kill()
        self._holder.communicate()


class GuideHosts:
    """The hosts of the lab that this process is in. They reach each other by name over the management network, with ssh."""

    def __init__(self, nodes: LabNodes) -> None:
        folder = LAB_DIR / "guide"  # in memory, and removed with the lab
        product = folder / "product"
        install_product(nodes.build, product)
        self.hosts = {name: GuideHost(nodes, name, folder / name, product) for name in nodes.names}
        addresses = {name: load_state().node_environment(name)["LAB_NODE_ADDRESS"] for name in nodes.names}
        control = os.environ["LAB_CONTROL_ADDRESS"]
        for number, (name, host) in enumerate(self.hosts.items()):
            host.write("/etc/hosts", "127.0.0.1 localhost\n" +
                       "".join(f"{address} {other}\n" for other, address in addresses.items()))
            host.write("/etc/stand_in_hosts", "".join(f"{other} {each.pid} {rank}\n"
                                                      for rank, (other, each) in enumerate(self.hosts.items())))
            host.write("/etc/stand_in_rank", f"{number}\n")
            nodes.ip(name, f"route add default via {control}")

    def __enter__(self) -> GuideHosts:
        return self

    def __exit__(self, *_: object) -> None:
        for host in self.hosts.values():
            host.run("systemctl stop cablewayd || true")
            host.end()

    def named(self, which: str) -> list[GuideHost]:
        if which == "each":
            return list(self.hosts.values())
        return [self.hosts[which]] if which in self.hosts else []

    def run_together(self, hosts: list[GuideHost], script: str, path: str) -> list[subprocess.CompletedProcess[str]]:
        """On all of them at the same time."""
        done: dict[str, subprocess.CompletedProcess[str]] = {}

        def run(host: GuideHost) -> None:
            done[host.name] = host.run(script, path)
        threads = [threading.Thread(target=run, args=(host,)) for host in hosts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [done[host.name] for host in hosts]
