"""Runs ip, tc and nft, found in PATH, on many commands at a time in the current network namespace."""

from __future__ import annotations

import re
import shutil
import subprocess

from lab_error import LabError, unavailable_error

_PACKAGES = {"ip": "iproute2", "tc": "iproute2", "nft": "nftables"}


def find_tool(tool: str) -> str:
    """The tool's path. Raises LabError that names the package to install."""
    path = shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin")
    if path is None:
        raise unavailable_error(f"'{tool}' is not in PATH: install the package {_PACKAGES[tool]}")
    return path


def has_tool(tool: str) -> bool:
    try:
        find_tool(tool)
    except LabError:
        return False
    return True


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        raise LabError(f"{' '.join(command)}: no answer within 120 s") from None


def batch(tool: str, lines: list[str]) -> None:
    """Runs `tool LINE` for each line, in order. Raises LabError with the line that failed and the kernel's reason."""
    if not lines:
        return
    done = _run([find_tool(tool), "-batch", "-"], "\n".join(lines) + "\n")
    if done.returncode == 0:
        return
    failed = re.search(r"Command failed -:(\d+)", done.stderr)
    command = lines[int(failed[1]) - 1] if failed and 0 < int(failed[1]) <= len(lines) else "-batch"
    reason = done.stderr.split("Command failed")[0].strip() or f"exit status {done.returncode}"
    raise LabError(f"{tool} {command}: {reason}")


def accepts(tool: str, line: str) -> bool:
    """Whether one command works: a probe for what the kernel can do."""
    return _run([find_tool(tool), *line.split()], "").returncode == 0


def nft(ruleset: str) -> None:
    """Applies the ruleset in one transaction."""
    done = _run([find_tool("nft"), "-f", "-"], ruleset)
    if done.returncode != 0:
        raise LabError(f"nft: {done.stderr.strip()}; the rules were:\n{ruleset}")
