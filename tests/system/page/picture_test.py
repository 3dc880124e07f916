#!/usr/bin/env python3
"""Measures in a browser, with the fonts that it has, the pictures of `cableway topology --svg` and the map and timeline of
`cableway sim --html`: no text is over another text or over a box that is not its own, and none is cut off."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from browser import BROWSERS, Browser, find_browser
from stub_node import StubNode, circle_map, lose, switch_map, twins_map

SKIPPED = 77
SHAPES = ("ring:4", "line:12", "twins:4", "sparks:2", "sparks:4", "torus:4x4", "switch:4", "star:6", "mesh:8", "rings:4")
# Every text and box of each drawing, in pixels of the page, and the drawing's own box.
MEASURE = """Array.from(document.querySelectorAll('svg'), (svg) => {
  const box = (element) => { const r = element.getBoundingClientRect();
                             return {left: r.left, top: r.top, right: r.right, bottom: r.bottom}; };
  return {all: box(svg), name: svg.getAttribute('class') || 'picture',
          texts: Array.from(svg.querySelectorAll('text'), (text) => ({...box(text), text: text.textContent})),
          boxes: Array.from(svg.querySelectorAll('rect.node'), box)};
})"""

# The lanes of the maps whose middle is not within the stroke of a band.
LANES_OFF_THE_BAND = """(() => {
  const middle = (path) => path.getPointAtLength(path.getTotalLength() / 2);
  const bands = Array.from(document.querySelectorAll('.map .wire'));
  return Array.from(document.querySelectorAll('.map .lane')).filter((lane) =>
      !bands.some((band) => band.isPointInStroke(middle(lane)))).map((lane) => lane.getAttribute('d'));
})()"""

# The lanes of the maps that do not begin or end in a switch's box.
LANES_AT_NO_SWITCH = """(() => {
  const boxes = Array.from(document.querySelectorAll('.map rect.switch'), (rect) => rect.getBBox());
  const inside = (at) => boxes.some((box) =>
      at.x > box.x && at.x < box.x + box.width && at.y > box.y && at.y < box.y + box.height);
  return Array.from(document.querySelectorAll('.map .lane')).filter((lane) => !inside(lane.getPointAtLength(0)) &&
      !inside(lane.getPointAtLength(lane.getTotalLength()))).map((lane) => lane.getAttribute('d'));
})()"""

# The number of pairs.
BOXES_THAT_OVERLAP = """(() => {
  const boxes = Array.from(document.querySelectorAll('.map rect.node'), (rect) => rect.getBBox());
  const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  return boxes.flatMap((box, i) => boxes.slice(0, i).filter((other) => overlap(box, other))).length;
})()"""

build = Path()
kept: Path | None = None


def start(words: list[str], log: str, pass_fds: list[int]) -> subprocess.Popen[bytes]:
    del log
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            pass_fds=pass_fds)


def overlap(one: dict[str, Any], other: dict[str, Any], by: float = 1.0) -> bool:
    """By more than that many pixels in both directions; the box of a text has room above and below its letters."""
    return (min(one["right"], other["right"]) - max(one["left"], other["left"]) > by
            and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > by)


def inside(one: dict[str, Any], other: dict[str, Any], by: float = 1.0) -> bool:
    return (one["left"] >= other["left"] - by and one["right"] <= other["right"] + by
            and one["top"] >= other["top"] - by and one["bottom"] <= other["bottom"] + by)


def long_names() -> str:
    """A ring of nodes and cables with the longest names, wide letters first."""
    nodes = [letter * 60 + str(i) for i, letter in enumerate("WMmi")]
    text = "".join(f'[[node]]\nname = "{name}"\n' for name in nodes)
    for i, name in enumerate(nodes):
        ends = f'{{node = "{name}", address = "10.0.{i}.1"}}, {{node = "{nodes[(i + 1) % 4]}", address = "10.0.{i}.2"}}'
        text += f'[[cable]]\nname = "{"W" * 40}{i}"\nends = [{ends}]\n'
    return text


class LosingNode(StubNode):
    """Loses its last cable when told to, and ends its page's stream so that the page asks again."""

    loses = False

    def _live(self) -> dict[str, Any]:
        if self.loses:
            self.loses = False
            lose(self._map, -1)
            raise OSError("the stream ends")
        return super()._live()


class PictureTest(unittest.TestCase):
    folder: Path
    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(folder := tempfile.TemporaryDirectory())
        cls.folder = kept or Path(folder.name)
        cls.browser = cls.enterClassContext(Browser(start))

    def run_command(self, *arguments: str) -> str:
        run = subprocess.run([str(build / "bin/cableway"), *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def check(self, page: Path) -> None:
        self.browser.open(page.as_uri(), width=1600, height=1200)
        if kept is not None:
            self.browser.screenshot(page.with_suffix(".png"))
        drawings = self.browser.evaluate(MEASURE)
        self.assertTrue(drawings)
        for drawing in drawings:
            self.check_drawing(drawing)

    def check_drawing(self, drawing: dict[str, Any]) -> None:
        texts = drawing["texts"]
        self.assertTrue(texts)
        for i, text in enumerate(texts):
            self.assertTrue(inside(text, drawing["all"]), f"cut off: {text} of {drawing['all']}")
            for other in texts[:i]:
                # The two lines in a node's box are close.
                self.assertFalse(overlap(text, other, by=4.0), f"{drawing['name']}: {text} and {other}")
            for box in drawing["boxes"]:
                self.assertFalse(overlap(text, box) and not inside(text, box), f"{drawing['name']}: {text} and the box {box}")

    def test_topologies(self) -> None:
        names = self.folder / "names.toml"
        names.write_text(long_names())
        for source in (*SHAPES, str(names)):
            with self.subTest(source):
                page = self.folder / f"{Path(source).name.replace(':', '_')}.svg"
                page.write_text(self.run_command("topology", "--file", source, "--svg"))
                self.check(page)

    def test_what_is_missing(self) -> None:
        page = self.folder / "missing.svg"
        page.write_text(self.run_command("topology", "--file", "line:4", "--expect", "ring:4", "--svg"))
        self.assertIn("cable missing", page.read_text())
        self.check(page)

    def test_reports(self) -> None:
        names = self.folder / "names.toml"
        names.write_text(long_names())
        for source in ("ring:4", "sparks:4", "torus:4x4", str(names)):
            with self.subTest(source):
                self.check(self.report(source))

    def report(self, source: str) -> Path:
        page = self.folder / f"report_{Path(source).name.replace(':', '_')}.html"
        self.run_command("sim", "--topology", source, "--workload", "all_reduce:4MiB", "--html", str(page))
        return page

    def count(self, selector: str) -> int:
        return int(self.browser.evaluate(f"document.querySelectorAll('.map {selector}').length"))

    def test_a_report_draws_a_switch_as_a_box(self) -> None:
        self.check(self.report("switch:4"))
        self.assertEqual(self.count("rect.node"), 5)
        self.assertEqual(self.count("rect.switch"), 1)
        self.assertEqual(self.count(".lane"), 8, "a direction each for four ports")
        self.assertEqual(self.browser.evaluate(LANES_AT_NO_SWITCH), [])
        self.assertEqual(self.browser.evaluate(BOXES_THAT_OVERLAP), 0)
        self.assertEqual(self.count("text.value"), 4)

    def test_a_report_draws_cables_of_one_wire_on_a_band(self) -> None:
        self.check(self.report("twins:4"))
        self.assertEqual(self.count("rect.node"), 4)
        self.assertEqual(self.count(".wire"), 4)
        self.assertEqual(self.count(".lane"), 16)
        self.assertEqual(self.browser.evaluate(LANES_OFF_THE_BAND), [])
        self.assertEqual(self.browser.evaluate(BOXES_THAT_OVERLAP), 0)
        self.assertEqual(self.count("text.value"), 4, "one for a wire")
        self.assertEqual(self.browser.evaluate("getComputedStyle(document.querySelector('.wire-key')).backgroundColor"),
                         self.browser.evaluate("getComputedStyle(document.querySelector('.map .wire')).stroke"))

    def test_the_page_draws_a_cable_dashed_that_is_gone(self) -> None:
        with LosingNode(circle_map(4, [(0, 1), (1, 2), (2, 3), (0, 3)]), flows=1) as node:
            self.browser.open(node.url)
            self.browser.wait_for("document.querySelectorAll('.map .cable').length === 4")
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('.map .gone').length"), 0)
            node.loses = True
            self.browser.wait_for("document.querySelectorAll('.map .gone').length === 1")
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('.map .cable').length"), 4)
            dashes = "getComputedStyle(document.querySelector('.map .gone .lane')).strokeDasharray"
            self.assertNotEqual(self.browser.evaluate(dashes), "none")
            self.browser.wait_for("document.querySelector('.map text.value').textContent !== ''")
            for drawing in self.browser.evaluate(MEASURE):
                self.check_drawing(drawing)
            shown = self.browser.evaluate("document.querySelector('#events td').textContent")
            self.assertRegex(shown, r"^2026-01-0[123] \d\d:")
            self.assertIn("13 us", self.browser.evaluate("document.querySelector('#ports').textContent"))
            if kept is not None:
                self.browser.screenshot(kept / "page.png")
            self.browser.open("about:blank")

    def test_the_page_draws_cables_of_one_wire_on_a_band(self) -> None:
        the_map = twins_map(4)
        lose(the_map, 3)  # before the page is opened
        with StubNode(the_map, flows=1) as node:
            self.browser.open(node.url)
            self.browser.wait_for("document.querySelectorAll('.map .cable').length === 8")
            self.browser.wait_for("document.querySelector('.map text.value').textContent !== ''")
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('.map .wire').length"), 4)
            self.assertEqual(self.browser.evaluate(LANES_OFF_THE_BAND), [])
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('.map text.value').length"), 4, "one for a wire")
            gone = self.browser.evaluate("document.querySelector('.map .gone').getAttribute('aria-label')")
            self.assertRegex(gone, r"^spark-1 to-2-1 - spark-2 to-1-1: gone since 2026-01-0[123] \d\d:")
            labels = self.browser.evaluate("Array.from(document.querySelectorAll('.map .cable'), (each) =>"
                                           " each.getAttribute('aria-label'))")
            self.assertEqual(sum("one of 2 cables of a wire, together 100 Gbit/s" in label for label in labels), 6, labels)
            for drawing in self.browser.evaluate(MEASURE):
                self.check_drawing(drawing)
            if kept is not None:
                self.browser.screenshot(kept / "twins_page.png")
            self.browser.open("about:blank")

    def test_the_page_draws_a_switch_as_a_box(self) -> None:
        with StubNode(switch_map(4), flows=1) as node:
            self.browser.open(node.url)
            self.browser.wait_for("document.querySelectorAll('.map .cable').length === 4")
            self.browser.wait_for("document.querySelector('.map text.value').textContent !== ''")
            self.assertEqual(self.count("rect.node"), 5)
            self.assertEqual(self.count("rect.switch"), 1)
            self.assertEqual(self.browser.evaluate(LANES_AT_NO_SWITCH), [])
            self.assertEqual(self.browser.evaluate(BOXES_THAT_OVERLAP), 0)
            labels = self.browser.evaluate("Array.from(document.querySelectorAll('.map .cable'), (each) =>"
                                           " each.getAttribute('aria-label'))")
            self.assertRegex(labels[0], r"^spark-3 eth0 - switch: gone since 2026-01-0[123] ")
            self.assertRegex(labels[1], r"^spark-0 eth0 - switch: spark-0 to switch .*100 Gbit/s each way, joins 2 other")
            self.assertRegex(labels[3], r"1 of its 2 cables not used$")
            for drawing in self.browser.evaluate(MEASURE):
                self.check_drawing(drawing)
            if kept is not None:
                self.browser.screenshot(kept / "switch_page.png")
            self.browser.open("about:blank")

    def test_a_full_wire_is_drawn_full(self) -> None:
        page = self.folder / "twins.html"
        self.run_command("sim", "--topology", "twins:2", "--workload", "sendrecv:64MiB,neighbour", "--html", str(page))
        self.browser.open(page.as_uri())
        shown = self.browser.evaluate("Array.from(document.querySelectorAll('.map text.value'), (text) => text.textContent)")
        self.assertTrue(shown)
        for label in shown:
            self.assertGreaterEqual(int(label.split()[-2]), 95, f"{shown}: both cables fill the wire together")


def main() -> int:
    global build, kept
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="leave pages and pictures in this folder")
    arguments = parser.parse_args()
    build, kept = arguments.build.resolve(), arguments.keep and arguments.keep.resolve()
    if find_browser() is None:
        print(f"pictures: none of {', '.join(BROWSERS)} is here: tools/setup.sh --all installs one", file=sys.stderr)
        return 1 if os.environ.get("CI") else SKIPPED
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(PictureTest)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
