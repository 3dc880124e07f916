#!/usr/bin/env python3
"""Test of the page that `cableway sim --html` writes: it is well-formed, loads nothing external, and a browser renders it; and
of a long simulation, which reports its progress and ends at SIGINT."""

from __future__ import annotations

import argparse
import html.parser
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zlib
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
# The colours of busy cables and of the page, in light and dark: tools/cableway/sim/report_style.h.
BUSY = {"light": (0xC4, 0x3C, 0x1A), "dark": (0xFF, 0x6B, 0x45)}
PAGE = {"light": (0xF5, 0xF6, 0xF8), "dark": (0x12, 0x16, 0x1C)}
SIZE = (1000, 1100)
SKIPPED = 77

build = Path()
kept: Path | None = None


def find_browser() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def read_png(path: Path) -> tuple[int, int, list[bytes], int]:
    """Width, height, rows of pixels, bytes a pixel. Reads what browsers write: 8 bits, colour, not interlaced."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n"), "no PNG"
    packed, at = b"", 8
    width = height = colours = 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colours in (2, 6) and not interlaced
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    size = 3 if colours == 2 else 4
    return width, height, unfiltered(zlib.decompress(packed), width, height, size), size


def unfiltered(raw: bytes, width: int, height: int, size: int) -> list[bytes]:
    rows: list[bytes] = []
    stride = width * size
    before = bytes(stride)
    for y in range(height):
        start = y * (stride + 1)
        row = bytearray(raw[start + 1 : start + 1 + stride])
        unfilter(raw[start], row, before, size)
        before = bytes(row)
        rows.append(before)
    return rows


def unfilter(kind: int, row: bytearray, above: bytes, size: int) -> None:
    for i in range(len(row)) if kind != 0 else ():
        left = row[i - size] if i >= size else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        else:
            guess = paeth(left, above[i], above[i - size] if i >= size else 0)
        row[i] = (row[i] + guess) & 255


def paeth(left: int, above: int, corner: int) -> int:
    guess = left + above - corner
    return min((left, above, corner), key=lambda each: abs(guess - each))


class Pixels:
    def __init__(self, path: Path) -> None:
        self.width, self.height, rows, size = read_png(path)
        self.counts: dict[tuple[int, int, int], int] = {}
        for row in rows:
            for x in range(0, len(row), size):
                colour = (row[x], row[x + 1], row[x + 2])
                self.counts[colour] = self.counts.get(colour, 0) + 1

    def of(self, colour: tuple[int, int, int]) -> int:
        return self.counts.get(colour, 0)


class Loads(html.parser.HTMLParser):
    """What a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe", "object", "embed", "base", "form"):
            self.found.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "action", "xlink:href") or "url(" in (value or ""):
                self.found.append(f"{tag} {name}={value}")


class ReportTest(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(folder := tempfile.TemporaryDirectory())
        cls.folder = kept or Path(folder.name)

    def report(self, name: str, *arguments: str, status: int = 0) -> Path:
        page = self.folder / f"{name}.html"
        command = [str(build / "bin/cableway"), "sim", "--html", str(page), *arguments]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, status, run.stderr)
        return page

    def ring(self) -> Path:
        return self.report("ring", "--topology", "ring:8", "--workload", "all_to_all:16MiB")

    def check_page(self, page: Path) -> xml.etree.ElementTree.Element:
        text = page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        root = xml.etree.ElementTree.fromstring(text)
        self.assertEqual(root.tag, f"{XHTML}html")
        loads = Loads()
        loads.feed(text)
        self.assertEqual(loads.found, [])
        style = root.find(f".//{XHTML}style").text
        self.assertIsNone(re.search(r"@import|url\(|expression", style))
        names = re.sub(r"http://www\.w3\.org/(1999/xhtml|2000/svg)", "", text)
        self.assertNotRegex(names, r"https?://")
        policy = root.find(f".//{XHTML}meta[@http-equiv='Content-Security-Policy']").get("content")
        self.assertTrue(policy.startswith("default-src 'none'"))
        return root

    def test_has_every_node_cable_and_direction(self) -> None:
        root = self.check_page(self.ring())
        drawing = root.find(f".//{SVG}svg[@class='map']")
        self.assertEqual(len(drawing.findall(f".//{SVG}rect")), 8)
        self.assertEqual(len(drawing.findall(f".//{SVG}path[@class='lane']")), 16)
        timeline = root.find(f".//{SVG}svg[@class='timeline']")
        self.assertEqual(len([path for path in timeline.iter(f"{SVG}path") if "area" in path.get("class")]), 16)
        self.assertIn("--workload all_to_all:16MiB", "".join(root.find(f".//{XHTML}pre").itertext()))

    def test_of_a_cut_is_well_formed_and_shows_the_pause(self) -> None:
        page = self.report("cut", "--topology", "ring:6", "--workload", "all_reduce:64MiB", "--fail", "cable:0-1@10ms")
        root = self.check_page(page)
        text = "".join(root.itertext())
        self.assertIn("rank 0 on n0 -> rank 1 on n1", text)
        self.assertIn("On the cables left the whole job takes", text)
        timeline = root.find(f".//{SVG}svg[@class='timeline']")
        self.assertEqual(len(timeline.findall(f".//{SVG}rect[@class='pause']")), 1)

    def test_of_a_cut_that_ends_the_job_names_the_cause(self) -> None:
        page = self.report("end", "--topology", "line:3", "--workload", "all_reduce:64MiB", "--fail", "cable:0-1@10ms",
                           status=5)
        text = "".join(self.check_page(page).itertext())
        self.assertIn("no other path is left from node", text)
        self.assertIn("On the cables left the job cannot run", text)

    def test_escapes_what_the_command_line_holds(self) -> None:
        folder = self.folder / "a<b>&\"c' d"
        folder.mkdir(exist_ok=True)
        topology = folder / "t.toml"
        topology.write_text('[[node]]\nname = "a"\n[[node]]\nname = "b"\n[[cable]]\n'
                            'ends = [{node = "a", address = "10.0.0.1"}, {node = "b", address = "10.0.0.2"}]\n')
        page = self.report("escaped", "--topology", str(topology), "--workload", "sendrecv:1MiB")
        self.assertIn("a<b>&\"c' d", "".join(self.check_page(page).itertext()))

    def test_of_a_large_system_is_well_formed(self) -> None:
        page = self.report("large", "--topology", "torus:16x16", "--workload", "all_reduce:1MiB", "--level", "flow")
        self.check_page(page)
        self.assertLess(page.stat().st_size, 2_000_000)


class LongRunTest(unittest.TestCase):
    def test_reports_progress_and_ends_at_ctrl_c(self) -> None:
        command = [str(build / "bin/cableway"), "sim", "--progress", "--topology", "ring:16", "--workload", "all_reduce:2GiB",
                   "--chunk", "1KiB"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            first = run.stderr.read(60)
            self.assertIn(b"cableway: simulating, ", first)
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(timeout=60), -signal.SIGINT)
        finally:
            run.kill()
            run.communicate()


class BrowserTest(ReportTest):
    def shot(self, page: Path, scheme: str) -> Pixels:
        browser = find_browser()
        picture = self.folder / f"{page.stem}-{scheme}.png"
        with tempfile.TemporaryDirectory() as profile:
            command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                       "--disable-background-networking", "--hide-scrollbars", "--enable-logging=stderr",
                       f"--user-data-dir={profile}", f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={picture}", page.as_uri()]
            if scheme == "dark":
                command.insert(1, "--blink-settings=preferredColorScheme=0")
            run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertTrue(picture.exists(), run.stderr)
        console = [line for line in run.stderr.splitlines() if ":CONSOLE" in line or "Content Security Policy" in line]
        self.assertEqual(console, [])
        return Pixels(picture)

    def test_shows_a_report(self) -> None:
        for scheme in ("light", "dark"):
            with self.subTest(scheme=scheme):
                pixels = self.shot(self.ring(), scheme)
                self.assertEqual((pixels.width, pixels.height), SIZE)
                self.assertGreater(pixels.of(PAGE[scheme]), 50_000, "the page's background")
                self.assertGreater(pixels.of(BUSY[scheme]), 2_000, "busy cables")
                self.assertGreater(len(pixels.counts), 200, "text with smooth edges")


def main() -> int:
    global build, kept
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="leave pages and pictures in this folder")
    arguments = parser.parse_args()
    build, kept = arguments.build, arguments.keep
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(ReportTest)
    suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(LongRunTest))
    has_browser = find_browser() is not None
    if has_browser:
        suite.addTest(BrowserTest("test_shows_a_report"))
    elif os.environ.get("CI"):
        print(f"report: none of {', '.join(BROWSERS)} is here: tools/setup.sh --all installs one", file=sys.stderr)
        return 1
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful():
        return 1
    if not has_browser:
        print(f"report: not checked in a browser: none of {', '.join(BROWSERS)} is here (tools/setup.sh --all installs one)")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
