"""Runs commands in a lab's nodes."""

from __future__ import annotations

import os
import selectors
import signal
import sys
from collections.abc import Callable
from typing import BinaryIO, NoReturn

from lab_state import LabState
from namespaces import become_node, die_with_parent
from supervisor import guarded, leave, replace_process, status_of

_LONGEST_LINE_BYTES = 64 << 10  # a longer one is printed in pieces

RunInNode = Callable[[str, list[str]], int]  # a node and a command: becomes it, or returns its exit status


def exec_in_node(state: LabState, node: str, command: list[str]) -> NoReturn:
    """Becomes the command, in the node."""
    become_node(node, state.own_sysfs)
    replace_process(command, os.environ | state.node_environment(node))


def exec_in_control(state: LabState, command: list[str]) -> NoReturn:
    """Becomes the command, in the lab's control namespace."""
    replace_process(command, os.environ | state.environment())


class _PrefixedStream:
    """Forwards a stream line by line, each line after the node's name."""

    def __init__(self, prefix: bytes, fd: int, sink: BinaryIO) -> None:
        self.fd, self._prefix, self._sink = fd, prefix, sink
        self._rest = b""

    def pump(self) -> bool:
        """Forwards what has arrived; returns False at the end of the stream."""
        received = os.read(self.fd, _LONGEST_LINE_BYTES)
        *lines, self._rest = (self._rest + received).split(b"\n")
        if self._rest and (not received or len(self._rest) >= _LONGEST_LINE_BYTES):
            lines.append(self._rest)
            self._rest = b""
        self._sink.write(b"".join(self._prefix + line + b"\n" for line in lines))
        self._sink.flush()
        return bool(received)


def _start(run: RunInNode, node: str, command: list[str]) -> tuple[int, int, int]:
    """Forks the command; returns its pid and the read ends of its stdout and stderr."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        die_with_parent(signal.SIGTERM)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out_write, 1)
        os.dup2(err_write, 2)
        words = [word.replace("{}", node) for word in command]
        leave(guarded(lambda: run(node, words)))
    os.close(out_write)
    os.close(err_write)
    return pid, out_read, err_read


def run_in_each(nodes: list[str], command: list[str], run: RunInNode) -> int:
    """Runs the command in all the nodes at once; returns the worst exit status. SIGINT and SIGTERM are forwarded."""
    width = max(len(node) for node in nodes)
    sys.stdout.flush()
    children: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: _forward_signal(children, number))
    signal.signal(signal.SIGINT, lambda number, _: _forward_signal(children, number))
    with selectors.DefaultSelector() as selector:
        for node in nodes:
            pid, out, err = _start(run, node, command)
            children.append(pid)
            prefix = f"{node:<{width}} | ".encode()
            for fd, sink in ((out, sys.stdout.buffer), (err, sys.stderr.buffer)):
                selector.register(fd, selectors.EVENT_READ, _PrefixedStream(prefix, fd, sink))
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.pump():
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return max(status_of(os.waitpid(pid, 0)[1]) for pid in children)


def _forward_signal(children: list[int], signal_number: int) -> None:
    for pid in children:
        try:
            os.kill(pid, signal_number)
        except ProcessLookupError:
            continue
