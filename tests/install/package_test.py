#!/usr/bin/env python3
"""Test of the Debian package in fresh roots of Debian 12: installed, removed and purged; and by three hosts in a line
installed, used, upgraded under the running nodes, used, and purged.

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
from fake_systemd import FakeSystemd
from later_version import later_version

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

import lab_case  # noqa: E402

UNIT_LINK = "etc/systemd/system/multi-user.target.wants/cablewayd.service"
SETTINGS = "etc/cableway/cableway.toml"
JOURNAL = "var/lib/cableway/up.json"
LIMITS = "etc/security/limits.d/cableway.conf"

_given: argparse.Namespace


class PackageTest(unittest.TestCase):
    fresh: DebianRoot
    package: Path
    architecture: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True,
                                          check=True).stdout.strip()
        cls.package = Path(_given.packages) / f"cableway_{_given.version}_{cls.architecture}.deb"
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

    def test_apt_installs_and_purges_it(self) -> None:
        """As docs/guide.md has it, with the dependencies that are there."""
        root = self.fresh.copy(Path(_given.work) / "apt")
        package = root.bring(self.package)
        root.run("apt", "install", "-y", package)
        self.assertIn(_given.version, root.run("cableway", "--version").stdout)
        root.run("apt", "purge", "-y", "cableway")
        self.assertEqual(root.run("sh", "-c", "ls /etc/cableway /usr/lib/cableway; getent group cableway", ok=False).stdout, "")

    def test_puts_nothing_but_the_plugin_into_the_linkers_path(self) -> None:
        root = self.installed_root("linker")
        root.run("ldconfig")
        found = root.run("ldconfig", "-p").stdout
        self.assertIn("libc.so.6", found)
        for library in (root.folder / "usr/lib/cableway").glob("*.so*"):
            if library.name != "libnccl-net-cableway.so":
                self.assertNotIn(library.name, found)

    def test_keeps_changed_settings_and_disabled_service_in_an_upgrade(self) -> None:
        """Without a question, as there is no terminal."""
        root = self.installed_root("upgraded")
        settings = root.folder / SETTINGS
        settings.write_text('node = "spark-7"\n')
        (root.folder / UNIT_LINK).unlink()
        later = root.bring(later_version(self.package, Path(_given.work)))
        root.run("dpkg", "-i", later)
        self.assertIn("+later", root.run("dpkg-query", "-W", "cableway").stdout)
        self.assertEqual(settings.read_text(), 'node = "spark-7"\n')
        self.assertFalse((root.folder / UNIT_LINK).is_symlink(), "the upgrade enabled a service that was disabled")

    def test_starts_and_restarts_the_service(self) -> None:
        """With a recording systemctl and deb-systemd-invoke, as systemd does not run here."""
        root = self.fresh.copy(Path(_given.work) / "service")
        booted = FakeSystemd(root)
        package = root.bring(self.package)
        later = root.bring(later_version(self.package, Path(_given.work)))
        booted.install(package)
        self.assertEqual(booted.actions(), ["start"])
        booted.install(later, is_active=True, view='"flows_open": 0,\n"circuits_open": 0,\n')
        self.assertEqual(booted.actions(), ["restart"])
        for used in ('"flows_open": 1,\n"circuits_open": 0,\n', '"flows_open": 0,\n"circuits_open": 10\n', ""):
            said = booted.install(later, is_active=True, view=used)
            self.assertEqual(booted.actions(), [], used)
            self.assertIn("systemctl restart cablewayd", said)
        root.run("dpkg", "--remove", "cableway")
        booted.install(later)
        self.assertEqual(booted.actions(), ["start"])

    def test_keeps_settings_when_removed_and_nothing_when_purged(self) -> None:
        before = self.fresh.contents()
        root = self.installed_root("purged")
        self.assertNotEqual(root.contents(), before)
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

    def set_up(self, root: DebianRoot, command: str) -> None:
        """What `cableway up` changes without a plan, and a key."""
        (root.folder / "root/key").write_text("ab" * 32 + "\n")
        (root.folder / "root/key").chmod(0o600)
        root.run(command, "up", "--yes", "--key", "/root/key")
        self.assertTrue((root.folder / JOURNAL).exists())
        self.assertTrue((root.folder / LIMITS).exists())

    def test_removal_takes_back_what_up_has_changed(self) -> None:
        before = self.fresh.contents()
        root = self.installed_root("up")
        self.set_up(root, "cableway")
        done = root.run("dpkg", "--remove", "cableway")
        self.assertIn(f"taken back: /{LIMITS}", done.stdout)
        self.assertFalse((root.folder / JOURNAL).parent.exists())
        self.assertFalse((root.folder / LIMITS).exists())
        root.run("dpkg", "--purge", "cableway")
        self.assertEqual(root.contents(), before)

    def test_removal_names_what_it_cannot_take_back(self) -> None:
        root = self.installed_root("up_left")
        self.set_up(root, "cableway")
        (root.folder / LIMITS).write_text("# mine\n")
        done = root.run("dpkg", "--purge", "cableway")
        self.assertIn(f"left as it is: /{LIMITS}: was changed since", done.stdout)
        self.assertIn(f"these changes of 'cableway up' stay on this host:\n  /{LIMITS}\n", done.stderr)
        self.assertIn("could not take back stays; /var/lib/cableway/up.json lists it", done.stderr)
        self.assertEqual((root.folder / LIMITS).read_text(), "# mine\n")
        self.assertFalse((root.folder / "usr/lib/cableway").exists())

    def test_the_tarball_leaves_nothing(self) -> None:
        before = self.fresh.contents()
        root = self.fresh.copy(Path(_given.work) / "tarball")
        tarball, = Path(_given.packages).glob(f"cableway-{_given.version}-linux-{self.architecture}.tar.gz")
        subprocess.run(["tar", "-xzf", str(tarball), "-C", str(root.folder / "opt")], check=True, timeout=60)
        root.run("groupadd", "--system", "cableway")
        self.set_up(root, "/opt/cableway/bin/cableway")
        self.assertIn(f"taken back: /{LIMITS}", root.run("/opt/cableway/lib/cableway/uninstall.sh").stdout)
        root.run("sh", "-c", "rm -rf /etc/cableway /var/log/cableway; groupdel cableway")
        self.assertEqual(root.contents(), before)

    def test_contents_have_all_that_can_be_left(self) -> None:
        """Files, also of the same size, folders, links, and lines in dpkg's database."""
        root = DebianRoot(Path(_given.work) / "contents")
        shutil.rmtree(root.folder, ignore_errors=True)
        for folder in ("var/lib/dpkg/info", "var/log", "run", "tmp"):
            (root.folder / folder).mkdir(parents=True)
        status = root.folder / "var/lib/dpkg/status"
        status.write_text("Package: dash\nVersion: 1\n")
        (root.folder / "tmp/data").write_text("one")
        before = root.contents()
        status.write_text("Package: dash\nVersion: 2\n")
        (root.folder / "var/log/dpkg.log").touch()
        self.assertEqual(root.contents(), before)
        for leave in (lambda: (root.folder / "run/cableway").mkdir(),
                      lambda: (root.folder / "tmp/data").write_text("two"),
                      lambda: (root.folder / "var/log/cableway").symlink_to("/tmp"),
                      lambda: (root.folder / "var/lib/dpkg/info/cableway.list").touch(),
                      lambda: status.write_text("Package: cableway\n")):
            leave()
            now = root.contents()
            self.assertNotEqual(now, before)
            before = now

    def test_three_fresh_hosts_live_through_all_of_it(self) -> None:
        """One root for each host, from the installation to the purge."""
        later = later_version(self.package, Path(_given.work))
        hosts = [self.fresh.copy(Path(_given.work) / f"host{number}").folder for number in range(3)]
        done = subprocess.run(
            [sys.executable, lab_case.LAB, "run", "line:3", "--", sys.executable,
             str(Path(__file__).with_name("packaged_hosts.py")), str(self.package), str(later),
             *map(str, hosts)],
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
