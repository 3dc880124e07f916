#!/usr/bin/env python3
"""System test of a node's page and metrics: real nodes with traffic, read by a headless Chromium, by hostile requests, and,
where it is installed, by promtool. Prints what the page costs.

Usage: live_page_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab. KEEP_SHOTS=DIR
keeps the screenshots.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from browser import Browser, find_browser
from in_lab import in_lab, main, report_figure
from lab_nodes import LAB_DIR, STEADY, LabNodes, Ranks
from other_programs import other_program
from stub_node import StubNode, circle_map, lose

HTTP = "127.0.0.1:7473"
URL = f"http://{HTTP}/"
TOKEN = "0123456789abcdef0123456789abcdef"
WIDTHS = (1280, 400)
# Of a cable on the map: whether its text has a rate that only a job makes.
FAST = r"(cable) => /to n\d [\d.]+ [MG]bit\/s/.test(cable.getAttribute('aria-label'))"

# Sends the text of its first argument to the node, and prints the answer.
ASK = f"""
import socket, sys
with socket.create_connection(("127.0.0.1", 7473), timeout=10) as s:
    s.sendall(sys.argv[1].encode().decode("unicode_escape").encode("latin-1"))
    answer = b""
    while piece := s.recv(65536):
        answer += piece
sys.stdout.write(answer.decode("latin-1"))
"""

# The texts that are cut off, or that lie on others: [kind, text, text]. Elements in frames that scroll are measured, too: a
# frame's content may be wider than the frame, but must not overlap.
FAULTY_TEXTS = """
(() => {
  const frames = Array.from(document.querySelectorAll('.wide'));
  frames.forEach((frame) => frame.style.maxHeight = 'none');  // the frame hides what lies outside of it
  const faults = [];
  const shown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth + 1) faults.push(['page too wide', String(page.scrollWidth), '']);
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.textContent.trim() || !shown(parent) || parent.closest('script,style,noscript,.skip')) continue;
    if (getComputedStyle(parent.closest('thead') || parent).clipPath !== 'none') continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) boxes.push({box, text: node.textContent.trim(), parent});
    for (let at = parent; at && at !== page; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === 'hidden' && at.scrollWidth > at.clientWidth + 1) {
        faults.push(['cut off', node.textContent.trim(), at.className]);
      }
    }
    const frame = parent.closest('.wide');
    if (frame) continue;
    const box = range.getBoundingClientRect();
    if (box.left < -0.5 || box.right > page.clientWidth + 0.5) faults.push(['outside', node.textContent.trim(), '']);
  }
  for (let i = 0; i < boxes.length; ++i) {
    for (let k = i + 1; k < boxes.length; ++k) {
      const a = boxes[i].box, b = boxes[k].box;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Line boxes of neighbouring lines touch.
      if (wide > 1.5 && high > 4) faults.push(['overlap', boxes[i].text, boxes[k].text]);
    }
  }
  frames.forEach((frame) => frame.style.maxHeight = '');
  return faults;
})()
"""


SQUATTER = """
import socket, time
s = socket.create_server(("127.0.0.1", 7473))
print("bound", flush=True)
time.sleep(600)
"""


def get(nodes: LabNodes, name: str, path: str, *headers: str, method: str = "GET",
        host: str = "localhost") -> tuple[int, str, str]:
    """The status, the headers and the body."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, "", ""]
    answer = nodes.python(name, ASK, "\\r\\n".join(lines))
    head, _, body = answer.partition("\r\n\r\n")
    return int(head.split()[1]), head, body


def samples(text: str) -> dict[str, float]:
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if not line.startswith("#")}


@contextmanager
def traffic(nodes: LabNodes) -> Iterator[Ranks]:
    """All nodes exchange data until the end."""
    ranks = nodes.start_ranks(nodes.names, "--workload", "all_to_all:4M", "-w", "0", "-n", "1000000", "-c", "0")
    try:
        nodes.wait_until(lambda: nodes.cableway(nodes.names[0], "status")["own"]["flows_open"] > 0,
                         lambda: ranks.log(nodes.names[0]))
        yield ranks
    finally:
        for name in nodes.names:
            ranks.kill(name)


def cpu_s(pid: int) -> float:
    """Of all threads. /proc/PID/stat counts in ticks of 10 ms, and misses threads that run for less."""
    return sum(int(path.read_text(encoding="ascii").split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def browser_in(nodes: LabNodes, name: str) -> Browser:
    return Browser(lambda command, **options: nodes.popen(name, command, **options))


def check_texts(case: unittest.TestCase, browser: Browser, what: str) -> None:
    case.assertEqual(browser.evaluate(FAULTY_TEXTS), [], what)


def shoot(browser: Browser, name: str) -> None:
    if folder := os.environ.get("KEEP_SHOTS"):
        browser.screenshot(Path(folder) / f"{name}.png")


def here(command: list[object], log: str, **options: object) -> subprocess.Popen[bytes]:
    del log
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


class StreamReader:
    """Reads the stream of a node in its namespace, as a browser would, until the end of its context."""

    SOURCE = """
import socket
s = socket.create_connection(("127.0.0.1", 7473))
s.sendall(b"GET /events HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
got = b""
while got.count(b"event: live") < 2:
    got += s.recv(1 << 20)
print("reading", flush=True)
while s.recv(1 << 20):
    pass
"""

    def __init__(self, nodes: LabNodes, name: str) -> None:
        self._process = nodes.popen(name, [sys.executable, "-c", self.SOURCE])
        assert self._process.stdout.readline() == b"reading\n"

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


class MetricsTest(unittest.TestCase):
    @in_lab("ring:4")
    def test_metrics_of_nodes_with_traffic(self, nodes: LabNodes) -> None:
        nodes.start(HTTP=HTTP, **STEADY)
        nodes.wait_for_cables()
        before = samples(get(nodes, "n0", "/metrics")[2])
        self.assertEqual(before["cableway_cables_up"], 2)
        self.assertEqual(before["cableway_nodes"], 4)
        nodes.check_traffic()
        time.sleep(1.1)
        status, head, text = get(nodes, "n0", "/metrics")
        self.assertEqual(status, 200)
        self.assertIn("text/plain; version=0.0.4", head)
        after = samples(text)
        sent = [name for name in after if name.startswith("cableway_port_bytes_total") and 'direction="sent"' in name]
        self.assertEqual(len(sent), 2)
        for name in sent:
            self.assertGreater(after[name] - before[name], 2_000_000, name)
        self.assertGreater(after["cableway_flows_opened_total"], 0)
        relayed = sum(samples(get(nodes, name, "/metrics")[2])["cableway_relay_bytes_total"] for name in nodes.names)
        self.assertEqual(relayed, nodes.relayed_bytes(nodes.names))
        with self.subTest("promtool reads them"):
            self.check_with_promtool(text)

    def check_with_promtool(self, text: str) -> None:
        promtool = other_program(self, "promtool")

        def check(metrics: str) -> tuple[int, str]:
            run = subprocess.run([promtool, "check", "metrics"], input=metrics, capture_output=True, text=True, timeout=60,
                                 check=False)
            return run.returncode, run.stderr
        self.assertEqual(check(text), (0, ""))
        without_help = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("# HELP"))
        self.assertEqual(check(without_help)[0], 3)
        self.assertEqual(check(text.replace(" counter\n", " coun\n"))[0], 1)

    @in_lab("line:2")
    def test_who_may_read(self, nodes: LabNodes) -> None:
        token = LAB_DIR / "token"
        token.write_text(TOKEN + "\n", encoding="ascii")
        token.chmod(0o600)
        nodes.start("n0", HTTP=HTTP)
        nodes.start("n1", HTTP="0.0.0.0:7473", HTTP_TOKEN_FILE=str(token))
        for path in ("/", "/metrics", "/api/status", "/api/ports", "/api/topology", "/api/events", "/api/live"):
            with self.subTest(path):
                self.assertEqual(get(nodes, "n0", path)[0], 200)
                self.assertEqual(get(nodes, "n0", path, host="evil.example")[0], 403)
                self.assertEqual(get(nodes, "n0", path, method="POST")[0], 405)
                self.assertEqual(get(nodes, "n1", path)[0], 200 if path == "/" else 401)
                self.assertEqual(get(nodes, "n1", path, f"Authorization: Bearer {TOKEN}", host="n1.example")[0], 200)
        self.assertEqual(json.loads(get(nodes, "n0", "/api/status")[2])["node"], "n0")
        self.assertEqual(get(nodes, "n0", "/etc/passwd")[0], 404)
        self.assertEqual(get(nodes, "n1", f"/metrics?token={TOKEN}")[0], 401)

    @in_lab("line:2")
    def test_what_does_not_start(self, nodes: LabNodes) -> None:
        def started(**settings: str) -> tuple[int, str]:
            environment = [f"CABLEWAY_{key}={value}" for key, value in settings.items()]
            process = nodes.popen("n0", ["env", *environment, nodes.build / "bin/cablewayd"])
            _, errors = process.communicate(timeout=30)
            return process.returncode, errors.decode()

        status, errors = started(HTTP="0.0.0.0:7473")
        self.assertEqual(status, 1)
        self.assertIn("http is 0.0.0.0:7473 (CABLEWAY_HTTP), which other hosts can reach, and http_token_file is not set",
                      errors)
        token = LAB_DIR / "token"
        token.write_text(TOKEN, encoding="ascii")
        token.chmod(0o644)
        status, errors = started(HTTP=HTTP, HTTP_TOKEN_FILE=str(token))
        self.assertEqual(status, 1)
        self.assertIn(f'token file "{token}" has mode 0644', errors)

    @in_lab("line:2")
    def test_a_taken_port_is_a_problem_until_it_is_free(self, nodes: LabNodes) -> None:
        squatter = nodes.popen("n0", [sys.executable, "-c", SQUATTER])
        self.addCleanup(squatter.wait)
        self.addCleanup(squatter.kill)
        self.assertEqual(squatter.stdout.readline(), b"bound\n")
        nodes.start(HTTP=HTTP)
        nodes.wait_for_cables()
        nodes.wait_for_problem("n0", "HTTP_FAILED cannot listen at 127.0.0.1:7473: Address already in use")
        squatter.kill()
        nodes.wait_for_no_problem("n0")
        self.assertEqual(get(nodes, "n0", "/metrics")[0], 200)
        self.assertEqual(nodes.count_logged("n0", "HTTP_FAILED"), 1)


class CostTest(unittest.TestCase):
    SECONDS = 10

    def cores(self, nodes: LabNodes) -> float:
        before = cpu_s(nodes.pid("n0"))
        time.sleep(self.SECONDS)
        return (cpu_s(nodes.pid("n0")) - before) / self.SECONDS

    @in_lab("line:2")
    def test_a_reader_takes_little_with_a_thousand_flows(self, nodes: LabNodes) -> None:
        nodes.start(HTTP=HTTP, **STEADY)
        nodes.wait_for_cables()
        flows = nodes.popen("n0", [nodes.build / "bin/reported_flows", "1000"])
        self.addCleanup(flows.communicate)
        self.addCleanup(flows.kill)
        self.assertEqual(flows.stdout.readline(), b"open\n")
        nodes.wait_until(lambda: json.loads(get(nodes, "n0", "/api/live")[2])["own"]["flows_open"] == 1000,
                         lambda: "1,000 flows")
        alone = self.cores(nodes)
        with StreamReader(nodes, "n0"):
            time.sleep(1)
            read = self.cores(nodes)
        report_figure(f"a reader of 1,000 flows takes {100 * (read - alone):.2f} % of a core,"
                      f" beside {100 * alone:.2f} % without")
        self.assertLess(read - alone, 0.05)


@unittest.skipUnless(find_browser(), "no browser: tools/setup.sh --all installs one")
class PageTest(unittest.TestCase):
    @in_lab("ring:4")
    def test_page_of_a_node_with_traffic(self, nodes: LabNodes) -> None:
        nodes.start(HTTP=HTTP, **STEADY)
        nodes.wait_for_cables()
        with traffic(nodes), browser_in(nodes, "n0") as browser:
            for scheme in ("light", "dark"):
                for width in WIDTHS:
                    with self.subTest(scheme=scheme, width=width):
                        self.check_page(browser, scheme, width)
            self.check_cost(nodes, browser)
            self.check_keyboard(browser)
            self.check_elsewhere(browser)
        self.assertEqual(browser.console, [])

    def check_page(self, browser: Browser, scheme: str, width: int) -> None:
        browser.open(URL, width=width, scheme=scheme)
        browser.wait_for("document.querySelectorAll('#map .cable').length === 4")
        browser.wait_for("document.querySelectorAll('#ports tbody tr').length === 2")
        browser.wait_for(r"/[GM]bit/.test(document.getElementById('sent').textContent)")
        self.assertEqual(browser.evaluate("document.querySelectorAll('#map .lane').length"), 8)
        browser.wait_for("document.querySelectorAll('#flows tbody tr').length > 0")
        self.assertEqual(browser.evaluate("document.getElementById('node').textContent"), "n0")
        self.assertEqual(browser.evaluate("document.getElementById('state').textContent"), "live")
        # Of the other nodes' cables, too, once they have answered twice.
        browser.wait_for("document.querySelectorAll('#map .elsewhere').length === 0")
        browser.wait_for(f"Array.from(document.querySelectorAll('#map .cable')).every({FAST}) ")
        self.assertEqual(browser.evaluate("document.querySelectorAll('#map .value').length"), 4)
        self.assertIn("CABLE_UP", browser.evaluate("document.getElementById('events').textContent"))
        self.assertIn("KEY_MISSING", browser.evaluate("document.getElementById('events').textContent"))
        first = browser.evaluate("document.getElementById('ports').textContent")
        browser.wait_for(f"document.getElementById('ports').textContent !== {json.dumps(first)}")
        check_texts(self, browser, f"{scheme} {width}")
        shoot(browser, f"ring-{scheme}-{width}")

    def check_cost(self, nodes: LabNodes, browser: Browser) -> None:
        browser.call("Network.setCacheDisabled", cacheDisabled=True)
        browser.open("about:blank")
        browser.open(URL)
        browser.wait_for("performance.getEntriesByName('first-contentful-paint').length > 0")
        paint = browser.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        size = browser.evaluate("performance.getEntriesByType('navigation')[0].transferSize")
        stream = len(get(nodes, "n0", "/api/live")[2])
        report_figure(f"first paint {paint:.0f} ms, page {size} bytes, {stream} bytes a second")
        self.assertLess(paint, 5000)
        self.assertLess(size, 64 << 10)

    def check_keyboard(self, browser: Browser) -> None:
        browser.evaluate("document.getElementById('map-frame').focus()")
        browser.press("Tab", 9)
        chosen = browser.evaluate("document.activeElement.getAttribute('aria-label')")
        self.assertRegex(chosen, r"^n\d [^ ]+ - n\d ")
        self.assertEqual(browser.evaluate("document.getElementById('detail').textContent.split(':')[0]"), chosen.split(":")[0])

    def check_elsewhere(self, browser: Browser) -> None:
        """The page fetches nothing but itself and its stream."""
        urls = browser.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
        self.assertTrue(set(urls) <= {f"{URL}events"}, urls)

    @in_lab("ring:3")
    def test_problems_and_the_end_of_the_node(self, nodes: LabNodes) -> None:
        nodes.start(HTTP=HTTP)
        nodes.wait_for_cables()
        nodes.ip("n0", "link set dev to-n1 mtu 1400")
        with browser_in(nodes, "n0") as browser:
            for width in WIDTHS:
                browser.open(URL, width=width)
                browser.wait_for("!document.getElementById('problems-section').hidden")
                check_texts(self, browser, f"problems {width}")
                shoot(browser, f"problems-{width}")
            self.assertEqual(browser.console, [])
            nodes.kill("n0", signal.SIGTERM)
            browser.wait_for("document.getElementById('state').className === 'state lost'")
            nodes.start("n0", HTTP=HTTP)
            browser.wait_for("document.getElementById('state').textContent === 'live'", seconds=40)

    @in_lab("twins:3")
    def test_twins_and_a_cable_that_went_before_the_page_was_opened(self, nodes: LabNodes) -> None:
        nodes.start(HTTP=HTTP)
        nodes.wait_for_cables()
        nodes.lab("cut", "c0")
        nodes.wait_until(lambda: len(nodes.cableway("n2", "topology")["cables"]) == 5, lambda: "a cable is gone at n2")
        for viewer in ("n0", "n2"):  # one at an end of the cable, one elsewhere
            with browser_in(nodes, viewer) as browser:
                for scheme in ("light", "dark"):
                    for width in WIDTHS:
                        with self.subTest(viewer=viewer, scheme=scheme, width=width):
                            self.check_twins(browser, scheme, width, f"twins-{viewer}-{scheme}-{width}")
                if viewer == "n0":
                    nodes.lab("mend", "c0")
                    browser.wait_for("document.querySelectorAll('#map .gone').length === 0")
                    self.assertEqual(browser.evaluate("document.querySelectorAll('#map .cable').length"), 6)
                    nodes.lab("cut", "c0")
                    browser.wait_for("document.querySelectorAll('#map .gone').length === 1")
            self.assertEqual(browser.console, [])

    def check_twins(self, browser: Browser, scheme: str, width: int, shot: str) -> None:
        browser.open(URL, width=width, scheme=scheme)
        browser.wait_for("document.querySelectorAll('#map .cable').length === 6")
        browser.wait_for("Array.from(document.querySelectorAll('#map .value')).every((label) => label.textContent !== '')")
        self.assertEqual(browser.evaluate("document.querySelectorAll('#map .wire').length"), 3)
        self.assertEqual(browser.evaluate("document.querySelectorAll('#map .value').length"), 3)
        gone = browser.evaluate("Array.from(document.querySelectorAll('#map .gone'),"
                                " (each) => each.getAttribute('aria-label'))")
        self.assertEqual(len(gone), 1)
        self.assertRegex(gone[0], r"^n0 to-w0 - n1 to-w0: gone since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")
        self.assertNotEqual(browser.evaluate("getComputedStyle(document.querySelector('#map .gone .lane')).strokeDasharray"),
                            "none")
        check_texts(self, browser, shot)
        shoot(browser, shot)

    @in_lab("switch:4")
    def test_a_switch_is_a_box(self, nodes: LabNodes) -> None:
        nodes.start(HTTP=HTTP)
        nodes.wait_for_cables()
        with browser_in(nodes, "n0") as browser:
            for width in WIDTHS:
                browser.open(URL, width=width)
                browser.wait_for("document.querySelectorAll('#map .cable').length === 4")
                browser.wait_for("document.querySelector('#map .value').textContent !== ''")
                self.assertEqual(browser.evaluate("document.querySelectorAll('#map rect.node').length"), 5)
                self.assertEqual(browser.evaluate("document.querySelectorAll('#map rect.switch').length"), 1)
                check_texts(self, browser, f"switch {width}")
                shoot(browser, f"switch-{width}")
            nodes.ip("n3", "link set dev to-s0 down")
            # Its cables go one after the other: between, the ports are not all joined, and no switch.
            browser.wait_for("document.querySelectorAll('#map .gone').length === 1 &&"
                             " document.querySelectorAll('#map rect.switch').length === 1")
            self.assertEqual(browser.evaluate("document.querySelectorAll('#map .cable').length"), 4)
            gone = browser.evaluate("document.querySelector('#map .gone').getAttribute('aria-label')")
            self.assertRegex(gone, r"^n3 to-s0 - switch: gone since ")
            shoot(browser, "switch-gone")
            self.assertEqual(browser.console, [])

    @in_lab("line:2")
    def test_asks_for_the_token(self, nodes: LabNodes) -> None:
        token = LAB_DIR / "token"
        token.write_text(TOKEN, encoding="ascii")
        token.chmod(0o600)
        nodes.start("n0", HTTP=HTTP, HTTP_TOKEN_FILE=str(token))
        with browser_in(nodes, "n0") as browser:
            enter = ("(() => {{ document.getElementById('token').value = '{}';"
                     " document.querySelector('#login button').click(); }})()")
            for width in WIDTHS:
                browser.open(URL, width=width)
                browser.wait_for("!document.getElementById('login').hidden && document.getElementById('content').hidden")
                check_texts(self, browser, f"login {width}")
                shoot(browser, f"login-{width}")
            browser.evaluate(enter.format("too short"))
            browser.wait_for("document.getElementById('login-fault').textContent.includes('16 to 256')")
            browser.evaluate(enter.format("f" * 32))
            browser.wait_for("document.getElementById('login-fault').textContent === 'This is not the token of the node.'")
            browser.evaluate(enter.format(TOKEN))
            browser.wait_for("document.getElementById('state').textContent === 'live'")
            self.assertEqual(browser.evaluate("document.cookie"), "")
            self.assertTrue(all("401" in line for line in browser.console), browser.console)


@unittest.skipUnless(find_browser() and "KEEP_SHOTS" in os.environ, "makes a picture only: KEEP_SHOTS is not set")
class PictureTest(unittest.TestCase):
    """The picture of README.md: KEEP_SHOTS=docs/pictures live_page_test.py --build build/release PictureTest"""

    @in_lab(str(Path(__file__).with_name("live_map.toml")))
    def test_map_of_four_hosts_with_traffic(self, nodes: LabNodes) -> None:
        nodes.start(HTTP=HTTP, **STEADY)
        nodes.wait_for_cables()
        with traffic(nodes), browser_in(nodes, "spark-0") as browser:
            browser.open(URL, width=900, height=640)
            browser.wait_for("document.querySelectorAll('#map .cable').length === 4")
            browser.wait_for(r"/[GM]bit/.test(document.getElementById('sent').textContent)")
            time.sleep(3)  # for rates of whole seconds
            height = browser.evaluate("document.getElementById('ports').getBoundingClientRect().bottom + window.scrollY") + 24
            browser.screenshot(Path(os.environ["KEEP_SHOTS"]) / "live-map.png",
                               {"x": 0, "y": 0, "width": 900, "height": height, "scale": 1})


@unittest.skipUnless(find_browser(), "no browser: tools/setup.sh --all installs one")
class InventedNodeTest(unittest.TestCase):
    """Topologies that are too large for a lab here, and texts of hostile hosts."""

    def check(self, name: str, the_map: dict[str, object], flows: int = 0, hostile: str = "") -> None:
        cables = len(the_map["cables"]) + len(the_map["gone"])
        with StubNode(the_map, flows, hostile) as node, Browser(here) as browser:
            for width in WIDTHS:
                browser.open(node.url, width=width)
                browser.wait_for(f"document.querySelectorAll('#map .cable').length === {cables}")
                browser.wait_for("document.getElementById('sent').textContent !== '-'")
                check_texts(self, browser, f"{name}, {width}")
                shoot(browser, f"{name}-{width}")
            self.assertEqual(browser.evaluate("document.querySelectorAll('b,img').length"), 0)
            self.assertEqual(browser.console, [])

    def test_maps_of_3_to_32_nodes(self) -> None:
        for count in (3, 5, 12, 32):
            with self.subTest(count):
                self.check(f"ring{count}", circle_map(count, [(i, (i + 1) % count) for i in range(count)]))

    def test_a_full_mesh(self) -> None:
        self.check("mesh12", circle_map(12, [(a, b) for a in range(12) for b in range(a + 1, 12)]))

    def test_a_thousand_flows(self) -> None:
        self.check("flows", circle_map(4, [(0, 1), (1, 2), (2, 3), (0, 3)]), flows=1000)

    def test_texts_of_others_are_texts(self) -> None:
        hostile = "<img src=x onerror=alert(1)><b>bold</b>&lt;" + "x" * 300
        the_map = circle_map(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
        lose(the_map, 1)
        the_map["gone"][0].update(since=hostile, a={"node": 1, "interface": hostile})
        self.check("hostile", the_map, flows=3, hostile=hostile)


if __name__ == "__main__":
    main()
