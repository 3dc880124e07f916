#!/usr/bin/env python3
"""Tests the completions in the shells themselves: completion_test.py SHARE CABLEWAY.

bash calls the function with the words that readline would give it, fish completes by itself, and zsh runs in a
pseudo-terminal. `cableway` is the real one or a script that answers for a node.
"""

import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
import unittest

SHARE, CABLEWAY = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PATIENCE_S = 60

# What a node with two nodes and one cable prints.
NODE = """#!/bin/sh
[ "$*" = "topology --names" ] || exit 2
cat <<'END'
node alpha
node beta.net
cable alpha:eth1:beta.net:eth0
END
"""
# Two nodes with two cables that have discovered names.
TOPOLOGY = """
[[node]]
name = "n0"

[[node]]
name = "n1"
""" + "".join(f"""
[[cable]]
name = "n0.eth{i}-n1.eth{i}"
ends = [
  {{node = "n0", interface = "eth{i}", address = "10.0.{i}.1"}},
  {{node = "n1", interface = "eth{i}", address = "10.0.{i}.2"}},
]
""" for i in (0, 1))
BASH = """
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
shift 2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_${COMP_WORDS[0]}
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""


def readline_words(line):
    """The words of a line as bash splits them for completion: also at = and :."""
    words = re.findall(r"[=:]+|[^\s=:]+", line)
    return words + [""] if line[-1].isspace() else words


class Shells(unittest.TestCase):
    """Completes lines in a folder with some files, where no node runs unless a test puts one in the path."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("ring.toml", "ring.json", "other"):
            (self.folder / name).touch()
        self.environment = {
            "PATH": f"{CABLEWAY.parent}:{os.environ['PATH']}",
            "HOME": folder.name,
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
            "CABLEWAY_RUNTIME_DIR": f"completion_test.{os.getpid()}",
        }

    def put_node(self, script):
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "cableway").write_text(script)
        (programs / "cableway").chmod(0o755)
        self.environment["PATH"] = f"{programs}:{self.environment['PATH']}"

    def run_shell(self, command):
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def bash(self, line):
        program = line.split()[0]
        file = SHARE / "bash-completion/completions" / program
        words = readline_words(line)
        return self.run_shell(["bash", "--norc", "-uc", BASH, "bash", file, line, *words])

    def fish(self, line):
        file = SHARE / "fish/vendor_completions.d" / f"{line.split()[0]}.fish"
        lines = self.run_shell(["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"])
        return [line.partition("\t")[0] for line in lines]


class BashTest(Shells):
    def test_commands(self):
        self.assertEqual(self.bash("cableway pl"), ["plan"])
        self.assertEqual(self.bash("cableway plan "), ["ranks", "addresses"])
        self.assertIn("undrain", self.bash("cableway "))
        self.assertEqual(self.bash("cableway --v"), ["--version"])
        self.assertEqual(self.bash("cableway none "), [])

    def test_options_are_those_of_help(self):
        for command in self.bash("cableway "):
            words = ["plan", "ranks"] if command == "plan" else [command]
            text = subprocess.run([CABLEWAY, *words, "--help"], capture_output=True, text=True, check=True).stdout
            listed = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)(?:,(--[a-z-]+))?", text, re.MULTILINE))
            options = {name for names in listed for name in names if name}
            completed = set(self.bash(f"cableway {' '.join(words)} --"))
            self.assertEqual(completed, options, words)

    def test_choices(self):
        self.assertEqual(self.bash("cableway events --severity "), ["debug", "info", "warning", "error"])
        self.assertEqual(self.bash("cableway events --severity=w"), ["warning"])
        self.assertEqual(self.bash("cableway events --code=CABLE_LOS"), ["CABLE_LOST", "CABLE_LOSSY", "CABLE_LOSSLESS"])
        self.assertEqual(self.bash("cablewayd --multipath b"), ["bundle"])

    def test_files(self):
        self.assertEqual(sorted(self.bash("cableway topology --file ri")), ["ring.json", "ring.toml"])
        self.assertEqual(self.bash("cableway topology --file=o"), ["other"])
        self.assertEqual(self.bash("cableway sim --compare ring.json o"), ["other"])
        self.assertEqual(self.bash("cablewayd --key-file o"), ["other"])
        self.assertEqual(self.bash("cableway path --flow "), [])

    def test_names_are_those_of_the_topology_that_is_named(self):
        self.assertEqual(self.bash("cableway path --file ring:3 n"), ["n0", "n1", "n2"])
        self.assertEqual(self.bash("cableway path n0 --file=ring:3 "), ["n0", "n1", "n2"])
        self.assertEqual(self.bash("cableway plan ranks --file ring:3 --hosts n1,"), ["n1,n0", "n1,n1", "n1,n2"])
        self.assertIn("--json", self.bash("cableway path --file ring:3 n0 n1 "))

    def test_names_are_those_of_the_node_here(self):
        self.put_node(NODE)
        self.assertEqual(self.bash("cableway path "), ["alpha", "beta.net"])
        self.assertEqual(self.bash("cableway drain "), ["alpha", "beta.net", "alpha:eth1:beta.net:eth0"])
        # Bash takes what is before a colon for an earlier word.
        self.assertEqual(self.bash("cableway drain alpha:eth1:b"), ["beta.net:eth0"])

    def test_cables_have_the_names_of_tables(self):
        (self.folder / "ring.toml").write_text(TOPOLOGY)
        expected = ["n0-n1#1", "n0-n1#2"]
        names = self.run_shell([CABLEWAY, "topology", "--names", "--file", "ring.toml"])
        self.assertEqual(names, ["node n0", "node n1", *(f"cable {name}" for name in expected)])
        self.put_node(f"#!/bin/sh\nexec {CABLEWAY} \"$@\" --file ring.toml\n")
        self.assertEqual(self.bash("cableway drain n0-"), expected)
        self.assertEqual(self.fish("cableway drain n0-"), expected)

    def test_without_a_node_there_are_no_names_and_no_message(self):
        self.assertEqual(self.bash("cableway path "), [])
        self.assertEqual(self.bash("cableway undrain n"), [])

    def test_a_node_that_does_not_answer_is_given_up(self):
        self.put_node("#!/bin/sh\nexec sleep 600\n")
        self.assertEqual(self.bash("cableway path "), [])


class FishTest(Shells):
    def test_commands_and_options(self):
        self.assertEqual(self.fish("cableway pl"), ["plan"])
        self.assertEqual(self.fish("cableway plan "), ["addresses", "ranks"])
        self.assertEqual(self.fish("cableway plan ranks --ho"), ["--hosts"])
        self.assertEqual(self.fish("cableway env --h"), ["--help"])
        self.assertNotIn("--svg", self.fish("cableway routes --"))

    def test_values(self):
        self.assertEqual(self.fish("cableway events --severity "), ["debug", "error", "info", "warning"])
        self.assertEqual(self.fish("cableway topology --file ri"), ["ring.json", "ring.toml"])
        self.assertEqual(self.fish("cableway sim --compare ri"), ["ring.json", "ring.toml"])
        self.assertEqual(self.fish("cableway sim --compare ring.json o"), ["other"])
        self.assertNotIn("other", self.fish("cableway sim --compare ring.json ring.toml "))
        self.assertEqual(self.fish("cableway path --file ring:3 n0 "), ["n0", "n1", "n2"])
        self.assertEqual(self.fish("cableway plan ranks --file=ring:3 --hosts n1,"), ["n1,n0", "n1,n1", "n1,n2"])
        self.assertEqual(self.fish("cablewayd --checksum "), ["off", "on"])

    def test_names_are_those_of_the_node_here(self):
        self.assertEqual(self.fish("cableway path "), [])
        self.put_node(NODE)
        self.assertEqual(self.fish("cableway path "), ["alpha", "beta.net"])
        self.assertEqual(self.fish("cableway drain b"), ["beta.net"])


class Zsh:
    """zsh in a pseudo-terminal, with nothing but its own and the tested completions."""

    PROMPT = b"@ready@"

    def __init__(self, folder, environment):
        self.heard = b""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment | {"COLUMNS": "200", "LINES": "60", "PS1": "@rea%{%}dy@"})
        self.wait_for(self.PROMPT)
        functions = SHARE / "zsh/site-functions"
        self.run(f"bindkey -e; fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=1000")

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)

    def send(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, mark):
        """What comes before the mark. zsh reads keys one by one only once it has shown its prompt."""
        deadline = time.monotonic() + PATIENCE_S
        while mark not in self.heard:
            if not select.select([self.terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"zsh did not show {mark!r}, but {self.heard!r}")
            self.heard += os.read(self.terminal, 65536)
        text, _, self.heard = self.heard.partition(mark)
        return text.decode()

    def run(self, command):
        self.send(f"{command}; print -r do''ne\n")
        self.wait_for(b"done\r\n")
        self.wait_for(self.PROMPT)

    def complete(self, line):
        """The words that zsh lists for the line (Ctrl-D), which is then removed (Ctrl-U)."""
        self.send(f"{line}\x04\x15print -r do''ne\n")
        listed = self.wait_for(b"done\r\n")
        self.wait_for(self.PROMPT)
        lines = listed.replace("\r", "\n").split("\n")
        listed = [text for text in lines if line not in text and "do''ne" not in text]
        words = [re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", text).partition(" -- ")[0] for text in listed]
        return sorted(word for text in words for word in text.split() if word and not word.startswith("@"))


class ZshTest(Shells):
    def completed(self, *lines):
        zsh = Zsh(self.folder, self.environment)
        self.addCleanup(zsh.end)
        return [zsh.complete(line) for line in lines]

    def test_completes(self):
        cases = {
            "cableway plan ": ["addresses", "ranks"],
            "cableway events --severity=": ["debug", "error", "info", "warning"],
            "cableway undrain --": ["--color", "--config", "--help", "--json"],
            "cableway path --file ring:3 n0 ": ["n0", "n1", "n2"],
            "cableway plan ranks --file=ring:3 --hosts n1,": ["n0", "n1", "n2"],
            "cableway topology --file ri": ["ring.json", "ring.toml"],
            "cablewayd --multipath ": ["all", "bundle", "off"],
            "cableway path ": [],
        }
        for (line, expected), found in zip(cases.items(), self.completed(*cases), strict=True):
            self.assertEqual(found, expected, line)

    def test_names_are_those_of_the_node_here(self):
        self.put_node(NODE)
        nodes, names = self.completed("cableway path ", "cableway drain ")
        self.assertEqual(nodes, ["alpha", "beta.net"])
        self.assertEqual(names, ["alpha", "alpha:eth1:beta.net:eth0", "beta.net"])


class SyntaxTest(unittest.TestCase):
    def test_shells_accept_every_file(self):
        files = [("bash", SHARE / "bash-completion/completions"), ("zsh", SHARE / "zsh/site-functions"),
                 ("fish", SHARE / "fish/vendor_completions.d")]
        for shell, folder in files:
            self.assertEqual(len(list(folder.iterdir())), 3)
            for file in folder.iterdir():
                done = subprocess.run([shell, "-n", file], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), file)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
