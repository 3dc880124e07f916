#!/usr/bin/env python3
"""Tests the tarball's uninstall script, and with it what the package's prerm takes back, in a root folder with this
machine's /usr and an /etc of its own. The real `cableway up` has changed that root.

    uninstall_test.py BUILD

Exit status 77 where this system allows no such root.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "package"
HOME = "opt/cableway"
JOURNAL = "var/lib/cableway/up.json"
LIMITS = "etc/security/limits.d/cableway.conf"
UNIT_LINK = "etc/systemd/system/cablewayd.service"
ENTER = """
for part in usr proc dev; do mount --rbind "/$part" "$1/$part"; done
exec chroot "$@"
"""


def command_in(root, words):
    own_users = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["env", "-i", "PATH=/usr/sbin:/usr/bin", "LC_ALL=C.UTF-8", "unshare", "--mount", *own_users, "sh", "-ec", ENTER,
            "sh", str(root), *words]


def make_root(root):
    """Folders alone, in which this machine's /usr, /proc and /dev get their places."""
    for part in ("usr", "proc", "dev", "etc/cableway", "etc/systemd/system", "var/lib", "var/log", "run", "tmp", "opt", "root"):
        (root / part).mkdir(parents=True)
    for part in ("bin", "sbin", "lib", "lib64"):
        if pathlib.Path("/", part).exists():
            (root / part).symlink_to(f"usr/{part}")


class UninstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        make_root(self.root)
        self.write("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        self.write("etc/group", "root:x:0:\ncableway:x:990:\n")
        self.write("root/key", "ab" * 32 + "\n", 0o600)
        self.fresh = self.contents()
        subprocess.run(["cmake", "--install", sys.argv[1], "--prefix", f"/{HOME}"], check=True, capture_output=True,
                       env={**os.environ, "DESTDIR": str(self.root)}, timeout=60)
        for script in ("take_back_up.sh", "uninstall.sh"):
            shutil.copy(SCRIPTS / script, self.root / HOME / "lib/cableway")
        # As tools/package.sh makes it.
        files = sorted(str(path.relative_to(self.root / HOME)) for path in (self.root / HOME).rglob("*")
                       if path.is_symlink() or not path.is_dir())
        self.write(f"{HOME}/lib/cableway/uninstall.files", "".join(f"{file}\n" for file in files))
        (self.root / UNIT_LINK).symlink_to(f"/{HOME}/lib/systemd/system/cablewayd.service")
        self.unpacked = self.contents()

    def write(self, path, text, mode=0o644):
        (self.root / path).write_text(text, encoding="ascii")
        (self.root / path).chmod(mode)

    def contents(self):
        found = {}
        for path in self.root.rglob("*"):
            if not path.is_symlink():
                found[str(path.relative_to(self.root))] = None if path.is_dir() else path.read_bytes()
        return found

    def run_in(self, *words):
        done = subprocess.run(command_in(self.root, words), capture_output=True, text=True, timeout=60, check=False,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def set_up(self):
        status, out, errors = self.run_in(f"/{HOME}/bin/cableway", "up", "--yes", "--key", "/root/key")
        self.assertEqual(status, 0, out + errors)
        self.assertTrue((self.root / JOURNAL).exists())
        self.assertTrue((self.root / LIMITS).exists())

    def uninstall(self, *arguments):
        return self.run_in(f"/{HOME}/lib/cableway/uninstall.sh", *arguments)

    def test_leaves_nothing_after_up(self):
        self.set_up()
        status, out, errors = self.uninstall()
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("taken back: /" + LIMITS, out)
        self.assertIn("rm -rf /etc/cableway /var/log/cableway; groupdel cableway", out)
        self.assertFalse((self.root / UNIT_LINK).is_symlink())
        self.assertEqual(self.contents(), self.fresh)

    def test_removes_only_the_files_of_the_tarball(self):
        self.write(f"{HOME}/share/doc/cableway/notes", "mine\n")
        self.write("etc/cableway/key", "ab" * 32 + "\n", 0o600)
        (self.root / HOME / "games").mkdir()
        self.assertEqual(self.uninstall()[0], 0)
        left = {name for name, data in self.contents().items() if data is not None} - self.fresh.keys()
        self.assertEqual(left, {f"{HOME}/share/doc/cableway/notes", "etc/cableway/key"})
        self.assertTrue((self.root / HOME / "games").is_dir(), "an empty folder that is not the tarball's")

    def test_leaves_another_installation_alone(self):
        self.set_up()
        other = self.root / UNIT_LINK
        other.unlink()
        other.symlink_to("/srv/cableway/lib/systemd/system/cablewayd.service")
        (self.root / "run/cableway").mkdir()
        status, out, errors = self.uninstall()
        self.assertEqual(status, 0, out + errors)
        self.assertIn("another installation has this host's unit", errors)
        self.assertTrue(other.is_symlink())
        self.assertTrue((self.root / JOURNAL).exists())
        self.assertTrue((self.root / "run/cableway").is_dir())
        self.assertFalse((self.root / HOME).exists())

    def test_broken_settings_keep_nothing(self):
        self.set_up()
        self.write("etc/cableway/cableway.toml", "no = such = setting\n")
        (self.root / UNIT_LINK).unlink()
        (self.root / "srv").mkdir()
        (self.root / "srv/unit").symlink_to(f"/{HOME}")
        (self.root / UNIT_LINK).symlink_to("/srv/unit/lib/systemd/system/cablewayd.service")
        status, out, errors = self.uninstall()
        self.assertFalse((self.root / LIMITS).exists(), out + errors)
        self.assertFalse((self.root / UNIT_LINK).is_symlink(), "linked by another name of the folder")
        self.assertFalse((self.root / HOME).exists(), f"{status}")

    def test_names_what_was_changed_since_and_goes_on(self):
        self.set_up()
        self.write(LIMITS, "# mine\n")
        status, out, errors = self.uninstall()
        self.assertEqual(status, 1)
        self.assertIn(f"left as it is: /{LIMITS}: was changed since", out)
        self.assertIn(f"these changes of 'cableway up' stay on this host:\n  /{LIMITS}\nLook at each", errors)
        self.assertEqual((self.root / LIMITS).read_text(encoding="ascii"), "# mine\n")
        self.assertFalse((self.root / HOME).exists())
        self.assertTrue((self.root / JOURNAL).exists())

    def test_lists_files_and_commands_where_the_program_fails(self):
        self.set_up()
        commands = {"kind": "command", "part": None, "undo": ["ip", "address", "del", "10.10.0.1/24", "dev", "eth1"]}
        journal = json.loads((self.root / JOURNAL).read_text(encoding="ascii"))
        journal["records"].append(commands)
        self.write(JOURNAL, json.dumps(journal, indent=2) + "\n", 0o600)
        self.write(f"{HOME}/lib/cableway/cableway", "#!/bin/sh\nexit 3\n", 0o755)
        status, _, errors = self.uninstall()
        self.assertEqual(status, 1)
        self.assertIn(f"\n  /{LIMITS}\n", errors)
        self.assertIn("\n  /etc/cableway/key\n", errors)
        self.assertIn("\n  undone by: ip address del 10.10.0.1/24 dev eth1\nLook at each", errors)
        self.assertFalse((self.root / HOME).exists())

    def test_refuses_what_it_cannot_do(self):
        status, _, errors = self.uninstall("--force")
        self.assertEqual(status, 2)
        self.assertIn("usage: ", errors)
        (self.root / HOME / "lib/cableway/uninstall.files").unlink()
        status, _, errors = self.uninstall()
        self.assertEqual(status, 1)
        self.assertIn("uninstall.files, the list of what to remove, is not there: nothing was removed", errors)
        del self.unpacked[f"{HOME}/lib/cableway/uninstall.files"]
        self.assertEqual(self.contents(), self.unpacked)


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_root(pathlib.Path(folder))
        probe = subprocess.run(command_in(folder, ["/usr/bin/true"]), capture_output=True, text=True, timeout=60, check=False)
    if probe.returncode != 0:
        print(f"skipped: this system allows no root of its own: {probe.stderr.strip()}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
