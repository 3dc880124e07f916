#!/usr/bin/env python3
"""Runs every command of docs/guide.md, in its order, on hosts of a lab, and compares what is printed with what the guide
shows. In place of a GPU is collperf; in place of launchers, containers and systemd are the programs in stand_ins/.
guide_blocks.py has the words that say where a block of the guide runs; a block without them fails the test.

Usage: guide_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from guide_blocks import Block, GuideError, output_fault, parse_blocks, read_blocks
from guide_hosts import HOME, SOURCE, GuideHost, GuideHosts
from in_lab import in_lab, main
from lab_nodes import LabNodes
from manifests import NEEDED_VARIABLES, check_mpirun, check_pod, compose_facts

GUIDE = SOURCE / "docs/guide.md"
FINDINGS = SOURCE / "docs/findings.md"
FOLDER = "TEST_GUIDE_FOLDER"
SETTLE_S = 30.0
_BUILD = Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()

# The clusters of the guide: the options of `cableway plan addresses` that make the lab.
CLUSTERS = {
    "sparks": ["--topology", "ring:4", "--hosts", "spark-0,spark-1,spark-2,spark-3"],
    "boxes": ["--topology", "ring:3", "--hosts", "box-0,box-1,box-2", "--interfaces", "eth1,eth2"],
}
# The lab gives its cables addresses; a fresh host has none.
_FORGET_ADDRESSES = r"""
for interface in $(ip -o link show | sed -n 's/^[0-9]*: \(e[^@:]*\).*/\1/p'); do ip -4 address flush dev "$interface"; done
"""


def _topology(cluster: str) -> str:
    """The topology file of the cluster's lab. Made once, before the lab."""
    if FOLDER not in os.environ and len(sys.argv) > 2:
        folder = tempfile.mkdtemp(prefix="guide.")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[FOLDER] = folder
        for name, options in CLUSTERS.items():
            subprocess.run([_BUILD / "bin/cableway", "plan", "addresses", *options, "--output", f"{folder}/{name}"], check=True,
                           stdout=subprocess.DEVNULL)
    return f"{os.environ.get(FOLDER)}/{cluster}/expected.toml"


def in_cluster(blocks: list[Block], cluster: str) -> list[Block]:
    prefix = CLUSTERS[cluster][3].partition("-")[0]
    return [block for block in blocks if block.hosts.startswith((prefix, f"each-{prefix}"))]


_as_root = unittest.skipUnless(os.geteuid() == 0, "hosts with users and groups of their own need the user root")


def check_manifest(block: Block) -> str:
    """Of a compose file its facts, else nothing; raises AssertionError for what a container would lack."""
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise AssertionError("no python3-yaml: tools/setup.sh installs it") from None
    document = yaml.safe_load(block.text)
    if "services" in document:
        return compose_facts(block.words["file"], document)
    check_pod(block.words["file"], document)
    return ""


class BlocksTest(unittest.TestCase):
    """What the test itself refuses."""

    def test_a_block_that_nothing_runs_is_refused(self) -> None:
        for text in ("```\nls\n```\n", "```sh\nls\n```\n", "```console on=spark-0\nls\n```\n", "```sh on=a huh\nls\n```\n",
                     "```yaml\na: 1\n```\n", "```text output\nx\n```\n", "```sh on=a\nls\n", "Text:\n\n    ls\n"):
            with self.subTest(text), self.assertRaises(GuideError):
                parse_blocks(text)

    def test_outputs_are_compared(self) -> None:
        def fault(expected: str, printed: str, words: str = "") -> str | None:
            block, = parse_blocks(f"```sh on=a\nls\n```\n```text output {words}\n{expected}```\n")
            return output_fault(block.outputs[0], printed)
        self.assertIsNone(fault("a  b\n..\nd .. f\n", "a b\nc\nd e e f\n"))
        self.assertIsNone(fault("..\nat 7.5 us\n", "at 99 us\n", "figures=any"))
        for expected, printed in (("a\n", "b\n"), ("a\n", "a\nb\n"), ("a 1\n", "a 2\n"), ("a\n..\n", "b\n"),
                                  ("a .. c\n", "a b\n")):
            with self.subTest(expected, printed=printed):
                self.assertIsNotNone(fault(expected, printed))


class GuideTest(unittest.TestCase):
    def test_every_block_is_of_a_cluster(self) -> None:
        blocks = read_blocks(GUIDE)
        ran = [block for name in CLUSTERS for block in in_cluster(blocks, name)]
        self.assertEqual([str(block) for block in blocks if block not in ran], [])
        self.assertGreater(len([block for block in blocks if block.is_run]), 20)

    def test_codes_are_those_of_the_findings(self) -> None:
        known = set(re.findall(r"^\| `([A-Z_]+)`", FINDINGS.read_text(encoding="utf-8"), re.MULTILINE))
        named = {code for code in re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", GUIDE.read_text(encoding="utf-8"))
                 if not code.startswith(("NCCL_", "CABLEWAY_", "GLOO_", "VLLM_", "IPC_", "MASTER_"))}
        self.assertEqual(named - known, set())
        self.assertGreater(len(named), 20)

    def test_commands_within_sentences_exist(self) -> None:
        """Of the guide and of README.md: each command of cableway has the options that the text gives it."""
        for path in (GUIDE, SOURCE / "README.md"):
            text = path.read_text(encoding="utf-8")
            spans = re.findall(r"`(cableway [^`\n]+)`", text)
            spans += re.findall(r"^(?:sudo )?(cableway [^#\n]+|collperf [^#\n]+)", text, re.MULTILINE)
            self.assertGreater(len(spans), 5, path)
            for span in spans:
                for command in re.split(r"[;|>]", re.sub(r"\$\([^)]*\)", "", span.replace("sudo ", ""))):
                    if command.strip().startswith(("cableway ", "collperf ")):
                        self.check_command(command.split())

    def check_command(self, words: list[str]) -> None:
        verbs = [word for word in words[1:3] if re.fullmatch(r"[a-z]+", word)]
        known = self.help_of(words[0], *verbs) if verbs else self.help_of(words[0])
        for option in (word for word in words[1:] if word.startswith("--") or re.fullmatch(r"-[a-z]", word)):
            self.assertRegex(known, rf"(?m)(?:^|[ ,]){re.escape(option)}(?![\w-])", " ".join(words))

    def help_of(self, program: str, *verbs: str) -> str:
        done = subprocess.run([_BUILD / "bin" / program, *verbs, "--help"], capture_output=True, text=True, timeout=30,
                              check=False)
        if done.returncode != 0 and verbs:  # the second word is an argument
            return self.help_of(program, *verbs[:-1])
        self.assertEqual(done.returncode, 0, f"{program} {verbs}: {done.stderr}")
        return done.stdout

    def test_a_file_for_containers_that_lacks_something_is_refused(self) -> None:
        files = [block for block in read_blocks(GUIDE) if block.language == "yaml"]
        self.assertEqual(len({block.words["file"] for block in files}), 3)
        for block in files:
            check_manifest(block)
            lines = block.text.splitlines(keepends=True)
            for needed in ("network_mode: host", "ipc: host", "memlock: -1", "IPC_LOCK", "231", "/run/cableway",
                           "/usr/lib/cableway", "hostNetwork", "dnsPolicy", "nvidia", *NEEDED_VARIABLES):
                rest = "".join(line for line in lines if needed not in line)
                if rest == block.text:
                    continue
                with self.subTest(file=block.words["file"], without=needed), \
                        self.assertRaises((AssertionError, KeyError, TypeError)):
                    check_manifest(Block(block.line, "yaml", block.words, rest))

    def test_an_mpirun_that_lacks_a_variable_is_refused(self) -> None:
        texts = [block.text for block in read_blocks(GUIDE) if "mpi" in block.stand_ins]
        self.assertEqual(len(texts), 1)
        command = texts[0][texts[0].index("mpirun"):]
        check_mpirun(command)
        for needed in (*NEEDED_VARIABLES, "MASTER_ADDR"):
            with self.subTest(without=needed), self.assertRaises(AssertionError):
                check_mpirun(re.sub(rf"-x {needed}(?![A-Z_])\S*", "", command))

    def run_guide(self, cluster: str, nodes: LabNodes) -> None:
        for name in nodes.names:
            nodes.run(name, "sh", "-c", _FORGET_ADDRESSES)
        with GuideHosts(nodes) as hosts:
            for block in in_cluster(read_blocks(GUIDE), cluster):
                where = block.hosts.partition("-")[0] if block.hosts.startswith("each-") else block.hosts
                on = hosts.named(where)
                self.assertTrue(on, f"{block}: no host {block.hosts}")
                began = time.monotonic()
                if block.is_file:
                    self.write(block, on)
                else:
                    self.run_block(block, on, hosts)
                if os.environ.get("GUIDE_TIMES"):
                    print(f"{block}: {time.monotonic() - began:.1f} s", flush=True)

    def run_block(self, block: Block, on: list[GuideHost], hosts: GuideHosts) -> None:
        path = ""
        for host in hosts.hosts.values():
            path = host.give(block.stand_ins)
        deadline = time.monotonic() + (SETTLE_S if "settles" in block.words else 0)
        while fault := self.fault_of(block, on, hosts.run_together(on, block.text, path)):
            if time.monotonic() > deadline:
                self.fail(fault)
            time.sleep(0.2)

    def fault_of(self, block: Block, on: list[GuideHost], ends: list[subprocess.CompletedProcess[str]]) -> str | None:
        """Of the first host whose commands ended otherwise than the guide says, or None."""
        for host, done in zip(on, ends, strict=True):
            if done.returncode not in block.statuses:
                return f"{block} on {host.name}: exit status {done.returncode}\n{block.text}\n{done.stdout}"
            for expected in block.outputs:
                if host is on[0] and (fault := output_fault(expected, done.stdout)):
                    return fault
        return None

    def write(self, block: Block, on: list[GuideHost]) -> None:
        name = block.words["file"]
        for host in on:
            host.write(f"{HOME}/{name}", block.text)
        if block.language == "yaml" and (facts := check_manifest(block)):
            for host in on:
                host.write(f"/etc/stand_in_compose/{name}", facts)

    @_as_root
    @in_lab(_topology("sparks"))
    def test_sparks(self, nodes: LabNodes) -> None:
        self.run_guide("sparks", nodes)

    @_as_root
    @in_lab(_topology("boxes"))
    def test_boxes(self, nodes: LabNodes) -> None:
        self.run_guide("boxes", nodes)


if __name__ == "__main__":
    main()
