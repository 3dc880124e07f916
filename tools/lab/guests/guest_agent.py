"""The first process of a guest: gives its interfaces names, addresses and RDMA devices, then runs the commands that
`softroce exec` sends. Runs with the host's Python, from the host's files, so it imports little: emulation is slow.

    guest_agent.py CONFIG     (guest_lab.py writes the JSON)

One process per connection serves one command. When the connection is lost, the command and its process group are
killed: killing `softroce exec` on the host ends the command in the guest as well.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from types import FrameType

from guest_frames import END, ERROR, OUT, PORT, REQUEST, SIGNAL, FrameReader, frame

_MAX_UNSENT_BYTES = 256 << 10
_CHUNK_BYTES = 64 << 10
_PIPE_BYTES = 64 << 10


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _batch(tool: str, lines: list[str]) -> None:
    """Runs `tool LINE` for each line. Raises RuntimeError; the tool's error is on the console."""
    if not lines:
        return
    path = f"/run/{tool}.batch"
    _write(path, "\n".join(lines) + "\n")
    pid = os.posix_spawnp(tool, [tool, "-b", path], os.environ)
    if os.waitpid(pid, 0)[1] != 0:
        raise RuntimeError(f"{tool}, with the lines of {lines}, failed")


def _found_interfaces() -> dict[str, str]:
    """The kernel's interface names by hardware address."""
    found = {}
    for name in os.listdir("/sys/class/net"):
        with open(f"/sys/class/net/{name}/address", encoding="ascii") as file:
            found[file.read().strip()] = name
    return found


def _set_up(config: dict) -> None:
    """Sets up everything that is needed to run commands."""
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    socket.sethostname(config["node"])
    found = _found_interfaces()
    _batch("ip", [f"link set dev {found[address]} name {name}" for address, name in config["interfaces"].items()])
    for key, value in config["sysctls"]:
        path = f"/proc/sys/{key}"
        if os.path.exists(path):
            _write(path, value)
    _batch("ip", config["ip"])
    _batch("tc", config["tc"])
    _batch("rdma", config["rdma"])


def _power_off() -> None:
    os.sync()
    _write("/proc/sysrq-trigger", "o")
    signal.pause()


def _reap(_: int, __: FrameType | None) -> None:
    """Reaps orphans, which the kernel reparents to this process."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def _start(request: dict) -> tuple[int, int, int]:
    """Starts the command; returns its pid and the read ends of its stdout and stderr."""
    out_read, out_write = os.pipe()
    error_read, error_write = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(out_write)
        os.close(error_write)
        return pid, out_read, error_read
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out_write, 1)
    os.dup2(error_write, 2)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    command = request["command"]
    try:
        os.chdir(request["folder"])
    except OSError:  # a folder created after the guest started
        os.chdir("/")
    try:
        os.execvpe(command[0], command, request["environment"])
    except OSError as error:
        os.write(2, f"softroce: {command[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


class _Serving:
    """One command and its connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = FrameReader()
        self._unsent = bytearray()
        self._pid = 0
        self._outputs: dict[int, int] = {}  # kind of frame by file descriptor
        self._ended = -1  # a descriptor that is readable when the command has ended

    def run(self) -> None:
        """Runs until the command has ended and its output is sent. When the connection is lost, kills the command."""
        try:
            self._pump()
        except OSError:
            if self._ended != -1:
                os.killpg(self._pid, signal.SIGKILL)

    def _pump(self) -> None:
        while self._ended != -1 or self._unsent or self._pid == 0:
            full = len(self._unsent) > _MAX_UNSENT_BYTES
            sources = [self._connection] + ([] if full else list(self._outputs)) + [self._ended] * (self._ended != -1)
            readable, writable, _ = select.select(sources, [self._connection] if self._unsent else [], [])
            if self._connection in readable:
                self._receive_frames()
            for fd in [fd for fd in self._outputs if fd in readable]:
                self._read_output(fd)
            if self._ended in readable and not full:
                self._conclude()
            if writable:
                del self._unsent[:self._connection.send(self._unsent, socket.MSG_DONTWAIT)]

    def _receive_frames(self) -> None:
        received = self._connection.recv(_CHUNK_BYTES)
        if not received:
            raise ConnectionResetError
        for kind, payload in self._reader.feed(received):
            if kind == REQUEST:
                self._pid, out, error = _start(json.loads(payload))
                self._outputs = {out: OUT, error: ERROR}
                self._ended = os.pidfd_open(self._pid)
            elif kind == SIGNAL and self._ended != -1:
                signal.pidfd_send_signal(self._ended, int(payload))

    def _read_output(self, fd: int) -> bool:
        received = os.read(fd, _CHUNK_BYTES)
        if received:
            self._unsent += frame(self._outputs[fd], received)
        else:
            del self._outputs[fd]
        return bool(received)

    def _conclude(self) -> None:
        """The command has ended. Processes that it left running may hold its outputs open and keep writing, so at most
        a pipe's capacity is read."""
        for fd in list(self._outputs):
            for _ in range(_PIPE_BYTES // _CHUNK_BYTES + 1):
                if not select.select([fd], [], [], 0)[0] or not self._read_output(fd):
                    break
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._unsent += frame(END, str(code if code >= 0 else 128 - code).encode())
        os.close(self._ended)
        self._ended, self._outputs = -1, {}


def _serve(listener: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        connection, _ = listener.accept()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            try:
                _Serving(connection).run()
            finally:
                os._exit(0)
        connection.close()


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    try:
        _set_up(config)
        listener = socket.create_server((config["address"], PORT), backlog=64)
    except Exception as error:  # any error has to be on the console before the guest powers off
        print(f"softroce: cannot set up this guest: {error}", flush=True)
        _power_off()
    _write(config["ready"], "")
    _serve(listener)


if __name__ == "__main__":
    main()
