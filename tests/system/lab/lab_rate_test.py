#!/usr/bin/env python3
"""System test of shaping by tools/lab/lab: measures rates, delays and losses, so it needs a quiet machine."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab_case import LabTestCase, lab, main

RECEIVE_AND_MEASURE = """
import socket, sys, time
server = socket.create_server((sys.argv[1], 5201))
sys.stdout.write("listening\\n"); sys.stdout.flush()
server.settimeout(20)
peer, _ = server.accept()
peer.settimeout(20)
buffer, count, start, end = bytearray(1 << 20), 0, None, 0.0
while n := peer.recv_into(buffer):
    now = time.monotonic()
    if start is None and now > (first := locals().get("first", now)) + 0.5:  # past the first burst and slow start
        start, count = now, 0
    count, end = count + n, now
print(count * 8 / (end - start) / 1e6)
"""
SEND = """
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 << 20)
s.settimeout(20)
s.connect((sys.argv[1], 5201))
end, data = time.monotonic() + 2.5, bytes(1 << 18)
while time.monotonic() < end: s.sendall(data)
"""


class RateTest(LabTestCase):
    """Needs a quiet machine."""

    def goodput_mbps(self, options: list[str], prepare: str = "") -> float:
        done = lab("run", "line:2", *options, "--", "env", f"RECEIVE={RECEIVE_AND_MEASURE}", f"SEND={SEND}",
                   f"PY={sys.executable}", "sh", "-ec", f"""{prepare}
                   lab exec n1 -- "$PY" -c "$RECEIVE" 10.7.0.2 >"$LAB_DIR/result" &
                   until grep -q listening "$LAB_DIR/result"; do sleep 0.05; done
                   lab exec n0 -- "$PY" -c "$SEND" 10.7.0.2; wait $!
                   lab exec n0 -- tc -s qdisc show dev to-n1 >&2
                   tail -1 "$LAB_DIR/result" """)
        self.skip_if_unavailable(done)
        self.assertEqual(done.returncode, 0, done.stderr)
        if "tbf" in done.stderr:
            self.assertIn("dropped 0,", done.stderr)
        return float(done.stdout)

    def check_goodput(self, low: float, high: float, options: list[str], prepare: str = "") -> None:
        """One of three measurements has to be in the range: a machine that stalls for a tenth of a second spoils one."""
        seen: list[float] = []
        while not seen or not low < seen[-1] < high:
            self.assertLess(len(seen), 3, f"expected {low:g} to {high:g} Mbit/s, measured {seen}")
            seen.append(self.goodput_mbps(options, prepare))

    def test_rate(self) -> None:
        for rate, mbps in (("200mbit", 200), ("1gbit", 1000)):
            with self.subTest(rate):
                self.check_goodput(0.94 * mbps, 1.02 * mbps, ["--rate", rate])

    def test_live_change(self) -> None:
        self.check_goodput(90, 102, ["--rate", "1gbit"], "lab shape c0 --rate 100mbit")

    def test_no_limit(self) -> None:
        self.assertGreater(self.goodput_mbps(["--rate", "100mbit"], "lab shape c0 --rate none"), 300)

    def test_delay(self) -> None:
        timed = """
import socket, sys, time
best = 9.0
for _ in range(5):
    with socket.socket() as s:
        start = time.monotonic()
        s.connect_ex((sys.argv[1], 9))
        best = min(best, time.monotonic() - start)
print(best * 1000)
"""
        done = lab("run", "line:2", "--delay", "20ms", "--",
                   "env", f"PY={sys.executable}", f"TIMED={timed}", "sh", "-ec",
                   'lab exec n0 -- "$PY" -c "$TIMED" 10.7.0.2; lab shape c0 --delay 5ms;'
                   'lab exec n0 -- "$PY" -c "$TIMED" 10.7.0.2')
        self.skip_if_unavailable(done)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = (float(word) for word in done.stdout.split())
        self.assertTrue(40 <= first < 55, first)
        self.assertTrue(10 <= second < 25, second)

    def test_loss(self) -> None:
        """The receiver's kernel counts (datagrams to a port without a listener): a process that reads them would have
        to keep pace, since a socket's buffer holds a few hundred."""
        arrived = """
names, values = (line.split() for line in open("/proc/net/snmp") if line.startswith("Udp:"))
print(values[names.index("NoPorts")])
"""
        send = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(4000):
    s.sendto(b"datagram", (sys.argv[1], 5202))
    if number % 50 == 49: time.sleep(0.005)
"""
        # A new interface drops packets until the kernel has noticed its carrier, and few wait for the first ARP reply.
        wait_until_refused = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], 5202))
s.settimeout(0.1)
for _ in range(200):
    try:
        s.send(b"datagram")
        s.recv(1)
    except ConnectionRefusedError:
        break
    except TimeoutError:
        pass
else:
    sys.exit("no datagram was refused")
"""
        done = lab("run", "line:2", "--loss", "10%", "--", "env", f"ARRIVED={arrived}", f"SEND={send}",
                   f"FIRST={wait_until_refused}", f"PY={sys.executable}", "sh", "-ec", """
                   lab exec n0 -- "$PY" -c "$FIRST" 10.7.0.2
                   lab exec n1 -- "$PY" -c "$ARRIVED"
                   lab exec n0 -- "$PY" -c "$SEND" 10.7.0.2
                   sleep 0.2
                   lab exec n1 -- "$PY" -c "$ARRIVED" """)
        self.skip_if_unavailable(done)
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = (int(line) for line in done.stdout.split())
        self.assertTrue(3400 < after - before < 3800, done.stdout)  # 3600 expected, 10 standard deviations each way


if __name__ == "__main__":
    main()
