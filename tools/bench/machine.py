"""The machine, system and build of a benchmark run."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


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


def describe(build: Path) -> dict[str, str]:
    """Facts about machine, system and build, in display order."""
    return {
        "CPU": f"{_cpu_model()}, {len(os.sched_getaffinity(0))} cores, {platform.machine()}",
        "kernel": platform.release().partition("-")[0],
        "compiler": f"{_compiler(build)}; {_cache_entry(build, 'CMAKE_BUILD_TYPE') or 'unknown build type'}",
        "commit": _commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "load average at the start": f"{os.getloadavg()[0]:.2f}",
    }


def facts_table(facts: dict[str, str]) -> list[str]:
    """The facts as lines of a table, for a section of docs/benchmarks.md."""
    return ["| ran on | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items())]
