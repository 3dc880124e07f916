#!/usr/bin/env python3
"""Runs a simtest with a planted bug until a rule catches it, and records the rule and the number of seeds.

    find_planted.py SIMTEST --bug NAME --seeds N --into FILE
    find_planted.py --table FILE..

The second form prints the records as the table in docs/simtest.md. Exit status 1: no rule found the bug.
"""

import argparse
import json
import pathlib
import subprocess
import sys


def find(simtest: str, bug: str, seeds: int) -> dict:
    command = [simtest, "--seeds", f"1..{seeds}", "--stop-after", "1", "--jobs", "1", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        sys.exit(f"{bug}: simtest ended with status {run.returncode}; expected 1, a broken rule\n{run.stderr}")
    summary = json.loads(run.stdout)
    if not summary["failures"]:
        sys.exit(f"{bug}: no rule was broken in {summary['runs']} seeds; expected a broken rule")
    failure = summary["failures"][0]
    if failure["rule"] == 0:
        sys.exit(f"{bug}: failed without a broken rule ({failure['what']}); expected a rule to catch it")
    return {"bug": bug, "seeds": summary["runs"], "rule": failure["rule"], "what": failure["what"],
            "replay": failure["replay"]}


def table(files: list[str]) -> str:
    notes = [json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in files]
    lines = ["| planted bug | found by rule | after seeds | faults left after shrinking | message |",
             "|---|---|---|---|---|"]
    for note in sorted(notes, key=lambda each: each["bug"]):
        faults = note["replay"].split(":", 1)[1] if ":" in note["replay"] else ""
        count = 0 if faults == "none" else faults.count("@")
        lines.append(f"| {note['bug'].replace('_', ' ')} | {note['rule']} | {note['seeds']} | {count} | "
                     f"{note['what'].replace('|', '/')} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simtest", nargs="?", help="the simtest built with the bug")
    parser.add_argument("--bug", help="name of the bug")
    parser.add_argument("--seeds", type=int, default=2000, help="number of seeds to try (default: %(default)s)")
    parser.add_argument("--into", help="output file for the record")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print these records as a table")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(arguments.table))
        return
    if not (arguments.simtest and arguments.bug and arguments.into):
        parser.error("expected SIMTEST, --bug and --into, or --table")
    note = find(arguments.simtest, arguments.bug, arguments.seeds)
    pathlib.Path(arguments.into).write_text(json.dumps(note) + "\n", encoding="utf-8")
    print(f"{note['bug']}: rule {note['rule']} after {note['seeds']} seeds: {note['what']}\n  {note['replay']}")


if __name__ == "__main__":
    main()
