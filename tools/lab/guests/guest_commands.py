"""Runs a command in a guest from the control side: forwards its output and signals, and returns its exit status."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from collections import deque
from types import FrameType

from guests import guest_files
from address_plan import management_address
from guests.guest_frames import END, ERROR, OUT, PORT, REQUEST, SIGNAL, FrameReader, frame
from lab_error import LabError
from lab_state import LabState

_CONNECT_S = 20.0
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_MAX_UNWRITTEN_BYTES = 256 << 10
_POLL_AGAIN_MS = 200
_PIPE_ATOM_BYTES = 4096  # what a pipe that poll() reports writable accepts without blocking
# A live guest's kernel answers these, however busy its processes are.
_KEEPALIVE = ((socket.SO_KEEPALIVE, socket.SOL_SOCKET, 1), (socket.TCP_KEEPIDLE, socket.IPPROTO_TCP, 10),
              (socket.TCP_KEEPINTVL, socket.IPPROTO_TCP, 10), (socket.TCP_KEEPCNT, socket.IPPROTO_TCP, 6))


class _Lost(Exception):
    """The guest has ended, or no longer answers."""


def _connect(state: LabState, node: str) -> socket.socket:
    address = management_address(state.topology.node_names().index(node))
    try:
        connection = socket.create_connection((address, PORT), timeout=_CONNECT_S)
    except OSError as error:
        raise _Lost(str(error)) from None
    connection.settimeout(None)
    for option, level, value in _KEEPALIVE:
        connection.setsockopt(level, option, value)
    return connection


class _Command:
    def __init__(self, connection: socket.socket, guest_ended: int) -> None:
        self._connection = connection
        self._guest_ended = guest_ended
        self._reader = FrameReader()
        self._unwritten: dict[int, deque[bytes]] = {1: deque(), 2: deque()}
        self._status: int | None = None
        self._interrupted = False

    def forward_signal(self, number: int, _: FrameType | None) -> None:
        """A signal handler. From now on, output that is not being read is not waited for after the command has ended."""
        self._interrupted = True
        self._connection.sendall(frame(SIGNAL, str(number).encode()))

    def run(self) -> int:
        """Runs until the command has ended and its output is written. Raises _Lost and BrokenPipeError."""
        while self._status is None or (any(self._unwritten.values()) and not self._interrupted):
            poll = select.poll()
            room = sum(len(part) for queue in self._unwritten.values() for part in queue) < _MAX_UNWRITTEN_BYTES
            if self._status is None:
                poll.register(self._guest_ended, select.POLLIN)
                if room or self._interrupted:
                    poll.register(self._connection, select.POLLIN)
            for fd, queue in self._unwritten.items():
                if queue:
                    poll.register(fd, select.POLLOUT)
            # The timeout lets a signal take effect while the output is not being read: poll() resumes after a handler.
            ready = dict(poll.poll(None if room and not self._interrupted else _POLL_AGAIN_MS))
            if self._connection.fileno() in ready:
                self._read()
            elif self._guest_ended in ready:
                raise _Lost("it has ended")
            for fd in self._unwritten:
                if fd in ready:
                    self._write(fd)
        return self._status

    def _read(self) -> None:
        try:
            received = self._connection.recv(64 << 10)
        except OSError as error:
            raise _Lost(str(error)) from None
        if not received:
            raise _Lost("its agent has closed the connection")
        for kind, payload in self._reader.feed(received):
            if kind in (OUT, ERROR):
                self._unwritten[1 if kind == OUT else 2].append(payload)
            elif kind == END:
                self._status = int(payload)

    def _write(self, fd: int) -> None:
        part = self._unwritten[fd].popleft()
        written = os.write(fd, part[:_PIPE_ATOM_BYTES])
        if written < len(part):
            self._unwritten[fd].appendleft(part[written:])


def run_in_guest(state: LabState, node: str, command: list[str]) -> int:
    """Runs the command in the node; returns its exit status. Signals to this process go to the command; when this
    process is killed, so is the command."""
    environment = os.environ | state.node_environment(node)
    request = {"command": command, "environment": environment, "folder": os.getcwd()}
    guest_ended = guest_files.open_pid(node)
    try:
        connection = _connect(state, node)
        running = _Command(connection, guest_ended)
        connection.sendall(frame(REQUEST, json.dumps(request).encode()))
        for number in _FORWARDED:
            signal.signal(number, running.forward_signal)
        return running.run()
    except _Lost as reason:
        raise LabError(f"guest {node} is lost: {reason}. {guest_files.console_end(node)}") from None
