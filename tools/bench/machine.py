"""The machine, system and build of a benchmark run."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
# In a folder of programs for another machine, which has neither their compiler nor their repository.
_BUILT_FILE = "built.json"
PROGRAMS = ("bin/cablewayd", "bin/collperf", "lib/libnccl-net-cableway.so")
PROGRAMS_FACT = "programs"
_SAME = ("CPU", "kernel", PROGRAMS_FACT)  # equal where measurements add up; the build is its programs, not its commit


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, cwd=_ROOT)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _cpu_model() -> str:
    match = re.search(r"^Model name:\s*(.+)$", _output("env", "LC_ALL=C", "lscpu"), re.MULTILINE)
    return match[1] if match else "unknown"


def _cache_entry(build: Path, name: str) -> str:
    try:
        text = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(rf"^{name}:[A-Z]+=(.*)$", text, re.MULTILINE)
    return match[1] if match else ""


def _compiler(build: Path) -> str:
    version = _output(_cache_entry(build, "CMAKE_CXX_COMPILER") or "c++", "--version")
    return version.splitlines()[0] if version else "unknown"


def _commit() -> str:
    commit = _output("git", "rev-parse", "--short=12", "HEAD")
    if not commit:
        return "unknown"
    changed = _output("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/benchmarks.md")
    return f"{commit} with local changes" if changed else commit


def built(build: Path) -> dict[str, str]:
    """How the programs in that folder were built: as the folder's file states, else from its cache and the repository."""
    try:
        found = json.loads((build / _BUILT_FILE).read_text(encoding="utf-8"))
        return {name: str(found[name]) for name in ("compiler", "commit")}
    except (OSError, ValueError, KeyError, TypeError):
        return {"compiler": f"{_compiler(build)}; {_cache_entry(build, 'CMAKE_BUILD_TYPE') or 'unknown build type'}",
                "commit": _commit()}


def describe(build: Path) -> dict[str, str]:
    """Facts about machine, system and build, in display order."""
    return {
        "CPU": f"{_cpu_model()}, {len(os.sched_getaffinity(0))} cores, {platform.machine()}",
        "kernel": platform.release().partition("-")[0],
        **built(build),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "load average at the start": f"{os.getloadavg()[0]:.2f}",
    }


def with_programs(facts: dict[str, str], build: Path) -> dict[str, str]:
    """The facts, plus a fact that distinguishes this build's programs from those of another build."""
    digest = hashlib.sha256()
    for name in PROGRAMS:
        digest.update((build / name).read_bytes())
    return facts | {PROGRAMS_FACT: f"SHA-256 {digest.hexdigest()[:16]}"}


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Compares the facts of two runs, with programs: why their measurements do not add up; empty if they do."""
    return "; ".join(f"{name}: '{there.get(name)}' there, '{here[name]}' here" for name in _SAME if there.get(name) != here[name])


def facts_table(facts: dict[str, str]) -> list[str]:
    """The facts as lines of a table, for a section of docs/benchmarks.md."""
    return ["| ran on | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items())]


if __name__ == "__main__":
    json.dump(built(Path(sys.argv[1])), sys.stdout)
