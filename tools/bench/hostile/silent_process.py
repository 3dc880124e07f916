#!/usr/bin/env python3
"""Runs in a node: tells it that it accepts circuits, and never answers one. Prints its TCP port as JSON; ends with SIGTERM."""

from __future__ import annotations

import json
import signal
import socket

from set_ups import tell_node


def main() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener, socket.socket(socket.AF_UNIX) as session:
        listener.bind(("0.0.0.0", 0))
        listener.listen(4096)
        tell_node(session, listener.getsockname()[1])
        print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
