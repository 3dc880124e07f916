#!/usr/bin/env python3
"""tools/bench.sh checksum: the cost of the checksums of chunks over TCP, and the speed of the checksum itself.

Started outside a lab, it creates one and runs itself in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench_error import EXIT_MISSED, BenchError, exit_status
from benchmarks_file import write_section
from machine import describe, facts_table
from pair_run import SHARED, Builds, Outcome, PairRunner, Way, unshape_cables
from relay_measurements import SLEEP_US, YIELD_US, say
from release_build import RELEASE_BUILD, ROOT, chosen_build
from spread import Spread

_TARGETS = ("cablewayd", "collperf", "nccl-net-cableway", "checksum_rate")
_REPEATS = 7
_SECONDS = 3.0
_LATENCY_S = 1.0
_IDLE_RATE = 0.0  # not subtracted: it is the same with and without checksums
_GOAL = 0.97
_RATES = {"cached_128": "128 bytes, in the cache", "cached_4096": "4 KiB, in the cache",
          "cached_131072": "128 KiB, in the cache (the receiver's staging buffer)",
          "memory_1048576": "1 MiB after the other, from memory (the sender's first look at a chunk)"}
_CODES = {"blake2b_131072": "BLAKE2b with a key, as for control messages", "poly1305_131072": "Poly1305",
          "chacha20_131072": "ChaCha20-Poly1305, which encrypts as well", "aes256gcm_131072": "AES-256-GCM, which encrypts as well"}

_DESCRIPTION = f"""\
Sends 4 MiB messages, 8 in flight, between neighbours and through one relay, over cables without a rate limit, with
CABLEWAY_CHECKSUM on and off in turns: throughput, and CPU time per gigabyte of the whole machine; then the latency of 8
bytes. Medians of {_REPEATS} rounds. Then the speed of the checksum by itself, and of codes that would authenticate chunks. Takes about five minutes; use an otherwise
idle machine.

The last line of standard output is `checksum: R1 R2 R3 R4`: throughput with checksums as a share of that without, direct and
through a relay, with endpoints that sleep and with endpoints that yield."""

_EPILOG = f"""\
exit status: 0 measured; 1 measured, but a direct flow reaches less than {_GOAL}; 2 invalid options; 3 not measured; 77 this
system cannot run a lab."""


@dataclass(frozen=True)
class Case:
    way: Way
    idle_us: int

    @property
    def name(self) -> str:
        return f"{self.way.name}, endpoints that {'yield' if self.idle_us == YIELD_US else 'sleep'}"


_CASES = tuple(Case(way, idle_us) for way in (Way(0), Way(1)) for idle_us in (SLEEP_US, YIELD_US))
_SETTINGS = ("on", "off")
Outcomes = dict[tuple[Case, str], list[Outcome]]


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("tools/bench.sh checksum", description=_DESCRIPTION, epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="one short round as a smoke test: not judged, and not written unless --out is given")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="write the section 'checksum' of this file (default: docs/benchmarks.md)")
    parser.add_argument("--build", type=Path, metavar="DIR",
                        help="use the programs in this build folder (default: build the preset `release` and use it)")
    parser.add_argument("--in-lab", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _enter_lab() -> None:
    lab = str(ROOT / "tools/lab/lab")
    os.execv(lab, [lab, "run", "line:5", "--", sys.executable, __file__, "--in-lab", *sys.argv[1:]])


def _rates(build: Path, repeats: int) -> dict[str, Spread]:
    """Speeds in GB/s, by the cases of _RATES and _CODES."""
    runs = []
    for _ in range(repeats):
        done = subprocess.run([build / "bin/checksum_rate"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"checksum_rate failed: {done.stderr.strip()}")
        runs.append(json.loads(done.stdout))
    return {case: Spread(tuple(run[case] for run in runs)) for case in (*_RATES, *_CODES)}


def _measure(runners: dict[str, PairRunner], repeats: int, seconds: float, latency_s: float
             ) -> tuple[Outcomes, dict[str, Spread]]:
    outcomes: Outcomes = {(case, setting): [] for case in _CASES for setting in _SETTINGS}
    latencies: dict[str, list[float]] = {setting: [] for setting in _SETTINGS}
    for repeat in range(repeats):
        say(f"round {repeat + 1} of {repeats} ..")
        # The setting that goes first alternates from round to round.
        order = _SETTINGS if repeat % 2 == 0 else _SETTINGS[::-1]
        for case in _CASES:
            for setting in order:
                outcomes[case, setting].append(
                    runners[setting].throughput(case.way, seconds, case.idle_us, _IDLE_RATE))
        for setting in order:
            latencies[setting].append(runners[setting].latency(Way(0), SHARED, latency_s, YIELD_US).p50_us)
    return outcomes, {setting: Spread(tuple(values)) for setting, values in latencies.items()}


def _throughput(outcomes: Outcomes, case: Case, setting: str) -> Spread:
    return Spread(tuple(outcome.gigabytes_per_s for outcome in outcomes[case, setting]))


def _ratio(outcomes: Outcomes, case: Case) -> float:
    return _throughput(outcomes, case, "on").median / _throughput(outcomes, case, "off").median


def _cpu(outcomes: Outcomes, case: Case, setting: str) -> Spread:
    costs = [outcome.cost for outcome in outcomes[case, setting]]
    return Spread(tuple(cost.machine_per_gigabyte() for cost in costs if cost is not None))


def _codes_table(outcomes: Outcomes, rates: dict[str, Spread]) -> list[str]:
    """What it would cost to authenticate chunks, whose source makes a code and whose destination checks it."""
    direct = _cpu(outcomes, _CASES[0], "off").median
    lines = ["No data is authenticated ([security.md](security.md)). Codes of libsodium, over 128 KiB in the cache: two passes,"
             " one at each end of a flow, as CPU time per GB, and compared to the CPU time of both ends of a direct flow whose"
             f" endpoints sleep ({direct:.3f} s/GB).", "",
             "| code | GB/s | range | CPU s/GB, both ends | more CPU time |", "|---|---|---|---|---|"]
    for case, name in _CODES.items():
        if rates[case].median == 0:
            lines.append(f"| {name} | not on this processor | | | |")
            continue
        cost = 2 / rates[case].median
        lines.append(f"| {name} | {rates[case].median:.1f} | {rates[case].range_text('.1f')} | {cost:.2f} | {cost / direct:.0%} |")
    return lines


def _section(outcomes: Outcomes, latencies: dict[str, Spread], rates: dict[str, Spread], facts: dict[str, str]) -> str:
    rounds = len(next(iter(outcomes.values())))
    lines = ["## What checksums cost over TCP", "",
             "`tools/bench.sh checksum`: 4 MiB messages, 8 in flight, cables without a rate limit, `CABLEWAY_CHECKSUM` on and"
             f" off in turns. Medians of {rounds} rounds, and their range. All processes share the CPUs.", "",
             *facts_table(facts), "",
             "| | off, GB/s | on, GB/s | on / off | CPU s/GB, off | on |", "|---|---|---|---|---|---|"]
    for case in _CASES:
        off, on = _throughput(outcomes, case, "off"), _throughput(outcomes, case, "on")
        lines.append(f"| {case.name} | {off.median:.2f} ({off.range_text('.2f')}) | {on.median:.2f}"
                     f" ({on.range_text('.2f')}) | {_ratio(outcomes, case):.3f} |"
                     f" {_cpu(outcomes, case, 'off').median:.3f} | {_cpu(outcomes, case, 'on').median:.3f} |")
    lines += ["", f"8 bytes between neighbours, half a round trip: {latencies['off'].median:.2f} us off"
              f" ({latencies['off'].range_text('.2f')}), {latencies['on'].median:.2f} us on"
              f" ({latencies['on'].range_text('.2f')}).", "",
              "| the checksum by itself | GB/s | range |", "|---|---|---|"]
    lines += [f"| {name} | {rates[case].median:.1f} | {rates[case].range_text('.1f')} |" for case, name in _RATES.items()]
    lines += ["", *_codes_table(outcomes, rates)]
    return "\n".join(lines)


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.in_lab:
        Builds(chosen_build(arguments.build, _TARGETS)).check()
        _enter_lab()
    builds = Builds((arguments.build or RELEASE_BUILD).resolve())
    facts = describe(builds.folder)
    repeats, seconds, latency_s = (1, 1.0, 0.2) if arguments.quick else (_REPEATS, _SECONDS, _LATENCY_S)
    unshape_cables()
    with tempfile.TemporaryDirectory(prefix="cableway-bench-") as scratch:
        runners = {setting: PairRunner(builds, Path(scratch), {"CABLEWAY_CHECKSUM": setting}) for setting in _SETTINGS}
        outcomes, latencies = _measure(runners, repeats, seconds, latency_s)
    rates = _rates(builds.folder, repeats)
    out = arguments.out or (None if arguments.quick else ROOT / "docs/benchmarks.md")
    if out is not None:
        write_section(out, "checksum", _section(outcomes, latencies, rates, facts))
        say(f"wrote {out}")
    ratios = {case: _ratio(outcomes, case) for case in _CASES}
    print(f"checksum: {' '.join(f'{ratio:.3f}' for ratio in ratios.values())}", flush=True)
    missed = [case for case, ratio in ratios.items() if case.way == Way(0) and ratio < _GOAL]
    return EXIT_MISSED if missed and not arguments.quick else 0


if __name__ == "__main__":
    sys.exit(exit_status(lambda: _run(_parse())))
