#!/usr/bin/env python3
"""Checks the models in this folder with Spin: each property of the model as it is, then each planted fault.

    run_models.py [--only NAME.. | --larger] [--jobs N] [--trails] [--keep FOLDER]

A property holds if Spin searched all states and found no error. A planted fault has to be found by the rule that it
breaks, with a trail. Exit status 0: all of that holds; 1: something does not; 77: spin or a C compiler is missing
(where CI is set: 1).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = Path(__file__).resolve().parent / "flow_failover.pml"
SKIPPED = 77
MEMORY_MIB = 1400  # of one search; two run at a time
LARGER_MEMORY_MIB = 8000
DEPTH = 2000  # steps of an execution; the longest has less than a twentieth
LIMIT_S = 400  # below that of ctest, which would leave the search running


RULES = {
    1: "a write to the memory of a receive that is done",
    2: "two carriers of a chunk",
    3: "a chunk that landed twice or out of place",
    4: "a send done before its receive",
    5: "a read from the memory of a send that is done",
    6: "a slot used again before its circuit was settled",
    7: "stuck, with a circuit alive",
    8: "a frame that its receiver must refuse",
}


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    macros: tuple[str, ...] = ()  # for Spin's preprocessor
    rule: int = 0  # of a planted fault: the rule that finds it
    endless: bool = False  # searches for an infinite execution instead of a broken rule


@dataclasses.dataclass
class Outcome:
    states: int = 0
    depth: int = 0
    seconds: float = 0.0
    memory_mib: float = 0.0
    verdict: str = ""
    good: bool = False
    steps: str = ""  # the trail in words


# The longest searches first, so that the others run beside them.
FOUR_CIRCUITS = ("CIRCUITS=4", "CUTS=3", "MESSAGES=1", "CHUNKS=1")
PROPERTIES = (
    Variant("no infinite execution", ("TERMINATION=1",), endless=True),
    Variant("rules"),
    Variant("rules, two joins in turn", FOUR_CIRCUITS),
    Variant("rules, memory of sends", ("READS=1", "CUTS=1")),
    Variant("rules, one receive at a time", ("WINDOW=1",)),
)


# Larger bounds, for searches by hand.
LARGER = (
    Variant("no infinite execution, three cuts", ("TERMINATION=1", "CUTS=3"), endless=True),
    Variant("rules, three cuts", ("CUTS=3",)),
    Variant("rules, two joins in turn, two messages", ("CIRCUITS=4", "CUTS=3", "CHUNKS=1")),
)


def planted(macro: str, rule: int, *bounds: str) -> Variant:
    return Variant(macro.lower().replace("_", " "), (f"{macro}=1", f"ONLY_RULE={rule}", *bounds), rule)


PLANTED = (
    planted("RESEND_EARLY", 1),
    planted("COUNT_ONE_MORE", 7),
    planted("FENCE_LATE", 1),
    planted("ACK_NOT_REPEATED", 7),
    planted("GENERATION_IGNORED", 1),
    planted("ANNOUNCEMENTS_NOT_REPEATED", 7),
    planted("ANNOUNCEMENTS_FIRST", 8, "WINDOW=1"),
    planted("SILENT_END", 7),
    planted("SETUP_KEPT", 7),
    planted("OLDER_KEPT", 7, *FOUR_CIRCUITS),
    planted("OLDER_JOINS", 7, *FOUR_CIRCUITS),
    planted("SLOT_REUSED_EARLY", 6),
    planted("DONE_WHILE_READ", 5, "READS=1", "CUTS=1"),
)


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        hint = ", too little memory?" if done.returncode == -signal.SIGKILL else ""
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}{hint}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def number(pattern: str, output: str) -> float:
    match = re.search(pattern, output)
    return float(match.group(1)) if match else 0.0


def judge(variant: Variant, output: str, trail: bool) -> tuple[str, bool]:
    errors = re.search(r"errors: (\d+)", output)
    if not errors:
        return "no result", False
    if int(errors.group(1)) > 0:
        # The number of the rule is the first operand of its assertion.
        broken = re.search(r"assertion violated \((\d)&&", output)
        what = re.search(r"^pan:\d+: (.+)$", output, re.MULTILINE)
        text = RULES[int(broken.group(1))] if broken else what.group(1) if what else "error"
        found = broken is not None and int(broken.group(1)) == variant.rule
        if found and not trail:
            return f"{text}, but no trail", False
        return (f"found: {text}", True) if found else (f"fails: {text}", False)
    # Spin prints this if it ran out of depth or memory, or stopped early for another reason.
    if re.search(r"search depth too small|[Ss]earch not completed|out of memory|MEMLIM|aborted", output):
        return "the search is not complete", False
    if variant.rule:
        return "not found", False
    return "holds", True


def steps_of(trail: Path, variant: Variant) -> str:
    """The steps of a trail, which the model's printf statements name; Spin indents them by process."""
    replay = subprocess.run(["spin", *defines(variant), "-k", trail.name, "-t", str(MODEL)], cwd=trail.parent,
                            capture_output=True, text=True, timeout=LIMIT_S, check=False)
    lines = [line.strip() for line in replay.stdout.splitlines()]
    return "\n".join(f"  {line}" for line in lines if re.match(r"(cut|sender|receiver|first hop)\b.* \w", line))


def defines(variant: Variant) -> list[str]:
    return [f"-D{macro}" for macro in variant.macros]


def check(variant: Variant, folder: Path, compiler: str) -> Outcome:
    """One variant, in an empty folder of its own."""
    begin = time.monotonic()
    try:
        return search(variant, folder, compiler)
    except subprocess.TimeoutExpired as late:
        return Outcome(seconds=time.monotonic() - begin, verdict=f"no result of {late.cmd[0]} within {LIMIT_S} s")
    except RuntimeError as failed:
        return Outcome(seconds=time.monotonic() - begin, verdict=str(failed).splitlines()[0])


def search(variant: Variant, folder: Path, compiler: str) -> Outcome:
    folder.mkdir(parents=True)
    memory = LARGER_MEMORY_MIB if variant in LARGER else MEMORY_MIB
    run(["spin", *defines(variant), "-a", str(MODEL)], folder)
    goal = "-DNP" if variant.endless else "-DSAFETY"
    # To optimise takes longer than the search for a planted fault.
    run([compiler, "-O0" if variant.rule else "-O2", "-w", goal, f"-DMEMLIM={memory}", "-o", "pan", "pan.c"], folder)
    begin = time.monotonic()
    # 2 to this power places in the hash table
    places = f"-w{18 if variant.rule else 24}"
    output = run(["nice", "./pan", f"-m{DEPTH}", places, *(["-l"] if variant.endless else [])], folder)
    (folder / "pan.out").write_text(output, encoding="utf-8")
    outcome = Outcome(seconds=time.monotonic() - begin)
    outcome.states = int(number(r"([\d.e+]+) states, stored", output))
    outcome.depth = int(number(r"depth reached (\d+)", output))
    outcome.memory_mib = number(r"([\d.]+)\s+total actual memory usage", output)
    trail = next(folder.glob("*.trail"), None)
    outcome.verdict, outcome.good = judge(variant, output, trail is not None)
    if trail:
        outcome.steps = steps_of(trail, variant)
    return outcome


def row(name: str, outcome: Outcome) -> str:
    return (f"| {name} | {outcome.states:,} | {outcome.depth} | {outcome.seconds:.1f} | {outcome.memory_mib:.0f} "
            f"| {outcome.verdict} |")


def missing() -> str:
    if not shutil.which("spin"):
        return "spin is not installed (tools/setup.sh installs it)"
    if not (shutil.which("cc") or shutil.which("gcc")):
        return "no C compiler is installed (tools/setup.sh installs one)"
    return ""


def main() -> None:
    variants = {variant.name.replace(" ", "_").replace(",", ""): variant for variant in PROPERTIES + PLANTED + LARGER}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=variants,
                        help=f"check only these: {', '.join(variants)}")
    parser.add_argument("--larger", action="store_true",
                        help="check only the properties, with larger bounds: 6 GB, 5 minutes")
    parser.add_argument("--jobs", type=int, default=2, help="searches at a time (default: %(default)s)")
    parser.add_argument("--trails", action="store_true", help="also print the steps to each error")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="new folder for the verifiers, their output and the trails")
    arguments = parser.parse_args()
    if reason := missing():
        print(f"{'failed' if os.environ.get('CI') else 'skipped'}: {reason}")
        sys.exit(1 if os.environ.get("CI") else SKIPPED)
    chosen = LARGER if arguments.larger else PROPERTIES + PLANTED
    names = arguments.only or [name for name, variant in variants.items() if variant in chosen]
    compiler = shutil.which("cc") or shutil.which("gcc") or ""
    with tempfile.TemporaryDirectory(prefix="cableway-models-") as scratch:
        base = arguments.keep.resolve() if arguments.keep else Path(scratch)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            searches = {name: pool.submit(check, variants[name], base / name, compiler) for name in names}
        outcomes = {name: search.result() for name, search in searches.items()}
    print("| variant | states | depth | seconds | MiB | verdict |\n|---|---|---|---|---|---|")
    for name, outcome in outcomes.items():
        print(row(("planted: " if variants[name].rule else "") + variants[name].name, outcome))
    for name, outcome in outcomes.items():
        if outcome.steps and (arguments.trails or not outcome.good):
            print(f"\n{variants[name].name}: {outcome.verdict}\n{outcome.steps}")
    if bad := [name for name, outcome in outcomes.items() if not outcome.good]:
        sys.exit(f"run_models.py: {', '.join(bad)}: not as expected")


if __name__ == "__main__":
    main()
