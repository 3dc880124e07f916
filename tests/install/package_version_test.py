#!/usr/bin/env python3
"""Tests which version tools/package.sh gives packages, in scratch git repositories: package_version_test.py"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "package.sh"
# Of a fixed time, and of nobody's settings.
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8",
               "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@localhost", "GIT_COMMITTER_NAME": "a",
               "GIT_COMMITTER_EMAIL": "a@localhost", "GIT_AUTHOR_DATE": "1700000000 +0000",
               "GIT_COMMITTER_DATE": "1700000000 +0000"}
TIME = "20231114.221320"


def sorts_before(first, second):
    return subprocess.run(["dpkg", "--compare-versions", first, "lt", second], check=False, timeout=10).returncode == 0


class PackageVersionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "tools").mkdir()
        shutil.copy(SCRIPT, self.root / "tools")
        self.declare("0.1.0")

    def declare(self, version):
        (self.root / "CMakeLists.txt").write_text(f"project(cableway VERSION {version} LANGUAGES CXX)\n", encoding="ascii")

    def git(self, *words):
        done = subprocess.run(["git", *words], cwd=self.root, env=ENVIRONMENT, check=True, capture_output=True, text=True,
                              timeout=30)
        return done.stdout.strip()

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")

    def start(self, tag=None):
        self.git("init", "--quiet")
        self.commit()
        if tag:
            self.git("tag", tag)

    def run_script(self, *arguments):
        return subprocess.run([self.root / "tools/package.sh", "--print-version", *arguments], env=ENVIRONMENT, check=False,
                              capture_output=True, text=True, timeout=30)

    def version(self, *arguments):
        done = self.run_script(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    def name(self):
        return self.git("rev-parse", "--short=8", "HEAD")

    def test_a_tagged_commit_has_its_tags_version(self):
        self.start("v0.1.0")
        self.assertEqual(self.version(), "0.1.0")
        self.git("tag", "v0.1.0-rc1")  # another tag of the same commit
        self.git("tag", "tested")
        self.assertEqual(self.version(), "0.1.0")

    def test_a_commit_before_the_tag_sorts_before_the_release(self):
        self.start()
        self.assertEqual(self.version(), f"0.1.0~{TIME}.{self.name()}")
        self.assertTrue(sorts_before(self.version(), "0.1.0"))

    def test_a_commit_after_the_tag_sorts_after_the_release(self):
        self.start("v0.1.0")
        self.commit()
        self.assertEqual(self.version(), f"0.1.0+{TIME}.{self.name()}")
        self.assertTrue(sorts_before("0.1.0", self.version()))
        self.assertTrue(sorts_before(self.version(), "0.1.1"))
        self.declare("0.2.0")
        self.commit()
        self.assertEqual(self.version(), f"0.2.0~{TIME}.{self.name()}")

    def test_a_tag_of_another_version_is_an_error(self):
        self.start("v0.2.0")
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the tag is v0.2.0, but CMakeLists.txt has version 0.1.0", done.stderr)

    def test_a_changed_tree_is_no_release(self):
        self.start("v0.1.0")
        (self.root / "added").write_text("", encoding="ascii")
        self.assertEqual(self.version(), f"0.1.0+{TIME}.{self.name()}.changed")
        self.assertTrue(sorts_before("0.1.0", self.version()))

    def test_a_given_version_counts_without_a_repository(self):
        self.assertEqual(self.version("--version", "7~test"), "7~test")
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("is not a git repository: give --version", done.stderr)
        self.assertEqual(self.run_script("--version", "v7").returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
