#!/usr/bin/env python3
"""System test of what ends a flow that does not wait for another path, and of what must not end it: a cable that becomes
silent, a relay that is killed, an application that is stopped. A flow runs over a line of three nodes, where n1 relays.

Usage: failure_test.py --build DIR [TEST...]. The programs in DIR are run. Exit status 77 where this system cannot run a
lab.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

import lab_case

BUILD = ""

# The start of each scenario: nodes n0 to n2, and a sender on n0 and a receiver on n2 whose data flows. `ended NAME` waits
# until that rank has ended and prints after how long. All of it lives inside the lab, which ends the rest.
PRELUDE = """
export CABLEWAY_LOG=warning CABLEWAY_PATH_WAIT=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node() { lab exec "$1" -- env "$BUILD/bin/cablewayd" 2>"$work/$1.log" & eval "daemon_$1=$!"; }
rank() { lab exec "$2" -- "$BUILD/bin/collperf" --plugin "$BUILD/lib/libnccl-net-cableway.so" --rank "$1" --ranks 2 \
  --rendezvous "$address:29500" --workload sendrecv,0-1 --sizes 1M --channels 1 -w 1 --iters "$iterations" \
  --seconds "$seconds" --timeout 60 --idle-us 50 >"$work/$1" 2>&1 & eval "rank_$1=$!"; }
sent() { lab exec n0 -- cat /sys/class/net/to-n1/statistics/tx_bytes; }
flows() { before=$(sent); for i in $(seq 300); do [ "$(sent)" -gt $((before + 20000000)) ] && return; sleep 0.1; done
  echo "no data flows"; cat "$work"/*; exit 1; }
ended() { begin=$(date +%s%N); status=0; wait "$2" || status=$?
  echo "$1 status $status after $(( ($(date +%s%N) - begin) / 1000000 )) ms"; cat "$work/$3"; }
address=$(lab exec n0 -- printenv LAB_NODE_ADDRESS)
reaches() { for i in $(seq 200); do
  lab exec "$1" -- "$BUILD/bin/cableway" routes --json 2>/dev/null | grep -q '"destination": "'"$2"'"' && return; sleep 0.1
  done; echo "$1 does not find $2"; cat "$work"/*; exit 1; }
node n0; node n1; node n2
reaches n0 n2; reaches n2 n0
rank 0 n0; rank 1 n2
flows
"""


class FailureTest(lab_case.LabTestCase):
    def scenario(self, seconds: int, text: str, iterations: int = 100_000) -> str:
        """By default the messages outlast the scenario: between batches a flow is idle, and an idle flow ends without an
        error."""
        done = lab_case.lab("run", "line:3", "--rate", "500mbit", "--", *lab_case.script(
            f"BUILD='{BUILD}' seconds={seconds} iterations={iterations}\n{PRELUDE}\n{text}"))
        self.skip_if_unavailable(done)
        self.assertEqual(done.returncode, 0, f"stdout:\n{done.stdout}\nstderr:\n{done.stderr}")
        return done.stdout

    def milliseconds(self, output: str, rank: str) -> int:
        for line in output.splitlines():
            if line.startswith(f"{rank} status 0 "):
                self.fail(f"{rank} ended well:\n{output}")
            if line.startswith(f"{rank} status "):
                return int(line.split()[-2])
        raise AssertionError(f"{rank} has not ended:\n{output}")

    def test_a_silent_cable_ends_the_flow_and_is_named(self) -> None:
        output = self.scenario(40, """
            lab cut n1-n2 --silent
            ended sender "$rank_0" 0
            ended receiver "$rank_1" 1
            cat "$work/n1.log"
        """)
        self.assertLess(self.milliseconds(output, "sender"), 15_000, output)
        # The log from warnings up reports the lost circuit, and nothing below a warning.
        self.assertRegex(output, r"\[warning\] CIRCUIT_BROKEN circuit n0 -n0:to-n1:n1:to-n0-> n1 .* ended: .*silent")
        self.assertIn("[warning] KEY_MISSING ", output)
        self.assertNotRegex(output, r"\[info\]|CABLE_UP|TOPOLOGY_CHANGED")
        # The relay detects it, and its reason reaches the sender.
        self.assertRegex(output, r"flow to node n2 \(n0 -n0:to-n1:n1:to-n0-> n1 -n1:to-n2:n2:to-n1-> n2\) failed:"
                                 r" node n1 port to-n2 \(cable to n2 to-n1\): .*silent")

    def test_a_silent_first_cable_is_named(self) -> None:
        output = self.scenario(40, """
            lab cut n0-n1 --silent
            ended sender "$rank_0" 0
        """)
        self.assertLess(self.milliseconds(output, "sender"), 15_000, output)
        self.assertRegex(output, r"flow to node n2 \(.*\) failed: node n0 port to-n1 \(cable to n1 to-n0\): the cable is"
                                 " silent: nothing was heard for")

    def test_a_killed_relay_is_named_at_both_ends(self) -> None:
        output = self.scenario(40, """
            kill -KILL "$daemon_n1"
            ended sender "$rank_0" 0
            ended receiver "$rank_1" 1
        """)
        self.assertLess(self.milliseconds(output, "sender"), 10_000, output)
        self.assertRegex(output, r"flow to node n2 \(.*\) failed: node n0 port to-n1 \(cable to n1 to-n0\): ")
        self.assertRegex(output, r"flow from node n0 \(.*\) failed: node n2 port to-n1 \(cable to n1 to-n2\): ")

    def test_a_stopped_application_ends_nothing(self) -> None:
        output = self.scenario(3, """
            kill -STOP "$rank_1"
            sleep 14
            kill -CONT "$rank_1"
            wait "$rank_0"
            wait "$rank_1"
            cat "$work/0"
        """, iterations=4)
        self.assertRegex(output, r"collperf: ok, \d+ bytes verified")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] != "--build":
        sys.exit("usage: failure_test.py --build DIR [TEST...]")
    BUILD = str(Path(sys.argv[2]).resolve())
    del sys.argv[1:3]
    lab_case.main()
