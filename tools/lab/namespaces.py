"""Linux namespaces: the lab's own (user, pid, mount, network), and one network namespace per node.

Why system calls through ctypes and not unshare(1): the caller's process must stay the supervisor, with its own signal
handling, and Python 3.11 has neither os.unshare nor os.setns. Call from a single-threaded process only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from lab_error import LabError, unavailable_error

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1
_PR_SET_TIMERSLACK = 29

_libc = ctypes.CDLL(None, use_errno=True)

RUN_DIR = Path(os.path.realpath("/var/run")) if os.path.isdir("/var/run") else Path("/run")  # where `ip netns` searches
NETNS_DIR = RUN_DIR / "netns"
LAB_DIR = RUN_DIR / "cableway-lab"
SESSION_DIR = RUN_DIR / "cableway"  # of the session sockets of the lab's nodes


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _unshare(flags: int) -> None:
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def _setns(fd: int, flag: int) -> None:
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(flag)), "setns")


def _mount(source: str, target: str | Path, kind: str | None, flags: int = 0) -> None:
    arguments = (source.encode(), str(target).encode(), kind.encode() if kind else None)
    _check(_libc.mount(*arguments, ctypes.c_ulong(flags), None), f"mount {source} on {target}")


def die_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """The kernel sends this process the signal when its parent dies. Not inherited across fork()."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal_number)), "prctl")


def wake_punctually() -> None:
    """Makes this process's timeouts end on time, not up to 50 us later (the default timer slack)."""
    _check(_libc.prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1)), "prctl")


def fork_server(serve: Callable[[], None]) -> int:
    """Forks a process that does nothing but serve() in the current namespaces, and returns its pid. It dies with its
    parent, and holds none of the parent's outputs open."""
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        die_with_parent()
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        serve()
    finally:
        os._exit(1)


def isolate() -> None:
    """Moves this process into a user (unless root), network and, for its children, pid namespace of its own."""
    uid, gid = os.geteuid(), os.getegid()
    flags = _CLONE_NEWPID | _CLONE_NEWNET
    try:
        if uid == 0:
            with contextlib.suppress(PermissionError):
                _unshare(flags)
                return
        _unshare(flags | _CLONE_NEWUSER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            Path("/proc/self", name).write_text(text, encoding="ascii")
    except OSError as error:
        raise _forbidden(error) from None


def _forbidden(error: OSError) -> LabError:
    """EPERM: no capability, or a security module's veto. ENOSPC: user.max_user_namespaces is reached, often 0."""
    reason = "user.max_user_namespaces is reached" if error.errno == errno.ENOSPC else error.strerror
    how = "run with sudo" if os.getuid() else "run with sudo on the host, or in a container with all capabilities"
    return unavailable_error(f"this system does not let this user make namespaces ({reason}): {how}")


def mount_private_view() -> bool:
    """Gives this process, the first of a new pid namespace, mounts of its own: /proc, /sys, and a /run of which
    netns/, cableway-lab/ and cableway/ are the lab's. Returns whether /sys could be mounted again (some containers
    forbid it)."""
    try:
        _unshare(_CLONE_NEWNS)
        _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
        _mount("proc", "/proc", "proc")
        _cover_run_dir()
    except OSError as error:
        raise _forbidden(error) from None
    working_dir = os.getcwd()
    NETNS_DIR.mkdir()
    LAB_DIR.mkdir()
    os.chdir(working_dir)
    try:
        _mount_sysfs()
    except OSError:
        return False
    return True


def _cover_run_dir() -> None:
    """Lays a tmpfs over /run that shows what was there, except for what is the lab's: it requires no system
    directory to exist, and what the lab writes there is removed with it."""
    old = os.open(RUN_DIR, os.O_PATH | os.O_DIRECTORY)
    own = (NETNS_DIR.name, LAB_DIR.name, SESSION_DIR.name)
    entries = [entry for entry in os.listdir(RUN_DIR) if entry not in own]
    _mount("lab", RUN_DIR, "tmpfs")
    os.chmod(RUN_DIR, 0o755)
    for entry in entries:
        target = RUN_DIR / entry
        mode = os.stat(entry, dir_fd=old, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            target.symlink_to(os.readlink(entry, dir_fd=old))
            continue
        if stat.S_ISDIR(mode):
            target.mkdir()
        else:
            target.touch()
        with contextlib.suppress(OSError):  # an entry of another user that we may not access stays empty
            _mount(f"/proc/self/fd/{old}/{entry}", target, None, _MS_BIND | _MS_REC)
    os.close(old)


def _mount_sysfs() -> None:
    """A sysfs that shows this network namespace's interfaces; keeps the control groups in view."""
    try:
        cgroups = os.open("/sys/fs/cgroup", os.O_PATH | os.O_DIRECTORY)
    except OSError:
        _mount("sysfs", "/sys", "sysfs")
        return
    try:
        _mount("sysfs", "/sys", "sysfs")
        with contextlib.suppress(OSError):
            _mount(f"/proc/self/fd/{cgroups}", "/sys/fs/cgroup", None, _MS_BIND | _MS_REC)
    finally:
        os.close(cgroups)


def create_network(name: str) -> None:
    """A network namespace that `ip -n NAME` and in_network() find."""
    path = NETNS_DIR / name
    path.touch()
    with _kept_network():
        _unshare(_CLONE_NEWNET)
        _mount("/proc/self/ns/net", path, None, _MS_BIND)


@contextlib.contextmanager
def _kept_network() -> Iterator[None]:
    here = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield
    finally:
        _setns(here, _CLONE_NEWNET)
        os.close(here)


def _enter_network(name: str) -> None:
    fd = os.open(NETNS_DIR / name, os.O_RDONLY | os.O_CLOEXEC)
    _setns(fd, _CLONE_NEWNET)
    os.close(fd)


@contextlib.contextmanager
def in_network(name: str) -> Iterator[None]:
    """Runs the body, and what it starts, in the node's network namespace."""
    with _kept_network():
        _enter_network(name)
        yield


def become_node(name: str, own_sysfs: bool) -> None:
    """Moves this process into the node's network namespace for good, with a /sys that shows that node's interfaces."""
    _enter_network(name)
    if own_sysfs:
        _unshare(_CLONE_NEWNS)
        _mount_sysfs()


def start_time(pid: int) -> int:
    """When process `pid` started, in clock ticks since boot: distinguishes it from a later process with the same pid.
    Raises FileNotFoundError or ProcessLookupError when there is none."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    return int(text.rpartition(")")[2].split()[19])


def join(pid: int) -> None:
    """Joins the user, mount and network namespaces of process `pid`; its children join the pid one."""
    kinds = [("user", _CLONE_NEWUSER), ("pid", _CLONE_NEWPID), ("net", _CLONE_NEWNET), ("mnt", _CLONE_NEWNS)]
    opened = []
    for kind, flag in kinds:
        theirs = f"/proc/{pid}/ns/{kind}"
        if kind != "user" or os.stat(theirs).st_ino != os.stat(f"/proc/self/ns/{kind}").st_ino:
            opened.append((os.open(theirs, os.O_RDONLY | os.O_CLOEXEC), flag))
    working_dir = os.getcwd()
    for fd, flag in opened:
        _setns(fd, flag)
        os.close(fd)
    with contextlib.suppress(OSError):  # joining a mount namespace moves to its root
        os.chdir(working_dir)
