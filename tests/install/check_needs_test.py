#!/usr/bin/env python3
"""Tests tools/package/check_needs.sh with an installation: what it must refuse, and what it must accept.

    check_needs_test.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "package" / "check_needs.sh"


class CheckNeedsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        subprocess.run(["cmake", "--install", sys.argv[1], "--prefix", "/usr"], check=True, capture_output=True,
                       env={**os.environ, "DESTDIR": folder.name}, timeout=60)
        self.folder = pathlib.Path(folder.name, "usr/lib/cableway")
        # The build for tests links the C++ runtime and abseil dynamically; a package does not.
        for runtime in ("libstdc++.so.6", "libgcc_s.so.1"):
            (self.folder / runtime).touch()

    def check(self, *arguments):
        done = subprocess.run([CHECK, self.folder, *arguments], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stderr

    def test_accepts_what_is_complete(self):
        self.assertEqual(self.check("2.36"), (0, ""))

    def test_names_a_library_that_is_missing(self):
        (self.folder / "libsodium.so.23").unlink()
        status, errors = self.check("2.36")
        self.assertEqual(status, 1)
        self.assertIn("cablewayd needs libsodium.so.23, which is neither of glibc nor in", errors)

    def test_names_a_symbol_that_is_too_new(self):
        status, errors = self.check("2.31")
        self.assertEqual(status, 1)
        self.assertRegex(errors, r"cablewayd needs glibc 2\.3[45], for [\w ]+; the newest allowed is 2\.31")

    def test_names_a_folder_outside_the_installation(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "part.c")
            source.write_text("int cableway_part(void) { return 7; }\n")
            subprocess.run(["cc", "-shared", "-Wl,-rpath,/opt/elsewhere", "-o", self.folder / "libpart.so", source],
                           check=True, timeout=60)
        status, errors = self.check("2.36")
        self.assertEqual(status, 1)
        self.assertIn("libpart.so looks for libraries in '/opt/elsewhere'", errors)

    def test_refuses_an_empty_folder(self):
        for file in self.folder.iterdir():
            file.unlink()
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
