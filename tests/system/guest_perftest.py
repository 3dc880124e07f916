"""perftest between two guests of a GuestLab: real verbs traffic for tests to measure, and to cut cables under."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from lab_case import wait_until
from softroce_case import COMMAND_S, GuestLab, GuestTestCase

from address_plan import management_address  # softroce_case adds the lab's modules to sys.path

_PROGRESS_PACKETS = 256  # 1 MiB
_PORT = 18515


@dataclass(frozen=True)
class Place:
    """A guest's end of a cable, with an RDMA device."""

    node_index: int
    interface: str
    address: str

    @property
    def node(self) -> str:
        return f"n{self.node_index}"

    @property
    def device(self) -> str:
        return f"rxe-{self.interface}"


class WriteBandwidth:
    """ib_write_bw from one place to another, both started: the server first."""

    def __init__(self, lab: GuestLab, client: Place, server: Place, gid_indexes: tuple[int, int], number: int,
                 options: tuple[str, ...]) -> None:
        port = str(_PORT + number)
        words = ["ib_write_bw", "-F", "-s", "65536", "-u", "18", "-p", port, *options]
        self.server = lab.popen("exec", server.node, "--", *words, "-d", server.device, "-x", str(gid_indexes[1]))
        listening = ["exec", server.node, "--", "sh", "-c", f"ss -Hltn | grep -q :{port}"]
        wait_until(lambda: lab.do(*listening).returncode == 0, "the server of ib_write_bw to listen", COMMAND_S)
        self.client = lab.popen("exec", client.node, "--", *words, "-d", client.device, "-x", str(gid_indexes[0]),
                                management_address(server.node_index))

    def close(self) -> None:
        for process in (self.client, self.server):
            process.terminate()
            process.communicate(timeout=COMMAND_S)


class PerftestCase(GuestTestCase):
    def gid_index(self, place: Place) -> int:
        """The index of the RoCE v2 GID that is the port's own address."""
        shown = self.lab.check("exec", place.node, "--", "ibv_devinfo", "-v", "-d", place.device)
        self.assertRegex(shown, r"state:\s+PORT_ACTIVE")
        self.assertRegex(shown, r"active_mtu:\s+4096")
        match = re.search(rf"GID\[\s*(\d+)\]:\s+::ffff:{re.escape(place.address)}, RoCE v2", shown)
        self.assertIsNotNone(match, shown)
        return int(match[1])  # type: ignore[index]

    def write_bandwidth(self, client: Place, server: Place, *options: str, number: int = 0) -> WriteBandwidth:
        """`number` distinguishes runs at the same time."""
        gid_indexes = self.gid_index(client), self.gid_index(server)
        return WriteBandwidth(self.lab, client, server, gid_indexes, number, options)

    def received_packets(self, place: Place) -> int:
        counter = f"/sys/class/infiniband/{place.device}/ports/1/hw_counters/rcvd_pkts"
        return int(self.lab.check("exec", place.node, "--", "cat", counter))

    def await_progress(self, place: Place, what: str) -> None:
        before = self.received_packets(place)
        wait_until(lambda: self.received_packets(place) > before + _PROGRESS_PACKETS, what, COMMAND_S)

    def check_cuts(self, client: Place, server: Place, cable: str) -> None:
        """Bytes stop while the client's cable is cut, and resume afterwards on the same queue pair: first a cut with loss of
        carrier, then a silent one."""
        traffic = self.write_bandwidth(client, server, "-D", "100")
        self.addCleanup(traffic.close)
        self.await_progress(server, "bytes on the cable")
        for options, carrier in ((), "0\n"), (("--silent",), "1\n"):
            with self.subTest(options=options):
                self.lab.check("cut", cable, *options)
                wait_until(lambda: self.received_packets(server) == self.received_packets(server),
                           "an end of the packets in flight", COMMAND_S)
                first = self.received_packets(server)
                time.sleep(1.0)
                self.assertEqual(self.received_packets(server), first)
                shown = self.lab.check("exec", client.node, "--", "cat", f"/sys/class/net/{client.interface}/carrier")
                self.assertEqual(shown, carrier)
                self.lab.check("mend", cable)
                self.await_progress(server, "bytes on the mended cable")
                self.assertIsNone(traffic.client.poll())
