#!/usr/bin/env python3
"""Tests the manual pages as they are read: manual_pages_test.py SHARE CABLEWAY.

groff has to accept every page without a warning, names in a page have to be those of pages that exist, and a rendered page
has to show the options of --help.
"""

import pathlib
import re
import subprocess
import sys
import unittest

SHARE, CABLEWAY = pathlib.Path(sys.argv[1]), sys.argv[2]
PAGES = sorted(SHARE.glob("man/man*/*"))
REFERENCE = re.compile(r"\b((?:cableway|collperf)[a-z.-]*)\((\d)\)")
ESCAPE = re.compile("\x1b\\[[0-9;]*m")


def formatted(source):
    """What groff shows of a page's source in 80 columns, and its warnings."""
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-rLL=80n", "-P-c"], input=source, capture_output=True, text=True, check=False
    )
    return re.sub(".\b", "", ESCAPE.sub("", done.stdout)), done.stderr


def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


class ManualPagesTest(unittest.TestCase):
    def test_there_are_pages_of_every_kind(self):
        self.assertGreater(len(PAGES), 20)
        self.assertEqual({page.parent.name for page in PAGES}, {"man1", "man5", "man7", "man8"})

    def test_groff_accepts_each_without_a_warning(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                self.assertEqual(formatted(page.read_text())[1], "")

    def test_a_planted_fault_is_a_warning(self):
        source = PAGES[0].read_text()
        for fault in (".XX an unknown request\n", "an unknown character: \\[nosuch]\n", "x" * 200 + "\n"):
            with self.subTest(fault=fault):
                self.assertNotEqual(formatted(source + fault)[1], "")

    def test_pages_that_are_referred_to_exist(self):
        for page in PAGES:
            for name, section in REFERENCE.findall(page.read_text().replace("\\-", "-").replace("\\fR", "")):
                with self.subTest(page=page.name):
                    self.assertTrue((SHARE / f"man/man{section}/{name}.{section}").is_file(), f"{name}({section})")

    def test_pages_have_no_date(self):
        for page in PAGES:
            self.assertRegex(page.read_text().partition("\n")[0], r'^\.TH \S+ \d "" "Cableway \d+\.\d+\.\d+" "Cableway"$')

    def test_rendered_pages_show_the_options_of_help(self):
        for page in SHARE.glob("man/man1/cableway-*.1"):
            command = re.sub("^(plan|key)-", r"\1 ", page.stem.removeprefix("cableway-"))
            text = subprocess.run(
                [CABLEWAY, *command.split(), "--help"], capture_output=True, text=True, check=True
            ).stdout
            with self.subTest(page=page.name):
                self.assertTrue(options_of(text))
                self.assertLessEqual(options_of(text), options_of(formatted(page.read_text())[0]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
