#!/usr/bin/env python3
"""System test of an operator's actions: every view of a node, the doctor, reload, shutdown, and checking settings. Runs
the shipped programs with nodes that have found each other.

Usage: operation_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
import unittest
from typing import Any

from in_lab import in_lab, main
from lab_nodes import LAB_DIR, PATIENCE_S, STEADY, LabNodes

# Each view, and the top-level keys of its JSON.
VIEWS = {("topology",): {"schema", "cluster", "nodes", "cables", "gone", "expected"},
         ("routes",): {"schema", "node", "routes"},
         ("path", "n0", "n2"): {"schema", "from", "to", "hops", "flow", "first_path", "paths"},
         ("status",): {"schema", "node", "cluster", "version", "started", "uptime_ms", "draining", "draining_cables",
                       "addresses", "relay_port", "keys", "nodes", "cables_up", "neighbours", "problems", "events",
                       "latest_events", "flooding", "sessions", "own", "relayed", "relay_memory", "rdma_memory", "flows",
                       "circuits"},
         ("ports",): {"schema", "node", "cluster", "ports", "rejected", "dropped"},
         ("flows",): {"schema", "node", "flows", "flows_left_out", "circuits", "circuits_left_out"},
         ("events",): {"schema", "node", "cluster", "incarnation", "left_out", "events"},
         ("plan", "ranks"): {"schema", "planned", "given"},
         ("env",): {"schema", "variables", "docker", "rank_order", "remarks"}}

# Occupies a TCP or UDP port on all addresses.
SQUATTER = """
import socket, sys, time
s = socket.socket(type={"TCP": socket.SOCK_STREAM, "UDP": socket.SOCK_DGRAM}[sys.argv[1]])
s.bind(("0.0.0.0", int(sys.argv[2])))
if sys.argv[1] == "TCP":
    s.listen()
print("bound", flush=True)
time.sleep(600)
"""


def run(nodes: LabNodes, name: str, program: str, *words: str) -> tuple[int, str, str]:
    """Returns the exit status, stdout and stderr."""
    process = nodes.popen(name, [nodes.build / "bin" / program, *words])
    out, errors = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out.decode(), errors.decode()


class ViewTest(unittest.TestCase):
    @in_lab("line:3")
    def test_every_view_of_a_running_node(self, nodes: LabNodes) -> None:
        nodes.start()
        nodes.wait_for_cables()
        nodes.check_traffic()
        for view, keys in VIEWS.items():
            with self.subTest(view):
                self.assertEqual(set(nodes.cableway("n1", *view)), keys)
                self.assertGreater(len(nodes.run("n1", nodes.build / "bin/cableway", *view)), 0)
        self.assertIn("<svg", nodes.run("n1", nodes.build / "bin/cableway", "topology", "--svg"))
        self.assertIn("graph", nodes.run("n1", nodes.build / "bin/cableway", "topology", "--dot"))
        self.assertEqual(nodes.cableway("n0", "path", "n0", "n2")["hops"], 2)
        self.assertEqual(sorted(nodes.cableway("n0", "env")["rank_order"]), nodes.names)
        self.assertIn("export NCCL_NET=cableway\n", nodes.run("n0", nodes.build / "bin/cableway", "env"))


class DoctorTest(unittest.TestCase):
    def check_found(self, nodes: LabNodes, name: str, severity: str, text: str) -> None:
        found: list[dict[str, Any]] = []

        def is_found() -> bool:
            found[:] = nodes.doctor(name, "--no-speed")[1]
            return any(each["severity"] == severity and text in each["what"] for each in found)

        nodes.wait_until(is_found, lambda: f"'{text}' as {severity}; the doctor of {name} found {found}")

    @in_lab("line:3")
    def test_a_healthy_line_and_then_a_faulty_one(self, nodes: LabNodes) -> None:
        nodes.start(HOLD_MS="5000")
        nodes.wait_for_cables()
        status, findings = nodes.doctor("n1", "--no-speed")
        self.assertEqual([each for each in findings if each["severity"] in ("warning", "error")], [])
        self.assertEqual(status, 0)
        nodes.ip("n2", "link set to-n1 mtu 1500")
        self.check_found(nodes, "n1", "warning", "of node n2 has 1500: set both to the same")
        self.assertEqual(nodes.doctor("n1", "--no-speed")[0], 1)
        nodes.kill("n2")
        self.check_found(nodes, "n1", "warning", "carrier on to-n2, but no neighbour answers hellos")
        nodes.ip("n0", "link set to-n1 down")
        self.check_found(nodes, "n1", "warning", "no carrier")
        nodes.kill("n1")
        self.assertEqual(nodes.doctor("n1")[0], 3)

    @in_lab("line:2", "--rate", "200mbit")
    def test_the_speed_of_a_cable(self, nodes: LabNodes) -> None:
        """In a namespace the rates of links are not known, so doctor expects no rate."""
        nodes.start(**STEADY)
        nodes.wait_for_cables()
        found: list[dict[str, Any]] = []

        def is_measured() -> bool:
            status, found[:] = nodes.doctor("n0")
            self.assertEqual(status, 0, found)
            speed = next(each for each in found if each["about"] == "cable to-n1 to node n1")
            self.assertEqual(speed["code"], "CABLE_TESTED")
            return re.search(r"^[12]\d\d Mbit/s one way; both ways at once [12]\d\d Mbit/s there and [12]\d\d Mbit/s back; "
                             r"nominal not known \(tcp\)$", speed["what"]) is not None

        # Half a second of data means little on a machine that is busy for as long.
        nodes.wait_until(is_measured, lambda: f"some 200 Mbit/s; the doctor found {found}")

    @in_lab("line:3")
    def test_an_unreachable_relay_tcp_port(self, nodes: LabNodes) -> None:
        squatter = nodes.popen("n1", [sys.executable, "-c", SQUATTER, "TCP", "7470"], log="squatter")
        try:
            nodes.wait_until(lambda: "bound" in nodes.text("squatter"), lambda: "another process on the port")
            nodes.start()
            nodes.wait_for_cables()
            nodes.wait_for_problem("n1", "NOT_LISTENING cannot listen on 10.7.0.2 TCP port 7470: Address already in use")
            self.check_found(nodes, "n1", "error", "port 7470: Address already in use")
            self.assertEqual(nodes.doctor("n1", "--no-speed")[0], 2)
            time.sleep(1.2)  # enough for two more attempts
            self.assertEqual(nodes.count_logged("n1", "NOT_LISTENING"), 1)
            status, findings = nodes.doctor("n0")
            self.assertEqual(status, 1, findings)
            self.assertIn("CABLE_UNREACHABLE", {finding["code"] for finding in findings})
        finally:
            squatter.kill()
            squatter.wait()
        nodes.wait_for_no_problem("n1")
        self.assertGreater(nodes.check_traffic(["n0", "n2"]), 0)

    @in_lab("line:2")
    def test_a_control_udp_port_in_use(self, nodes: LabNodes) -> None:
        squatter = nodes.popen("n1", [sys.executable, "-c", SQUATTER, "UDP", "7471"], log="squatter")
        try:
            nodes.wait_until(lambda: "bound" in nodes.text("squatter"), lambda: "another process on the port")
            nodes.start()
            nodes.wait_for_problem("n1", "CONTROL_SOCKET_FAILED .*hellos cannot be received there")
        finally:
            squatter.kill()
            squatter.wait()
        nodes.wait_for_no_problem("n1")
        nodes.wait_for_cables()


class DaemonTest(unittest.TestCase):
    @in_lab("line:3")
    def test_reload_and_clean_shutdown(self, nodes: LabNodes) -> None:
        file = LAB_DIR / "n1.toml"
        file.write_text("drain = false\n", encoding="ascii")
        nodes.start("n0", "n2", **STEADY)
        nodes.start("n1", CONFIG=str(file), **STEADY)
        nodes.wait_for_cables()
        self.assertEqual(nodes.count_logged("n1", "KEY_MISSING"), 1)
        self.assertEqual(nodes.count_logged("n1", "NODE_STARTED"), 1)

        file.write_text("drain = true\nhello_ms = 200\n", encoding="ascii")
        nodes.signal("n1", signal.SIGHUP)
        nodes.wait_until(lambda: "n2" not in {route["destination"] for route in nodes.cableway("n0", "routes")["routes"]
                                              if route["paths"]}, lambda: "n0 without a path through n1, which drains")
        nodes.wait_until(lambda: nodes.count_logged("n1", "SETTINGS_CHANGED") == 1, lambda: nodes.log("n1"))
        self.assertEqual(nodes.events("n1", "SETTINGS_CHANGED")[0]["fields"], {"restart_needed": "hello_ms"})
        self.assertEqual(nodes.count_logged("n1", "DRAINING"), 1)

        file.write_text("drain = 7\n", encoding="ascii")
        nodes.signal("n1", signal.SIGHUP)
        nodes.wait_until(lambda: f"[error] SETTINGS_REFUSED settings not reloaded, nothing has changed: {file}:1: drain is the number 7"
                         in nodes.log("n1"), lambda: nodes.log("n1"))
        self.assertIn(("n1", 7470, True), [(node["name"], node["relay_port"], node["draining"])
                                           for node in nodes.cableway("n0", "topology")["nodes"]])

        self.assertEqual(nodes.kill("n1", signal.SIGTERM), 0)
        self.assertEqual(nodes.count_logged("n1", "NODE_LEAVING"), 1)
        nodes.wait_until(lambda: nodes.count_logged("n0", "NEIGHBOUR_LEFT") == 1, lambda: nodes.log("n0"))
        self.assertEqual(nodes.count_logged("n0", "CABLE_LOST"), 0)

    @in_lab("line:2")
    def test_settings_are_checked_without_a_node(self, nodes: LabNodes) -> None:
        file, key = LAB_DIR / "node.toml", LAB_DIR / "key"
        file.write_text("hold_ms = 2000\n", encoding="ascii")
        status, out, errors = run(nodes, "n0", "cablewayd", "--config", str(file), "--check-config", "--json")
        self.assertEqual((status, errors), (0, ""))
        shown = json.loads(out)
        self.assertIn(f"{file}:1", json.dumps(shown))
        key.write_text("no key\n", encoding="ascii")
        key.chmod(0o600)
        for text, words, expected in (("hold = 1\n", [], f"{file}:1: unknown key \"hold\""),
                                      ("hold_ms = 1\n", [], f"{file}:1: hold_ms is \"1\"; expected milliseconds"),
                                      ("", ["--ports", "10.0.0.1/8"], "--ports is \"10.0.0.1/8\"; expected "),
                                      ("", ["--key-file", str(key)], "is no key file: ")):
            with self.subTest(expected):
                file.write_text(text, encoding="ascii")
                status, out, errors = run(nodes, "n0", "cablewayd", "--config", str(file), "--check-config", *words)
                self.assertEqual((status, out), (1, ""))
                self.assertIn(expected, errors)


if __name__ == "__main__":
    main()
