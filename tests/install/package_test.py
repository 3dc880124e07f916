#!/usr/bin/env python3
"""Test of the Debian package in fresh roots of Debian 12: installed, used by three hosts in a line, upgraded, removed
and purged.

Usage: package_test.py --packages FOLDER --version VERSION --work FOLDER [TEST...]. Needs root; exit status 77 where this
system cannot make such a root or run a lab.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from debian_root import DebianRoot

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

import lab_case  # noqa: E402

UNIT_LINK = "etc/systemd/system/multi-user.target.wants/cablewayd.service"
SETTINGS = "etc/cableway/cableway.toml"

_given: argparse.Namespace


def later_version(package: Path, work: Path) -> Path:
    """The same package with a higher version and another line in its sample settings."""
    unpacked = work / "later"
    shutil.rmtree(unpacked, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-R", str(package), str(unpacked)], check=True, timeout=60)
    control = unpacked / "DEBIAN" / "control"
    control.write_text(control.read_text().replace(f"Version: {_given.version}\n", f"Version: {_given.version}+later\n"))
    with (unpacked / SETTINGS).open("a") as settings:
        settings.write("# later\n")
    built = work / "later.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", str(unpacked), str(built)], check=True, timeout=60,
                   capture_output=True)
    return built


class PackageTest(unittest.TestCase):
    fresh: DebianRoot
    package: Path

    @classmethod
    def setUpClass(cls) -> None:
        architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout
        cls.package = Path(_given.packages) / f"cableway_{_given.version}_{architecture.strip()}.deb"
        cls.fresh = DebianRoot.make(Path(_given.work) / "fresh")

    def installed_root(self, name: str) -> DebianRoot:
        root = self.fresh.copy(Path(_given.work) / name)
        root.run("dpkg", "-i", root.bring(self.package))
        return root

    def test_installs_files_group_and_service(self) -> None:
        root = self.installed_root("installed")
        self.assertRegex((root.folder / "etc/group").read_text(), r"(?m)^cableway:x:\d+:$")
        self.assertTrue((root.folder / UNIT_LINK).is_symlink(), "the service is not enabled")
        self.assertIn(_given.version, root.run("cableway", "--version").stdout)
        self.assertIn(_given.version, root.run("dpkg-query", "-W", "cableway").stdout)
        root.run("cablewayd", "--check-config")
        root.run("dpkg", "--verify", "cableway")

    def test_puts_nothing_but_the_plugin_into_the_linkers_path(self) -> None:
        root = self.installed_root("linker")
        root.run("ldconfig")
        found = root.run("ldconfig", "-p").stdout
        self.assertIn("libc.so.6", found)
        for library in (root.folder / "usr/lib/cableway").glob("*.so*"):
            if library.name != "libnccl-net-cableway.so":
                self.assertNotIn(library.name, found)

    def test_keeps_changed_settings_and_disabled_service_in_an_upgrade(self) -> None:
        root = self.installed_root("upgraded")
        settings = root.folder / SETTINGS
        settings.write_text('node = "spark-7"\n')
        (root.folder / UNIT_LINK).unlink()
        later = root.bring(later_version(self.package, Path(_given.work)))
        root.run("dpkg", "--force-confold", "-i", later)
        self.assertIn("+later", root.run("dpkg-query", "-W", "cableway").stdout)
        self.assertEqual(settings.read_text(), 'node = "spark-7"\n')
        self.assertFalse((root.folder / UNIT_LINK).is_symlink(), "the upgrade enabled a service that was disabled")

    def test_keeps_settings_when_removed_and_nothing_when_purged(self) -> None:
        before = self.fresh.contents()
        root = self.installed_root("purged")
        (root.folder / "etc/cableway/key").write_text("00" * 32 + "\n")
        (root.folder / "var/log/cableway").mkdir()
        (root.folder / "var/log/cableway/cablewayd.log").write_text("a line\n")
        root.run("dpkg", "--remove", "cableway")
        self.assertFalse((root.folder / "usr/lib/cableway").exists())
        self.assertTrue((root.folder / SETTINGS).exists())
        root.run("dpkg", "--purge", "cableway")
        self.assertFalse((root.folder / "var/log/cableway").exists())
        self.assertEqual(root.contents(), before)
        self.assertEqual(root.run("dpkg-query", "-W", "cableway", ok=False).returncode, 1)

    def test_three_fresh_hosts_run_an_all_reduce(self) -> None:
        hosts = [self.fresh.copy(Path(_given.work) / f"host{number}").folder for number in range(3)]
        done = subprocess.run(
            [sys.executable, lab_case.LAB, "run", "line:3", "--", sys.executable,
             str(Path(__file__).with_name("packaged_hosts.py")), str(self.package), *map(str, hosts)],
            capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}")
        print(done.stdout.strip(), end=" ", flush=True)


def main() -> None:
    global _given
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("packages", "version", "work"):
        parser.add_argument(f"--{name}", required=True)
    _given, tests = parser.parse_known_args()
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        print("skipped: a root of Debian needs the user root and mmdebstrap (tools/setup.sh --all)")
        sys.exit(77)
    sys.argv = [sys.argv[0], *tests]
    lab_case.main()


if __name__ == "__main__":
    main()
