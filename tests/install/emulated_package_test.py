#!/usr/bin/env python3
"""Test of the arm64 package in fresh arm64 roots of Debian 12 on another machine: all programs there, dpkg and the scripts
that it runs included, run under qemu-user.

Usage: emulated_package_test.py --packages FOLDER --version VERSION --work FOLDER [TEST...]. Needs root; exit status 77 where
this machine cannot make such a root or has no emulator.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

from debian_root import DebianRoot, remove
from later_version import later_version
from packaged_hosts import PackagedHost, await_nodes, install, purge, upgrade
from program_emulation import Arm64Programs, NoEmulation

UNIT_LINK = "etc/systemd/system/multi-user.target.wants/cablewayd.service"
LIMITS = "etc/security/limits.d/cableway.conf"
# Of the machine's own kernel, which the user namespace shows as it is.
DEVICES = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}
# The machine's own dpkg unpacks the packages, which is several times faster, and runs their scripts in the root. It takes
# packages of its own architecture only, and finds none that they depend on.
CONFIGURE = """
dpkg="dpkg --root=$1 --log=/dev/null --force-architecture --force-depends --force-unsafe-io"
$dpkg --unpack "$1"/var/cache/apt/archives/*.deb
$dpkg --configure --pending
"""

_given: argparse.Namespace
_programs: Arm64Programs


def make_root(folder: Path) -> DebianRoot:
    """What a minimal system has, with what apt would install beside the package."""
    remove(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    script = folder.with_name("configure.sh")
    script.write_text(f"set -e{CONFIGURE}")
    includes = [f"--include={package}" for package in ("?essential", "libnl-3-200", "passwd", "procps")]
    done = subprocess.run([*_programs.enter, "unshare", "--mount", "mmdebstrap", "--mode=root", "--architectures=arm64",
                           "--skip=check/qemu", "--variant=extract", *includes, f"--extract-hook=sh {shlex.quote(str(script))} \"$1\"",
                           "bookworm", str(folder)],
                          capture_output=True, text=True, timeout=400, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise AssertionError(f"mmdebstrap: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    for name, minor in DEVICES.items():
        os.mknod(folder / "dev" / name, 0o020666, os.makedev(1, minor))
        (folder / "dev" / name).chmod(0o666)
    return DebianRoot(folder, _programs.enter_isolated)


class EmulatedPackageTest(unittest.TestCase):
    fresh: DebianRoot
    package: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.package = _given.packages / f"cableway_{_given.version}_arm64.deb"
        cls.addClassCleanup(remove, _given.work)
        began = time.monotonic()
        cls.fresh = make_root(_given.work / "fresh")
        print(f"a root in {time.monotonic() - began:.0f} s", flush=True)

    def test_is_a_root_of_arm64(self) -> None:
        self.assertEqual(self.fresh.run("uname", "-m").stdout.strip(), "aarch64")
        self.assertEqual(self.fresh.run("dpkg", "--print-architecture").stdout.strip(), "arm64")
        self.assertEqual(self.fresh.run("dpkg", "--audit").stdout, "", "a package of the root is not configured")

    def test_a_host_lives_through_all_of_it(self) -> None:
        """Installed and started, upgraded under the running node, which the scripts restart, and purged."""
        host = PackagedHost("n0", self.fresh.copy(_given.work / "host"))
        before = host.root.contents()
        host.root.bring(self.package)
        later = later_version(self.package, _given.work)
        host.root.bring(later)
        try:
            install(host, self.package)
            self.assert_installed(host)
            await_nodes(host, 1)
            upgrade(host, later)
            await_nodes(host, 1)
            self.assertIn('"node": "n0"', host.run("cableway", "status", "--json"))
            purge(host, before)
        finally:
            host.end_node()
        self.assertEqual(host.root.run("dpkg-query", "-W", "cableway", ok=False).returncode, 1)

    def assert_installed(self, host: PackagedHost) -> None:
        self.assertRegex((host.root.folder / "etc/group").read_text(), r"(?m)^cableway:x:\d+:$")
        self.assertIn(_given.version, host.run("cableway", "--version"))
        host.run("dpkg", "--verify", "cableway")
        cache = host.run("ldconfig", "-p")
        self.assertIn("libnccl-net-cableway.so (libc6,AArch64)", cache)
        self.assertNotIn("libsodium", cache)

    def test_removal_takes_back_what_up_has_changed(self) -> None:
        before = self.fresh.contents()
        root = self.fresh.copy(_given.work / "up")
        root.run("dpkg", "-i", root.bring(self.package))
        self.assertTrue((root.folder / UNIT_LINK).is_symlink(), "the service is not enabled")
        refused = root.run("cableway", "status", ok=False)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("no node runs in this network namespace", refused.stderr)
        (root.folder / "root/key").write_text("ab" * 32 + "\n")
        (root.folder / "root/key").chmod(0o600)
        root.run("cableway", "up", "--yes", "--key", "/root/key")
        self.assertTrue((root.folder / LIMITS).exists())
        self.assertIn(f"taken back: /{LIMITS}", root.run("dpkg", "--remove", "cableway").stdout)
        self.assertFalse((root.folder / LIMITS).exists())
        root.run("dpkg", "--purge", "cableway")
        self.assertEqual(root.contents(), before)


def skip(reason: str) -> None:
    print(f"skipped: {reason}")
    sys.exit(77)


def main() -> None:
    global _given, _programs
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    for name in ("packages", "work"):
        parser.add_argument(f"--{name}", required=True, type=lambda text: Path(text).resolve())
    _given, tests = parser.parse_known_args()
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        skip("a root of Debian needs the user root and mmdebstrap (tools/setup.sh --all)")
    try:
        with Arm64Programs() as _programs:
            unittest.main(argv=[sys.argv[0], *tests], verbosity=2)
    except NoEmulation as error:
        skip(f"programs of arm64 do not run here: {error}")


if __name__ == "__main__":
    main()
