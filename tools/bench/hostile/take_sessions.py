#!/usr/bin/env python3
"""Runs as root in a node: several other users each open all the sessions that they may, and try again, until SIGTERM; or one of
them holds the abstract name of root's node.

take_sessions.py sessions | take_sessions.py name
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time

from pacing import until_told
from set_ups import SESSION_NAME, send_message, session_hello

_FIRST_USER, _USERS = 60_001, 4
_AT_A_TIME = 260  # more than one user may have
_AGAIN_S, _POLL_S = 1.0, 0.05


def _become(user: int) -> None:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def _open_session(path: str, hello: bytes) -> socket.socket | None:
    session = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        session.settimeout(1.0)
        session.connect(path)
        send_message(session, hello)
        return session
    except OSError:
        session.close()
        return None


def _without_ended(sessions: list[socket.socket]) -> list[socket.socket]:
    """Reads what the node has sent; leaves out the sessions that it has closed."""
    kept = []
    for session in sessions:
        session.setblocking(False)
        open_still = True
        with contextlib.suppress(BlockingIOError):
            try:
                while open_still:
                    open_still = bool(session.recv(65536))
            except ConnectionError:
                open_still = False
        if open_still:
            kept.append(session)
        else:
            session.close()
    return kept


def _take_all(path: str, hello: bytes) -> None:
    goes_on = until_told()
    sessions: list[socket.socket] = []
    while goes_on():
        sessions = _without_ended(sessions)
        while len(sessions) < _AT_A_TIME and goes_on():
            session = _open_session(path, hello)
            if session is None:
                break
            sessions.append(session)
        time.sleep(_AGAIN_S)


def _as_users(path: str) -> None:
    children, hello = [], session_hello("hostile")  # which other users may not be able to read
    for user in range(_FIRST_USER, _FIRST_USER + _USERS):
        child = os.fork()
        if child == 0:
            _become(user)
            _take_all(path, hello)
            os._exit(0)
        children.append(child)
    goes_on = until_told()
    while goes_on():
        time.sleep(_POLL_S)
    for child in children:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
    print(json.dumps({"users": _USERS}), flush=True)


def _hold_name() -> None:
    _become(_FIRST_USER)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as taken:
        while True:
            with contextlib.suppress(OSError):
                taken.bind(SESSION_NAME)
                break
            time.sleep(0.001)
        taken.listen()
        print(json.dumps({"held": True}), flush=True)
        signal.pause()


def main() -> None:
    if sys.argv[1] == "name":
        _hold_name()
    else:
        _as_users(f"/run/cableway/cableway,default,{os.stat('/proc/thread-self/ns/net').st_ino}")


if __name__ == "__main__":
    main()
