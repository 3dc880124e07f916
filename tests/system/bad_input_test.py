#!/usr/bin/env python3
"""System test of faults around a node: addresses, names, keys and settings that do not fit. The node keeps running,
unaffected cables work, and `cableway status` and the log report what to fix.

Usage: bad_input_test.py --build DIR [TEST...]. Exit status 77 where this system cannot run a lab.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from in_lab import in_lab, main
from lab_nodes import LAB_DIR, LabNodes, in_network

AS_USER = ["setpriv", "--reuid=65532", "--regid=65532"]
NO_IPV6 = ("--sysctl", "net.ipv6.conf.default.disable_ipv6=1", "--sysctl", "net.ipv6.conf.all.disable_ipv6=1")


class AddressTest(unittest.TestCase):
    """On a line of three, the cable between n1 and n2 has bad addresses; the one between n0 and n1 keeps working."""

    def check_refused(self, nodes: LabNodes, pattern: str, *changes_at_n2: str) -> None:
        nodes.ip("n2", *changes_at_n2)
        nodes.start()
        for name in ("n1", "n2"):
            nodes.wait_for_problem(name, pattern)
        nodes.wait_for_cables(nodes.cables_without("n1-n2"), ["n0", "n1"])
        nodes.check_traffic(["n0", "n1"])
        self.assertEqual(nodes.problems("n0"), [])

    def check_mended(self, nodes: LabNodes, *changes_at_n2: str) -> None:
        nodes.ip("n2", *changes_at_n2)
        nodes.wait_for_cables()
        nodes.wait_for_no_problem()
        self.assertGreater(nodes.check_traffic(), 0)

    @in_lab("line:3", *NO_IPV6)
    def test_subnets_that_differ(self, nodes: LabNodes) -> None:
        self.check_refused(nodes, "CABLE_REFUSED .*(10.7.1.1/24 and .*10.9.9.2/24|10.9.9.2/24 and .*10.7.1.1/24)",
                           "address flush dev to-n1", "address add 10.9.9.2/24 dev to-n1")
        self.check_mended(nodes, "address flush dev to-n1", "address add 10.7.1.2/24 dev to-n1")

    @in_lab("line:3", *NO_IPV6)
    def test_prefix_lengths_that_differ(self, nodes: LabNodes) -> None:
        self.check_refused(nodes, "CABLE_REFUSED .*10.7.1.2/16.*with the same prefix length",
                           "address flush dev to-n1", "address add 10.7.1.2/16 dev to-n1")
        self.check_mended(nodes, "address flush dev to-n1", "address add 10.7.1.2/24 dev to-n1")

    @in_lab("line:3")
    def test_subnets_that_differ_with_link_local_fallback(self, nodes: LabNodes) -> None:
        nodes.ip("n2", "address delete 10.7.1.2/24 dev to-n1", "address add 10.9.9.2/24 dev to-n1")
        nodes.start()
        nodes.wait_for_cables()
        for name in ("n1", "n2"):
            nodes.wait_for_problem(name, "LINK_LOCAL_USED ")
        self.assertGreater(nodes.check_traffic(), 0)

    @in_lab("line:3")
    def test_one_address_at_both_ends(self, nodes: LabNodes) -> None:
        self.check_refused(nodes, "CABLE_REFUSED .*both have address 10.7.1.1",
                           "address delete 10.7.1.2/24 dev to-n1", "address add 10.7.1.1/24 dev to-n1")
        self.check_mended(nodes, "address delete 10.7.1.1/24 dev to-n1", "address add 10.7.1.2/24 dev to-n1")

    @in_lab("line:3")
    def test_mtus_that_differ(self, nodes: LabNodes) -> None:
        self.check_refused(nodes, "CABLE_REFUSED .*has MTU (1500|9000) and .* has (9000|1500)", "link set to-n1 mtu 1500")
        self.check_mended(nodes, "link set to-n1 mtu 9000")

    @in_lab("line:3", *NO_IPV6)
    def test_no_address(self, nodes: LabNodes) -> None:
        nodes.ip("n2", "address flush dev to-n1")
        nodes.start()
        nodes.wait_for_problem("n2", "PORT_UNUSABLE to-n1 has no address")
        nodes.wait_for_cables(nodes.cables_without("n1-n2"), ["n0", "n1"])
        self.check_mended(nodes, "address add 10.7.1.2/24 dev to-n1")

    @in_lab("ring:4")
    def test_all_cables_in_one_subnet(self, nodes: LabNodes) -> None:
        """The kernel's choice of cable would be undefined, so link-local addresses are used."""
        number = 0
        for cable in nodes.topology().cables:
            for end in cable.ends:
                number += 1
                nodes.ip(end.node, f"address delete {end.address}/24 dev {end.interface}",
                         f"address add 10.7.0.{number}/24 dev {end.interface}")
        nodes.start()
        nodes.wait_for_cables()
        self.assertTrue(all(address.startswith("fe80:") for address in nodes.addresses("n0")))
        self.assertGreater(nodes.check_traffic(), 0)
        for name in nodes.names:
            self.assertEqual(nodes.problems(name), [])


class NameTest(unittest.TestCase):
    @in_lab("line:3")
    def test_neighbours_of_one_name(self, nodes: LabNodes) -> None:
        nodes.start("n0")
        nodes.start("n1", NODE="n2")
        nodes.start("n2")
        nodes.wait_for_problem("n1", "NAME_TAKEN another node on port to-n2 is called n2 like this one")
        nodes.wait_for_problem("n2", "NAME_TAKEN another node on port to-n1 is called n2 like this one")
        nodes.kill("n1")
        nodes.start("n1")
        nodes.wait_for_cables()
        nodes.wait_for_no_problem()

    @in_lab("line:3")
    def test_two_neighbours_of_one_name(self, nodes: LabNodes) -> None:
        nodes.start("n1")
        nodes.start("n0", "n2", NODE="twin")
        nodes.wait_for_problem("n1", "NAME_TAKEN two nodes are called twin, one on port to-n[02]")
        nodes.kill("n2")
        nodes.start("n2")
        nodes.wait_until(lambda: {end[0] for cable in nodes.cables("n1") for end in cable} == {"twin", "n1", "n2"},
                         lambda: f"three nodes: {nodes.cables('n1')}")
        nodes.wait_for_no_problem()

    @in_lab("line:5")
    def test_one_name_far_apart(self, nodes: LabNodes) -> None:
        nodes.start("n1", "n2", "n3")
        nodes.start("n0", "n4", NODE="twin")
        for name in ("n0", "n4"):
            nodes.wait_for_problem(name, "NAME_TAKEN another node of cluster cableway seems to be called twin too")
        nodes.check_traffic(["n1", "n3"])
        nodes.kill("n4")
        nodes.start("n4")
        nodes.wait_until(lambda: {end[0] for cable in nodes.cables("n4") for end in cable}
                         == {"twin", "n1", "n2", "n3", "n4"}, lambda: f"five nodes: {nodes.cables('n4')}")
        nodes.wait_for_no_problem()


class ClusterTest(unittest.TestCase):
    @staticmethod
    def write_key(name: str, digit: str) -> str:
        path = LAB_DIR / name
        path.write_text(digit * 64 + "\n", encoding="ascii")
        path.chmod(0o600)
        return str(path)

    @in_lab("switch:4")
    def test_two_clusters_on_one_segment(self, nodes: LabNodes) -> None:
        nodes.start("n0", "n1", CLUSTER="red")
        nodes.start("n2", "n3", CLUSTER="blue")
        for pair, other in ((("n0", "n1"), "red"), (("n2", "n3"), "blue")):
            nodes.wait_for_cables({((pair[0], "to-s0"), (pair[1], "to-s0"))}, list(pair))
            nodes.wait_for_problem(pair[0], f"CLUSTER_DIFFERS .*is of another cluster than {other}")
            nodes.check_traffic(list(pair))

    @in_lab("ring:3")
    def test_keys(self, nodes: LabNodes) -> None:
        """n0 and n1 share a key; n2 has another one, and then none."""
        key = self.write_key("key", "7")
        nodes.start("n0", "n1", KEY_FILE=key)
        nodes.start("n2", KEY_FILE=self.write_key("other-key", "8"))
        for settings in ({}, {"KEY_FILE": key}):
            nodes.wait_for_cables(nodes.cables_without("n0-n2", "n1-n2"), ["n0", "n1"])
            for name in nodes.names:
                nodes.wait_for_problem(name, "KEY_DIFFERS .*on port to-n[0-2] ")
            nodes.check_traffic(["n0", "n1"])
            nodes.kill("n2")
            nodes.start("n2", **settings)
        nodes.wait_for_cables()
        nodes.wait_for_no_problem()
        nodes.check_traffic()


def sent_to_session(node: str, user: int) -> bytes:
    """What the node sends to a session of that user, which does not check the node's owner, until the node closes it."""
    output = b""
    with in_network(node), socket.socket(socket.AF_UNIX) as session:
        session.settimeout(10)
        os.seteuid(user)
        try:
            session.connect("\0cableway/65534/cableway/default")
            while received := session.recv(1000):
                output += received
        except ConnectionResetError:
            pass
        finally:
            os.seteuid(0)
    return output


@contextlib.contextmanager
def held_names(node: str, user: int) -> Iterator[None]:
    """Another user's sockets at the names where a process may look for root's node."""
    with contextlib.ExitStack() as stack:
        for name in ("cableway/cableway/default", "cableway/0/cableway/default"):
            with in_network(node):
                holder = stack.enter_context(socket.socket(socket.AF_UNIX))
            os.seteuid(user)
            try:
                holder.bind(f"\0{name}")
                holder.listen()
            finally:
                os.seteuid(0)
        yield


def status_of(nodes: LabNodes, command: list[Any]) -> tuple[int, str]:
    """The exit status of the command in n0, and what it reports."""
    process = nodes.popen("n0", command)
    _, errors = process.communicate(timeout=30)
    return process.returncode, errors.decode()


class SystemTest(unittest.TestCase):
    @in_lab("line:2")
    def test_a_full_disk_for_the_log(self, nodes: LabNodes) -> None:
        nodes.start(LOG_FILE="/dev/full")
        nodes.wait_for_cables()
        nodes.check_traffic()
        nodes.check_alive()
        lines = nodes.log("n0").splitlines()  # from standard error
        self.assertEqual(len([line for line in lines if re.search("/dev/full.*No space left", line)]), 1, lines)

    def programs_for_all_users(self, nodes: LabNodes) -> dict[str, Path]:
        """Other users may not be able to read the build folder."""
        with open("/proc/self/uid_map", encoding="ascii") as users:
            if users.read().split()[2] == "1":
                self.skipTest("this lab has one user only")
        programs = {}
        for program in ("cablewayd", "cableway"):
            programs[program] = LAB_DIR / program
            shutil.copy(nodes.build / "bin" / program, programs[program])
        return programs

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv (util-linux)")
    @in_lab("line:2")
    def test_a_name_that_another_user_holds(self, nodes: LabNodes) -> None:
        """A local user cannot keep root's node from starting, nor lead its clients elsewhere."""
        command = [self.programs_for_all_users(nodes)["cableway"], "status"]
        with held_names("n0", 65533):
            nodes.start(SESSION_GROUP="65534")
            nodes.wait_for_cables()
            nodes.check_traffic()
            nodes.wait_for_problem(
                "n0", r"user 65533 \(process \d+\) holds the abstract session name @cableway/0/cableway/default")
            member, outsider = ([*AS_USER, *groups, *command] for groups in (["--groups=65534"], ["--clear-groups"]))
            self.assertEqual(status_of(nodes, member)[0], 0)
            status, errors = status_of(nodes, outsider)
            self.assertEqual(status, 1)
            self.assertIn("user 65532 may not open sessions with this host's node: root and group", errors)
            self.assertRegex(errors, r"sudo usermod -aG \S+ 65532; log in again")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv (util-linux)")
    @in_lab("line:2")
    def test_another_user(self, nodes: LabNodes) -> None:
        """Neither a node nor its client trusts another user, except root: the node may be an impostor's."""
        programs = self.programs_for_all_users(nodes)
        as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        other_user = ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups"]
        daemon = nodes.popen("n0", [*as_user, programs["cablewayd"]], log="cablewayd-n0")
        nodes.start("n1")
        try:
            nodes.wait_for_cables(names=["n1"])
            nodes.run("n0", *as_user, programs["cableway"], "status")
            for user in ([], other_user):
                status, errors = status_of(nodes, [*user, programs["cableway"], "status"])
                self.assertEqual(status, 3)
                self.assertIn("no node runs in this network namespace", errors)
            self.assertIn(b"this node is run by another user", sent_to_session("n0", 65533))
            nodes.run("n0", *as_user, programs["cableway"], "status")
        finally:
            daemon.kill()
            daemon.wait()


if __name__ == "__main__":
    main()
