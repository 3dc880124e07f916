#!/usr/bin/env python3
"""System test of views of all nodes, asked over the cables: from each node, with a key, and with nodes that are killed,
stand still, or answer with garbage. Such a node is one row and delays no other.

Usage: all_nodes_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from in_lab import in_lab, main, report_figure
from lab_nodes import LAB_DIR, PATIENCE_S, STEADY, LabNodes

# Accepts connections at the relay's port. A set-up is refused as by a node that does not know its purpose, or answered with
# a document that is none. Neither has a seal, so this is for clusters without a key.
FALSE_NODE = """
import socket, struct, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", 7470))
s.listen()
print("bound", flush=True)
text = b"\\x1b[2J[[[["
while True:
    connection, _ = s.accept()
    with connection:
        header = connection.recv(32, socket.MSG_WAITALL)
        if len(header) < 32:
            continue
        connection.recv(struct.unpack("<I", header[4:8])[0], socket.MSG_WAITALL)
        answer = bytes([0xCB, 14, 0, 0]) + struct.pack("<IQQQ", len(text), 0, 0, 0) + text
        connection.sendall(answer if sys.argv[1] == "garbage" else bytes.fromhex(sys.argv[2]))
        connection.recv(1)
"""

UNKNOWN_PURPOSE = 2  # RefusalCause::kUnknownPurpose of core/flow/frame.h
VIEWS = ("status", "ports", "flows", "doctor")


def ask(nodes: LabNodes, name: str, view: str) -> tuple[dict[str, Any], float, int]:
    """What `VIEW --all --json` prints on that node, how long it took in seconds, and its exit status."""
    begun = time.monotonic()
    process = nodes.popen(name, [nodes.build / "bin/cableway", view, "--all", "--json"])
    out, errors = process.communicate(timeout=PATIENCE_S)
    took = time.monotonic() - begun
    if not out:
        raise AssertionError(f"{view} --all of {name}: {errors.decode()}")
    return json.loads(out), took, process.returncode


class AllNodesTest(unittest.TestCase):
    def check_all(self, nodes: LabNodes, name: str, view: str, missing: dict[str, str]) -> float:
        """Waits until every node answers but those in `missing`, which are rows with that cause: a busy machine may not
        schedule a node in time. Returns how long that took."""
        last: list[Any] = []

        def is_so() -> bool:
            shown, took, _ = ask(nodes, name, view)
            last[:] = [took, shown["nodes"]]
            causes = {node: each["error"]["cause"] for node, each in shown["nodes"].items() if "error" in each}
            return sorted(shown["nodes"]) == nodes.names and causes == missing

        nodes.wait_until(is_so, lambda: f"missing nodes {missing}: {last}")
        for node, each in last[1].items():
            if node not in missing:
                self.assertEqual((each["node"], each["cluster"]), (node, last[1][name]["cluster"]))
        return float(last[0])

    @in_lab("ring:4")
    def test_from_each_node(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        for name in nodes.names:
            for view in VIEWS:
                self.check_all(nodes, name, view, {})
        shown = ask(nodes, "n0", "status")[0]["nodes"]["n2"]
        self.assertEqual(shown["neighbours"], ["n1", "n3"])
        text = nodes.run("n0", nodes.build / "bin/cableway", "status", "--all")
        self.assertEqual([line.split()[0] for line in text.splitlines()[:5]], ["node", *nodes.names])
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertIn("to-n1", nodes.run("n0", nodes.build / "bin/cableway", "ports", "--all"))
        # No node has a key: one finding for all.
        found, _, status = ask(nodes, "n0", "doctor")
        self.assertEqual([each["nodes"] for each in found["findings"] if each["code"] == "KEY_MISSING"], [nodes.names])
        self.assertEqual((status, found["worst"]), (0, "info"))
        for name in nodes.names:
            self.assertEqual(nodes.count_logged(name, "CIRCUIT_REFUSED", "CONNECTION_REFUSED"), 0, nodes.log(name))

    @in_lab("ring:4")
    def test_with_a_key(self, nodes: LabNodes) -> None:
        key = LAB_DIR / "key"
        key.write_text("4c" * 32 + "\n", encoding="ascii")
        key.chmod(0o600)
        nodes.start(**STEADY, KEY_FILE=str(key))
        nodes.wait_for_cables()
        for name in nodes.names:
            self.check_all(nodes, name, "status", {})
        out = json.dumps(ask(nodes, "n1", "status")[0]) + json.dumps(ask(nodes, "n1", "doctor")[0])
        self.assertNotIn(str(key), out)
        self.assertNotIn("fingerprint", out)
        self.assertEqual(ask(nodes, "n1", "doctor")[2], 0)

    @in_lab("ring:4")
    def test_a_killed_node_and_one_that_stands_still(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        nodes.signal("n2", signal.SIGSTOP)
        took: list[float] = []

        def is_in_time() -> bool:
            took[:] = [self.check_all(nodes, "n0", "status", {"n2": "timed out"})]
            return took[0] < 3

        nodes.wait_until(is_in_time, lambda: f"an answer within 3 s: {took}")
        report_figure(f"{took[0]:.2f} s with a node that stands still")
        text = nodes.run("n0", nodes.build / "bin/cableway", "status", "--all")
        self.assertIn("1 node has not answered\n  n2: timed out: ", text)
        nodes.signal("n2", signal.SIGCONT)
        nodes.wait_until(lambda: "error" not in ask(nodes, "n0", "status")[0]["nodes"]["n2"], lambda: nodes.log("n0"))
        nodes.kill("n2")
        shown, seconds, _ = ask(nodes, "n0", "status")
        error = shown["nodes"]["n2"]["error"]
        self.assertIn(error["cause"], ("refused", "no path"), error)
        report_figure(f"{seconds:.2f} s with a killed one: {error['what']}")
        found, _, status = ask(nodes, "n0", "doctor")
        self.assertEqual(status, 2)
        self.assertEqual([each["about"] for each in found["findings"] if each["severity"] == "error"], [["node n2"]])

    @in_lab("ring:4")
    def test_garbage_and_an_earlier_version(self, nodes: LabNodes) -> None:
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        for manner, cause in (("garbage", "unreadable"), ("earlier", "other version")):
            with self.subTest(manner):
                self.check_false_node(nodes, manner, cause)

    def check_false_node(self, nodes: LabNodes, manner: str, cause: str) -> None:
        """Another program has the relay's port of n2, which is known to its neighbours still."""
        nodes.kill("n2")
        # The frame failed, with the sum of its header, as encode_frame() writes it.
        text = b"set-up: truncated, unknown purpose or share, or trailing bytes"
        false = nodes.popen("n2", [sys.executable, "-c", FALSE_NODE, manner, failed_frame(text).hex()], log=manner)
        try:
            nodes.wait_until(lambda: "bound" in nodes.text(manner), lambda: "another program on the port")
            self.check_all(nodes, "n1", "status", {"n2": cause})
            text_shown = nodes.run("n1", nodes.build / "bin/cableway", "status", "--all")
            self.assertNotIn("\x1b", text_shown)
        finally:
            false.kill()
            false.wait()
        nodes.start("n2", **STEADY)
        nodes.wait_for_cables()


def crc32c(data: bytes) -> int:
    """CRC32C (RFC 3720), bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def failed_frame(text: bytes) -> bytes:
    header = bytearray(32)
    header[0], header[1] = 0xCB, 4
    header[4:8] = len(text).to_bytes(4, "little")
    header[24:32] = UNKNOWN_PURPOSE.to_bytes(8, "little")
    header[2:4] = (crc32c(bytes(header)) & 0xFFFF).to_bytes(2, "little")
    return bytes(header) + text


if __name__ == "__main__":
    main()
