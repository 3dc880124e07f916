#!/usr/bin/env python3
"""The traces of simtest's seeds and scenarios do not depend on the address layout of the process.

    address_layout_test.py SIMTEST FOLDER_OF_SCENARIOS
"""

import pathlib
import subprocess
import sys

SEEDS = "1..200"


def hashes(command: list[str], scenarios: list[pathlib.Path]) -> list[str]:
    lines = []
    for selection in [["--seeds", SEEDS], *(["--scenario", str(file)] for file in scenarios)]:
        run = subprocess.run([*command, *selection, "--hashes"], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"{command} {selection} ended with status {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        lines += [f"{selection} {line}" for line in sorted(run.stdout.splitlines())]
    return lines


def main() -> None:
    simtest = sys.argv[1]
    scenarios = sorted(pathlib.Path(sys.argv[2]).glob("*.toml"))
    one_job = hashes([simtest, "--jobs", "1"], scenarios)
    other_layouts = {
        "no address randomisation": hashes(["setarch", "-R", simtest], scenarios),
        "legacy address layout": hashes(["setarch", "--addr-compat-layout", simtest], scenarios),
        "every allocation is a mapping": hashes(["env", "MALLOC_MMAP_THRESHOLD_=4096", simtest], scenarios),
    }
    for what, lines in other_layouts.items():
        different = [pair for pair in zip(one_job, lines) if pair[0] != pair[1]]
        if different or len(lines) != len(one_job):
            sys.exit(f"{what}: {len(different)} traces differ, the first: {different[:1]}; expected none")
    print(f"{len(one_job)} traces are the same in {1 + len(other_layouts)} address layouts")


if __name__ == "__main__":
    main()
